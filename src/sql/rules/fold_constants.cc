#include <arrow/scalar.h>

#include "expr/builder.h"
#include "sql/rules/rules.h"

namespace sluice::sql {
namespace {

Status Fold(expr::ExprPtr* expression, const expr::EvalContext& context) {
  if (*expression == nullptr) return {};
  SLUICE_ASSIGN_OR_RETURN(*expression, expr::FoldConstants(*expression, context));
  return {};
}

bool IsTrue(const expr::Expr& condition) {
  const std::shared_ptr<arrow::Scalar> value = expr::LiteralValue(condition);
  return value && value->is_valid && value->type->id() == arrow::Type::BOOL &&
         static_cast<const arrow::BooleanScalar&>(*value).value;
}

// The equalities of a membership stay: they are what hashing goes by.
Status FoldNode(PlanNode* node, const expr::EvalContext& context) {
  switch (node->kind) {
    case PlanKind::kProject:
      for (expr::ExprPtr& e : node->As<ProjectNode>().expressions)
        SLUICE_RETURN_NOT_OK(Fold(&e, context));
      return {};
    case PlanKind::kFilter:
      return Fold(&node->As<FilterNode>().condition, context);
    case PlanKind::kAggregate:
      // Keys and arguments are matched by text elsewhere: fold arguments only.
      for (expr::AggregateCall& call : node->As<AggregateNode>().calls) {
        for (expr::ExprPtr& argument : call.arguments)
          SLUICE_RETURN_NOT_OK(Fold(&argument, context));
        SLUICE_RETURN_NOT_OK(Fold(&call.filter, context));
      }
      return {};
    case PlanKind::kJoin:
      return Fold(&node->As<JoinNode>().condition, context);
    case PlanKind::kScan:
      for (expr::ExprPtr& e : node->As<ScanNode>().computed)
        SLUICE_RETURN_NOT_OK(Fold(&e, context));
      return Fold(&node->As<ScanNode>().watermark, context);
    default:
      return {};
  }
}

}  // namespace

Result<PlanPtr> FoldPlanConstants(PlanPtr plan, const expr::EvalContext& context) {
  for (PlanPtr& input : plan->inputs) {
    SLUICE_ASSIGN_OR_RETURN(input, FoldPlanConstants(input, context));
  }
  SLUICE_RETURN_NOT_OK(FoldNode(plan.get(), context));
  if (const FilterNode* filter = plan->If<FilterNode>();
      filter != nullptr && IsTrue(*filter->condition)) {
    return plan->inputs[0];
  }
  return plan;
}

}  // namespace sluice::sql
