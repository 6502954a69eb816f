// Rows of one bucket that wait until there are enough of them for the encoder.
//
// Slices are copied in: kept as they are, each would hold the whole batch it was cut from. At 16
// rows a call a Parquet writer takes a quarter of the rows a second that it takes at 256.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/record_batch.h>
#include <arrow/table_builder.h>

#include "common/result.h"
#include "connectors/filesystem/sink/budget_share.h"
#include "types/batch.h"

namespace sluice::connectors::filesystem {

class RowBuffer {
 public:
  RowBuffer(MemoryBudget* budget, HeldBytes* held) : share_(budget, held) {}

  Status Add(const Batch& rows, arrow::MemoryPool* pool);
  /// The rows in the order added; the buffer is empty afterwards.
  Result<Batch> Take();

  int64_t row_count() const { return row_count_; }
  int64_t held_bytes() const { return share_.bytes(); }

 private:
  /// With room for as many rows as were taken the last time: what grows by doubling is copied.
  Status Begin(const std::shared_ptr<arrow::Schema>& schema, arrow::MemoryPool* pool);
  void NoteTaken(const arrow::RecordBatch& rows);

  std::unique_ptr<arrow::RecordBatchBuilder> builder_;
  BudgetShare share_;
  int64_t row_count_ = 0;
  int64_t taken_rows_ = 0;
  std::vector<int64_t> taken_text_bytes_;  // By column; 0 where it holds no texts.
};

}  // namespace sluice::connectors::filesystem
