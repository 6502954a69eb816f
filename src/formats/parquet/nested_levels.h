// Takes a column apart into Parquet leaves with definition and repetition levels (the Dremel
// encoding).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/memory_pool.h>

#include "common/result.h"
#include "types/schema.h"

namespace sluice::formats::parquet_format {

/// One leaf of one batch, ready for a column writer.
struct LeafValues {
  std::vector<int16_t> definition_levels;  // Empty when the leaf and all above are required.
  std::vector<int16_t> repetition_levels;  // Empty without repetition.
  int64_t level_count = 0;
  /// One slot for each level whose definition level reaches the nearest repeated ancestor.
  std::shared_ptr<arrow::Array> values;
  bool nullable = false;  // Of the leaf itself.
};

/// Appends the leaves of `column`, depth first, as the schema has them.
Status AppendLeaves(const Column& column, const std::shared_ptr<arrow::Array>& values,
                    arrow::MemoryPool* pool, std::vector<LeafValues>* leaves);

/// Number of leaves below a column of this type.
int LeafCount(const SqlType& type);

}  // namespace sluice::formats::parquet_format
