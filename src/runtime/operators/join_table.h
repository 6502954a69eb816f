// The right input of a join once all of it is there: its rows by key.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>

#include "common/result.h"
#include "expr/group_table.h"

namespace sluice::runtime {

/// True for each row of `keys` with a NULL in some column: such a row is equal to nothing.
std::vector<bool> RowsWithNull(const arrow::RecordBatch& keys);

/// Immutable. Without key columns all rows have one key.
class JoinTable {
 public:
  /// `keys` has one row for each of `rows`, with the columns of `key_schema`.
  static Result<std::unique_ptr<JoinTable>> Make(std::shared_ptr<arrow::RecordBatch> rows,
                                                 const arrow::RecordBatch& keys,
                                                 const Schema& key_schema, arrow::MemoryPool* pool);

  const arrow::RecordBatch& rows() const { return *rows_; }
  /// Group of the rows that have the key of each row of `keys`; -1 when there are none, or the key
  /// holds a NULL.
  Result<std::vector<int32_t>> Find(const arrow::RecordBatch& keys) const;
  /// Rows of a group, in the order in which they came.
  std::span<const int32_t> RowsOf(int32_t group) const {
    const auto g = static_cast<size_t>(group);
    return {row_of_.data() + first_[g], first_[g + 1] - first_[g]};
  }
  /// Bytes beside the rows.
  int64_t memory_bytes() const;

 private:
  JoinTable(std::shared_ptr<arrow::RecordBatch> rows, expr::GroupTable groups)
      : rows_(std::move(rows)), groups_(std::move(groups)) {}

  std::shared_ptr<arrow::RecordBatch> rows_;
  expr::GroupTable groups_;
  std::vector<size_t> first_;    // Of each group in row_of_; one more at the end.
  std::vector<int32_t> row_of_;  // Rows group by group.
};

}  // namespace sluice::runtime
