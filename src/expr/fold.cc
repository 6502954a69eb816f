// Constant folding.
#include <arrow/api.h>

#include "expr/builder.h"

namespace sluice::expr {

bool IsConstant(const Expr& expression) {
  if (expression.kind() == ExprKind::kColumn || !expression.deterministic()) return false;
  for (const ExprPtr& child : expression.children()) {
    if (!IsConstant(*child)) return false;
  }
  return true;
}

namespace {

/// A batch of one row and no columns.
const arrow::RecordBatch& OneRow() {
  static const std::shared_ptr<arrow::RecordBatch> kRow =
      arrow::RecordBatch::Make(arrow::schema({}), 1, arrow::ArrayVector{});
  return *kRow;
}

/// The literal that `expression` always is, or null when it fails (then it stays, and may never be
/// evaluated).
ExprPtr Folded(const Expr& expression, const EvalContext& context) {
  const Result<arrow::Datum> value = expression.Evaluate(OneRow(), context);
  if (!value.ok()) return nullptr;
  if (value->is_scalar()) return std::make_shared<LiteralExpr>(value->scalar(), expression.type());
  const auto scalar = value->make_array()->GetScalar(0);
  if (!scalar.ok()) return nullptr;
  return std::make_shared<LiteralExpr>(*scalar, expression.type());
}

}  // namespace

Result<ExprPtr> FoldConstants(const ExprPtr& expression, const EvalContext& context) {
  if (expression->kind() == ExprKind::kLiteral || expression->kind() == ExprKind::kColumn) {
    return expression;
  }
  std::vector<ExprPtr> children = expression->children();
  bool changed = false;
  bool literal_children = true;
  for (ExprPtr& child : children) {
    SLUICE_ASSIGN_OR_RETURN(ExprPtr folded, FoldConstants(child, context));
    changed = changed || folded != child;
    literal_children = literal_children && folded->kind() == ExprKind::kLiteral;
    child = std::move(folded);
  }
  ExprPtr rebuilt = changed ? expression->WithChildren(std::move(children)) : expression;
  if (!rebuilt->deterministic() || !(literal_children || IsConstant(*rebuilt))) return rebuilt;
  ExprPtr folded = Folded(*rebuilt, context);
  return folded != nullptr ? folded : rebuilt;
}

}  // namespace sluice::expr
