#include "expr/replace_columns.h"

namespace sluice::expr {

ExprPtr ReplaceColumns(const ExprPtr& expression,
                       const std::function<ExprPtr(const ColumnExpr&)>& replacement) {
  if (expression->kind() == ExprKind::kColumn) {
    return replacement(static_cast<const ColumnExpr&>(*expression));
  }
  std::vector<ExprPtr> children = expression->children();
  bool changed = false;
  for (ExprPtr& child : children) {
    ExprPtr replaced = ReplaceColumns(child, replacement);
    changed |= replaced != child;
    child = std::move(replaced);
  }
  return changed ? expression->WithChildren(std::move(children)) : expression;
}

ExprPtr ReplaceColumns(const ExprPtr& expression, const std::vector<ExprPtr>& replacements) {
  return ReplaceColumns(expression, [&replacements](const ColumnExpr& column) {
    return replacements[static_cast<size_t>(column.index())];
  });
}

}  // namespace sluice::expr
