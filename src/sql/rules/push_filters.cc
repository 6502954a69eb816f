#include "expr/builder.h"
#include "expr/replace_columns.h"
#include "sql/rules/rules.h"

namespace sluice::sql {
namespace {

using Conjuncts = std::vector<expr::ExprPtr>;

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
      below.push_back(expr::ReplaceColumns(conjunct, project.expressions));
    } else {
      stay.push_back(std::move(conjunct));
    }
  }
  SLUICE_ASSIGN_OR_RETURN(project.inputs[0], Push(project.inputs[0], std::move(below)));
  return Above(std::move(plan), std::move(stay));
}

/// Where a conjunct over the columns of both inputs of a join may go.
struct JoinConjuncts {
  Conjuncts left;   // Over the left input alone.
  Conjuncts right;  // Over the right input alone, by its own positions.
  Conjuncts rest;
};

void SortOut(Conjuncts conjuncts, const JoinNode& join, bool left_allowed, bool right_allowed,
             JoinConjuncts* sorted) {
  const int left_width = join.inputs[0]->schema.column_count();
  const int right_width = join.inputs[1]->schema.column_count();
  for (expr::ExprPtr& conjunct : conjuncts) {
    const std::vector<int> used = expr::UsedColumns(*conjunct);
    if (used.empty() || !conjunct->deterministic()) {
      sorted->rest.push_back(std::move(conjunct));
    } else if (used.back() < left_width && left_allowed) {
      sorted->left.push_back(std::move(conjunct));
    } else if (used.front() >= left_width && right_allowed) {
      std::vector<int> mapping(static_cast<size_t>(left_width + right_width), -1);
      for (const int column : used) mapping[static_cast<size_t>(column)] = column - left_width;
      sorted->right.push_back(expr::RemapColumns(conjunct, mapping));
    } else {
      sorted->rest.push_back(std::move(conjunct));
    }
  }
}

Result<PlanPtr> PushThroughJoin(PlanPtr plan, Conjuncts conjuncts) {
  JoinNode& join = plan->As<JoinNode>();
  const JoinType type = join.type;
  // Above the join: a filter on the side that an outer join pads must see the padded rows.
  JoinConjuncts above;
  SortOut(std::move(conjuncts), join, type != JoinType::kRight && type != JoinType::kFull,
          type == JoinType::kInner || type == JoinType::kRight, &above);
  // In the join's own condition: rows of the side that is kept whole must not be lost.
  JoinConjuncts within;
  if (join.condition != nullptr) {
    SortOut(expr::SplitConjuncts(join.condition), join,
            type == JoinType::kInner || type == JoinType::kRight,
            type != JoinType::kRight && type != JoinType::kFull, &within);
  }
  Conjuncts stay;
  if (type == JoinType::kInner) {  // FROM a, b WHERE a.k = b.k is a join on k.
    for (expr::ExprPtr& conjunct : above.rest) {
      (conjunct->deterministic() ? within.rest : stay).push_back(std::move(conjunct));
    }
  } else {
    stay = std::move(above.rest);
  }
  join.condition = nullptr;
  if (!within.rest.empty()) {
    SLUICE_ASSIGN_OR_RETURN(join.condition, expr::MakeAnd(std::move(within.rest)));
  }
  for (expr::ExprPtr& conjunct : within.left) above.left.push_back(std::move(conjunct));
  for (expr::ExprPtr& conjunct : within.right) above.right.push_back(std::move(conjunct));
  SLUICE_ASSIGN_OR_RETURN(join.inputs[0], Push(join.inputs[0], std::move(above.left)));
  SLUICE_ASSIGN_OR_RETURN(join.inputs[1], Push(join.inputs[1], std::move(above.right)));
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
