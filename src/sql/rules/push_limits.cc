#include "sql/rules/rules.h"

namespace sluice::sql {
namespace {

/// `rows` are enough from `node`: tell the scans and sorts that only rows of theirs reach it one by
/// one.
void Tell(PlanNode* node, int64_t rows) {
  switch (node->kind) {
    case PlanKind::kProject:
      return Tell(node->inputs[0].get(), rows);
    case PlanKind::kUnion:
      for (const PlanPtr& input : node->inputs) Tell(input.get(), rows);
      return;
    case PlanKind::kScan:
      node->As<ScanNode>().limit = rows;
      return;
    case PlanKind::kSort:
      node->As<SortNode>().limit = rows;
      return;
    default:
      return;
  }
}

}  // namespace

void PushLimits(const PlanPtr& plan) {
  if (const LimitNode* limit = plan->If<LimitNode>(); limit != nullptr && limit->limit) {
    int64_t rows = 0;
    if (!__builtin_add_overflow(*limit->limit, limit->offset, &rows))
      Tell(plan->inputs[0].get(), rows);
  }
  for (const PlanPtr& input : plan->inputs) PushLimits(input);
}

}  // namespace sluice::sql
