// Rows of joins: keys of rows, and rows side by side.
#pragma once

#include <memory>
#include <vector>

#include <arrow/record_batch.h>

#include "expr/expr.h"

namespace sluice::runtime {

/// k0, k1, … with the types of `keys`.
Schema KeySchema(const std::vector<expr::ExprPtr>& keys);

/// The values of `keys` over `rows`, with the columns of KeySchema.
Result<std::shared_ptr<arrow::RecordBatch>> EvaluateKeys(const std::vector<expr::ExprPtr>& keys,
                                                         const arrow::RecordBatch& rows,
                                                         const expr::EvalContext& eval);

/// One input's part of joined rows: some rows of it, the first `width` columns.
struct JoinSide {
  const arrow::RecordBatch& rows;
  const std::vector<int64_t>& indices;
  int width;
};
/// The columns of `left`, then those of `right`, named "l0", "r0", ….
Result<std::shared_ptr<arrow::RecordBatch>> SideBySide(const JoinSide& left, const JoinSide& right,
                                                       arrow::MemoryPool* pool);

}  // namespace sluice::runtime
