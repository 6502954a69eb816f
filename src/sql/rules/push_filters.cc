#include "expr/builder.h"
#include "sql/rules/rules.h"

namespace sluice::sql {
namespace {

using Conjuncts = std::vector<expr::ExprPtr>;

/// `expression` with column i replaced by replacements[i].
expr::ExprPtr Substitute(const expr::ExprPtr& expression,
                         const std::vector<expr::ExprPtr>& replacements) {
  if (expression->kind() == expr::ExprKind::kColumn) {
    return replacements[static_cast<size_t>(
        static_cast<const expr::ColumnExpr&>(*expression).index())];
  }
  std::vector<expr::ExprPtr> children = expression->children();
  if (children.empty()) return expression;
  for (expr::ExprPtr& child : children) child = Substitute(child, replacements);
  return expression->WithChildren(std::move(children));
}

Result<PlanPtr> Above(PlanPtr plan, Conjuncts conjuncts) {
  if (conjuncts.empty()) return plan;
  auto filter = std::make_shared<FilterNode>();
  filter->schema = plan->schema;
  filter->time_attributes = plan->time_attributes;
  SLUICE_ASSIGN_OR_RETURN(filter->condition, expr::MakeAnd(std::move(conjuncts)));
  filter->inputs.push_back(std::move(plan));
  return PlanPtr(filter);
}

bool AllDeterministic(const std::vector<expr::ExprPtr>& expressions) {
  for (const expr::ExprPtr& e : expressions) {
    if (!e->deterministic()) return false;
  }
  return true;
}

Result<PlanPtr> Push(PlanPtr plan, Conjuncts conjuncts);

Result<PlanPtr> PushThroughProject(PlanPtr plan, Conjuncts conjuncts) {
  ProjectNode& project = plan->As<ProjectNode>();
  Conjuncts below;
  Conjuncts stay;
  for (expr::ExprPtr& conjunct : conjuncts) {
    std::vector<expr::ExprPtr> used;
    for (const int column : expr::UsedColumns(*conjunct)) {
      used.push_back(project.expressions[static_cast<size_t>(column)]);
    }
    if (conjunct->deterministic() && AllDeterministic(used)) {
      below.push_back(Substitute(conjunct, project.expressions));
    } else {
      stay.push_back(std::move(conjunct));
    }
  }
  SLUICE_ASSIGN_OR_RETURN(project.inputs[0], Push(project.inputs[0], std::move(below)));
  return Above(std::move(plan), std::move(stay));
}

Result<PlanPtr> PushThroughJoin(PlanPtr plan, Conjuncts conjuncts) {
  JoinNode& join = plan->As<JoinNode>();
  const int left_width = join.inputs[0]->schema.column_count();
  Conjuncts sides[2];
  Conjuncts stay;
  // A filter on the side that an outer join pads must see the padded rows.
  const bool side_allowed[2] = {join.type != JoinType::kRight && join.type != JoinType::kFull,
                                join.type != JoinType::kLeft && join.type != JoinType::kFull};
  for (expr::ExprPtr& conjunct : conjuncts) {
    const std::vector<int> used = expr::UsedColumns(*conjunct);
    const bool only_left = !used.empty() && used.back() < left_width;
    const bool only_right = !used.empty() && used.front() >= left_width;
    if (only_left && side_allowed[0]) {
      sides[0].push_back(std::move(conjunct));
    } else if (only_right && side_allowed[1]) {
      std::vector<int> mapping(static_cast<size_t>(plan->schema.column_count()), -1);
      for (const int column : used) mapping[static_cast<size_t>(column)] = column - left_width;
      sides[1].push_back(expr::RemapColumns(conjunct, mapping));
    } else {
      stay.push_back(std::move(conjunct));
    }
  }
  for (size_t side = 0; side < 2; ++side) {
    SLUICE_ASSIGN_OR_RETURN(join.inputs[side], Push(join.inputs[side], std::move(sides[side])));
  }
  return Above(std::move(plan), std::move(stay));
}

Result<PlanPtr> Push(PlanPtr plan, Conjuncts conjuncts) {
  switch (plan->kind) {
    case PlanKind::kFilter: {
      for (expr::ExprPtr& conjunct : expr::SplitConjuncts(plan->As<FilterNode>().condition)) {
        conjuncts.push_back(std::move(conjunct));
      }
      return Push(plan->inputs[0], std::move(conjuncts));
    }
    case PlanKind::kProject:
      return PushThroughProject(std::move(plan), std::move(conjuncts));
    case PlanKind::kUnion: {
      for (PlanPtr& input : plan->inputs) {
        SLUICE_ASSIGN_OR_RETURN(input, Push(input, conjuncts));
      }
      return plan;
    }
    case PlanKind::kJoin:
      return PushThroughJoin(std::move(plan), std::move(conjuncts));
    case PlanKind::kScan: {
      ScanNode& scan = plan->As<ScanNode>();
      for (const expr::ExprPtr& conjunct : conjuncts) {
        if (conjunct->deterministic()) scan.pushed_filters.push_back(conjunct);
      }
      return Above(std::move(plan), std::move(conjuncts));
    }
    default: {
      for (PlanPtr& input : plan->inputs) {
        SLUICE_ASSIGN_OR_RETURN(input, Push(input, {}));
      }
      return Above(std::move(plan), std::move(conjuncts));
    }
  }
}

}  // namespace

Result<PlanPtr> PushFilters(PlanPtr plan) { return Push(std::move(plan), {}); }

}  // namespace sluice::sql
