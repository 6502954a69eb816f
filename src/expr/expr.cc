#include "expr/expr.h"

#include <algorithm>
#include <set>

#include <arrow/api.h>

#include "expr/nodes.h"
#include "types/arrow_status.h"
#include "types/value_text.h"

namespace sluice::expr {

Result<arrow::Datum> ColumnExpr::Evaluate(const arrow::RecordBatch& rows,
                                          const EvalContext& /*context*/) const {
  if (index_ < 0 || index_ >= rows.num_columns()) {
    return Status::Internal("column " + std::to_string(index_) + " of " +
                            std::to_string(rows.num_columns()) + " was asked for");
  }
  return arrow::Datum(rows.column(index_));
}

std::string ColumnExpr::ToString(const Schema& input) const {
  if (index_ >= 0 && index_ < input.column_count()) return input.column(index_).name;
  return "$" + std::to_string(index_);
}

ExprPtr ColumnExpr::WithChildren(std::vector<ExprPtr> /*children*/) const {
  return std::make_shared<ColumnExpr>(index_, type());
}

Result<arrow::Datum> LiteralExpr::Evaluate(const arrow::RecordBatch& /*rows*/,
                                           const EvalContext& /*context*/) const {
  return arrow::Datum(value_);
}

std::string LiteralExpr::ToString(const Schema& /*input*/) const {
  if (!value_->is_valid) {
    return type().kind() == TypeKind::kNull ? "NULL" : "NULL:" + type().ToString();
  }
  std::string text = ScalarText(type(), *value_, TimeZone());
  if (!type().is_character()) return text;
  std::string quoted = "'";
  for (const char c : text) {
    quoted += c;
    if (c == '\'') quoted += '\'';
  }
  return quoted + "'";
}

ExprPtr LiteralExpr::WithChildren(std::vector<ExprPtr> /*children*/) const {
  return std::make_shared<LiteralExpr>(value_, type());
}

Result<std::shared_ptr<arrow::Array>> EvaluateToArray(const Expr& expression,
                                                      const arrow::RecordBatch& rows,
                                                      const EvalContext& context) {
  SLUICE_ASSIGN_OR_RETURN(arrow::Datum value, expression.Evaluate(rows, context));
  if (value.is_array()) return value.make_array();
  return FromArrow(arrow::MakeArrayFromScalar(*value.scalar(), rows.num_rows(), context.pool));
}

namespace {

void CollectColumns(const Expr& expression, std::set<int>* columns) {
  if (expression.kind() == ExprKind::kColumn) {
    columns->insert(static_cast<const ColumnExpr&>(expression).index());
  }
  for (const ExprPtr& child : expression.children()) CollectColumns(*child, columns);
}

void CollectConjuncts(const ExprPtr& condition, std::vector<ExprPtr>* conjuncts) {
  if (const CallExpr* call = AsCall(*condition, "AND")) {
    for (const ExprPtr& argument : call->arguments()) CollectConjuncts(argument, conjuncts);
    return;
  }
  conjuncts->push_back(condition);
}

}  // namespace

std::vector<int> UsedColumns(const Expr& expression) {
  std::set<int> columns;
  CollectColumns(expression, &columns);
  return {columns.begin(), columns.end()};
}

ExprPtr RemapColumns(const ExprPtr& expression, const std::vector<int>& mapping) {
  if (expression->kind() == ExprKind::kColumn) {
    const int index = static_cast<const ColumnExpr&>(*expression).index();
    const int mapped = mapping[static_cast<size_t>(index)];
    return mapped == index ? expression
                           : std::make_shared<const ColumnExpr>(mapped, expression->type());
  }
  std::vector<ExprPtr> children = expression->children();
  bool changed = false;
  for (ExprPtr& child : children) {
    ExprPtr mapped = RemapColumns(child, mapping);
    changed |= mapped != child;
    child = std::move(mapped);
  }
  return changed ? expression->WithChildren(std::move(children)) : expression;
}

std::vector<ExprPtr> SplitConjuncts(const ExprPtr& condition) {
  std::vector<ExprPtr> conjuncts;
  CollectConjuncts(condition, &conjuncts);
  return conjuncts;
}

}  // namespace sluice::expr
