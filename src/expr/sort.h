// Sorting and picking rows.
#pragma once

#include <cstdint>
#include <vector>

#include <arrow/datum.h>
#include <arrow/memory_pool.h>
#include <arrow/record_batch.h>

#include "common/result.h"
#include "types/batch.h"

namespace sluice::expr {

struct SortKey {
  int column = 0;
  bool descending = false;
  /// NULL is the smallest value in Flink: first when ascending, last when descending, unless NULLS
  /// FIRST/LAST says otherwise.
  bool nulls_first = true;
  static SortKey Ascending(int column) { return {column, false, true}; }
  static SortKey Descending(int column) { return {column, true, false}; }
};

/// Row indices in sorted order; equal rows keep their order. NaN is the greatest number. `limit` >=
/// 0 gives only the first `limit`. Fails for columns of nested types.
Result<std::vector<int64_t>> SortIndices(const arrow::RecordBatch& rows,
                                         const std::vector<SortKey>& keys, int64_t limit = -1);

/// The rows at `indices`, in that order.
Result<std::shared_ptr<arrow::RecordBatch>> TakeRows(const arrow::RecordBatch& rows,
                                                     const std::vector<int64_t>& indices,
                                                     arrow::MemoryPool* pool);
Result<Batch> TakeRows(const Batch& batch, const std::vector<int64_t>& indices,
                       arrow::MemoryPool* pool);
/// The same with 32-bit indices, which is what a batch needs.
Result<Batch> TakeRows32(const Batch& batch, const std::vector<int32_t>& indices,
                         arrow::MemoryPool* pool);
/// The rows where `condition` is true (a scalar condition keeps all or none). No copy when all
/// stay.
Result<Batch> FilterRows(const Batch& batch, const arrow::Datum& condition,
                         arrow::MemoryPool* pool);

}  // namespace sluice::expr
