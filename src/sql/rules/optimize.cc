#include "sql/rules/rules.h"

namespace sluice::sql {

Result<PlanPtr> Optimize(PlanPtr plan, const expr::EvalContext& context) {
  SLUICE_ASSIGN_OR_RETURN(plan, FoldPlanConstants(std::move(plan), context));
  SLUICE_ASSIGN_OR_RETURN(plan, PushFilters(std::move(plan)));
  SLUICE_ASSIGN_OR_RETURN(plan, FoldPlanConstants(std::move(plan), context));
  SLUICE_ASSIGN_OR_RETURN(plan, PruneColumns(std::move(plan)));
  PushLimits(plan);
  return plan;
}

}  // namespace sluice::sql
