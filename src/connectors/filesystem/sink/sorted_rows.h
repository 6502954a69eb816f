// Rows sorted by partition, and rows that wait to be.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>

#include "common/result.h"
#include "connectors/filesystem/sink/budget_share.h"

namespace sluice::connectors::filesystem {

/// Neighbouring rows of one partition.
struct Segment {
  int32_t partition = 0;
  int32_t begin = 0;  // Row; the segment ends where the next begins, or with the rows.
};

struct SortedRows {
  std::shared_ptr<arrow::RecordBatch> rows;  // Null when there are none.
  std::vector<Segment> segments;             // By partition, ascending, none twice.

  int64_t row_count() const { return rows ? rows->num_rows() : 0; }
  int64_t end_of(size_t segment) const {
    return segment + 1 < segments.size() ? segments[segment + 1].begin : row_count();
  }
  std::shared_ptr<arrow::RecordBatch> RowsOf(size_t segment) const {
    return rows->Slice(segments[segment].begin, end_of(segment) - segments[segment].begin);
  }
};

/// Rows of many partitions as they came. Kept whole: cut into slices of a row or two for each
/// partition they cost more than they hold.
class StagedRows {
 public:
  StagedRows(MemoryBudget* budget, HeldBytes* held) : share_(budget, held) {}

  void Add(std::shared_ptr<arrow::RecordBatch> rows, std::vector<int32_t> partitions);
  bool empty() const { return batches_.empty(); }
  int64_t row_count() const { return row_count_; }
  int64_t held_bytes() const { return share_.bytes(); }

  struct Sorted {
    SortedRows small;
    SortedRows large;
  };
  /// All rows in order of partition, each partition's in order of arrival; nothing is left here.
  /// `is_large` tells from a partition and its number of rows which half they go to.
  Result<Sorted> Sort(int32_t partition_count,
                      const std::function<bool(int32_t partition, int64_t rows)>& is_large,
                      arrow::MemoryPool* pool);

 private:
  std::vector<std::shared_ptr<arrow::RecordBatch>> batches_;
  std::vector<int32_t> partitions_;  // Of each row.
  int64_t row_count_ = 0;
  BudgetShare share_;
};

/// Puts batches of one schema one behind the other. A single one is not copied.
Result<std::shared_ptr<arrow::RecordBatch>> JoinBatches(
    const std::vector<std::shared_ptr<arrow::RecordBatch>>& batches, arrow::MemoryPool* pool);

}  // namespace sluice::connectors::filesystem
