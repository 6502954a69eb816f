#include "runtime/operators/join_rows.h"

#include "expr/sort.h"

namespace sluice::runtime {

Schema KeySchema(const std::vector<expr::ExprPtr>& keys) {
  std::vector<Column> columns;
  for (const expr::ExprPtr& key : keys) {
    columns.push_back({"k" + std::to_string(columns.size()), key->type().WithNullable(true)});
  }
  return Schema(std::move(columns));
}

Result<std::shared_ptr<arrow::RecordBatch>> EvaluateKeys(const std::vector<expr::ExprPtr>& keys,
                                                         const arrow::RecordBatch& rows,
                                                         const expr::EvalContext& eval) {
  arrow::ArrayVector columns;
  for (const expr::ExprPtr& key : keys) {
    SLUICE_ASSIGN_OR_RETURN(auto column, expr::EvaluateToArray(*key, rows, eval));
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(KeySchema(keys).ToArrow(), rows.num_rows(), std::move(columns));
}

namespace {

Status Append(const JoinSide& side, const char* name, arrow::MemoryPool* pool,
              arrow::FieldVector* fields, arrow::ArrayVector* columns) {
  std::vector<int> kept;
  for (int i = 0; i < side.width; ++i) kept.push_back(i);
  const auto narrow = side.rows.SelectColumns(kept);
  if (!narrow.ok()) return Status::Internal(narrow.status().message());
  SLUICE_ASSIGN_OR_RETURN(const auto taken, expr::TakeRows(**narrow, side.indices, pool));
  for (int i = 0; i < side.width; ++i) {
    fields->push_back(arrow::field(name + std::to_string(i), taken->column(i)->type()));
    columns->push_back(taken->column(i));
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<arrow::RecordBatch>> SideBySide(const JoinSide& left, const JoinSide& right,
                                                       arrow::MemoryPool* pool) {
  arrow::FieldVector fields;
  arrow::ArrayVector columns;
  SLUICE_RETURN_NOT_OK(Append(left, "l", pool, &fields, &columns));
  SLUICE_RETURN_NOT_OK(Append(right, "r", pool, &fields, &columns));
  return arrow::RecordBatch::Make(arrow::schema(std::move(fields)),
                                  static_cast<int64_t>(left.indices.size()), std::move(columns));
}

}  // namespace sluice::runtime
