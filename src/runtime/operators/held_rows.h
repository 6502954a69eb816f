// Rows gathered until all have come: the inputs of ORDER BY and of joins.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>

#include "common/result.h"
#include "types/batch.h"
#include "types/schema.h"

namespace sluice::runtime {

/// Indices of `rows` that are left when each row of `minus` has cancelled one equal row, the latest
/// first. Rows of `minus` without an equal one cancel nothing.
Result<std::vector<int64_t>> CancelEqualRows(const Schema& schema, const arrow::RecordBatch& rows,
                                             const arrow::RecordBatch& minus,
                                             arrow::MemoryPool* pool);

/// Keeps what was inserted and what was taken back apart; Settle cancels them against each other.
/// Thread: one at a time. State: the settled rows.
class HeldRows {
 public:
  explicit HeldRows(Schema schema) : schema_(std::move(schema)), arrow_(schema_.ToArrow()) {}

  Status Add(const Batch& batch, arrow::MemoryPool* pool);
  /// All rows as one batch, without those that were taken back. They stay held.
  Result<std::shared_ptr<arrow::RecordBatch>> Settle(arrow::MemoryPool* pool);
  void Replace(std::shared_ptr<arrow::RecordBatch> rows);
  void Clear();

  /// Inserted rows, those not cancelled yet included.
  int64_t row_count() const { return row_count_; }
  int64_t bytes() const { return bytes_; }
  /// True once something was taken back.
  bool has_changes() const { return has_changes_; }
  void set_has_changes() { has_changes_ = true; }
  const std::shared_ptr<arrow::Schema>& arrow_schema() const { return arrow_; }

 private:
  const Schema schema_;
  const std::shared_ptr<arrow::Schema> arrow_;
  arrow::RecordBatchVector inserted_;
  arrow::RecordBatchVector taken_back_;
  int64_t row_count_ = 0;
  int64_t bytes_ = 0;
  bool has_changes_ = false;
};

}  // namespace sluice::runtime
