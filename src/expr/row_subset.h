// Evaluation of an expression for some of the rows of a batch, and putting the parts together
// again.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <arrow/datum.h>
#include <arrow/record_batch.h>

#include "expr/expr.h"

namespace sluice::expr {

/// Indices among `rows` (all rows when null) where `condition`, an array over those rows or a
/// scalar, is TRUE; the others go to `rest` (may be null).
struct RowSelection {
  bool all = true;  // Every row; `indices` is not filled.
  std::vector<int32_t> indices;
  int64_t count = 0;
  static RowSelection All(int64_t row_count) { return {true, {}, row_count}; }
};
void SplitRows(const RowSelection& rows, const arrow::Datum& condition, RowSelection* taken,
               RowSelection* rest);

/// Evaluates `expression` over the selected rows only: the result is a scalar or an array of
/// `selection.count` values.
Result<arrow::Datum> EvaluateSelected(const Expr& expression, const arrow::RecordBatch& rows,
                                      const RowSelection& selection, const EvalContext& context);

/// The values at `positions`, in that order.
Result<std::shared_ptr<arrow::Array>> TakeValues(const std::shared_ptr<arrow::Array>& values,
                                                 const std::vector<int32_t>& positions,
                                                 arrow::MemoryPool* pool);

/// The parts of a result: values of the selected rows, in their order.
struct ResultPart {
  RowSelection rows;
  arrow::Datum values;
};
/// Joins parts that together cover every row once.
Result<arrow::Datum> JoinParts(std::vector<ResultPart> parts, const SqlType& type,
                               int64_t row_count, arrow::MemoryPool* pool);

}  // namespace sluice::expr
