#include "expr/builder.h"
#include "sql/rules/rules.h"

namespace sluice::sql {
namespace {

using Wanted = std::vector<bool>;

/// A node without the columns that nobody wants, and where each old column went (-1: gone).
struct Pruned {
  PlanPtr plan;
  std::vector<int> mapping;
};

Result<Pruned> Prune(PlanPtr plan, const Wanted& wanted);

void Want(const expr::ExprPtr& expression, Wanted* wanted) {
  if (expression == nullptr) return;
  for (const int column : expr::UsedColumns(*expression))
    (*wanted)[static_cast<size_t>(column)] = true;
}

Wanted None(const PlanNode& plan) {
  return Wanted(static_cast<size_t>(plan.schema.column_count()), false);
}
Wanted All(const PlanNode& plan) {
  return Wanted(static_cast<size_t>(plan.schema.column_count()), true);
}

std::vector<int> Kept(const Wanted& wanted) {
  std::vector<int> kept;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i]) kept.push_back(static_cast<int>(i));
  }
  return kept;
}

std::vector<int> MappingOf(const std::vector<int>& kept, size_t width) {
  std::vector<int> mapping(width, -1);
  for (size_t i = 0; i < kept.size(); ++i)
    mapping[static_cast<size_t>(kept[i])] = static_cast<int>(i);
  return mapping;
}

void KeepColumns(PlanNode* node, const std::vector<int>& kept) {
  node->schema = node->schema.Select(kept);
  std::vector<TimeAttribute> attributes;
  for (const int index : kept)
    attributes.push_back(node->time_attributes[static_cast<size_t>(index)]);
  node->time_attributes = std::move(attributes);
}

expr::ExprPtr Remapped(const expr::ExprPtr& expression, const std::vector<int>& mapping) {
  return expression ? expr::RemapColumns(expression, mapping) : nullptr;
}

Result<Pruned> PruneScan(PlanPtr plan, Wanted wanted) {
  ScanNode& scan = plan->As<ScanNode>();
  for (const expr::ExprPtr& filter : scan.pushed_filters) Want(filter, &wanted);
  if (scan.normalize) {
    for (const int key : scan.KeyColumns()) wanted[static_cast<size_t>(key)] = true;
  }
  const std::vector<int> kept = Kept(wanted);
  std::vector<int> mapping = MappingOf(kept, wanted.size());
  std::vector<int> columns;
  for (const int index : kept) columns.push_back(scan.columns[static_cast<size_t>(index)]);
  scan.columns = std::move(columns);
  for (expr::ExprPtr& filter : scan.pushed_filters) filter = Remapped(filter, mapping);
  KeepColumns(&scan, kept);
  return Pruned{std::move(plan), std::move(mapping)};
}

Result<Pruned> PruneProject(PlanPtr plan, const Wanted& wanted) {
  ProjectNode& project = plan->As<ProjectNode>();
  const std::vector<int> kept = Kept(wanted);
  Wanted below = None(*project.inputs[0]);
  for (const int index : kept) Want(project.expressions[static_cast<size_t>(index)], &below);
  SLUICE_ASSIGN_OR_RETURN(Pruned input, Prune(project.inputs[0], below));
  std::vector<expr::ExprPtr> expressions;
  for (const int index : kept) {
    expressions.push_back(Remapped(project.expressions[static_cast<size_t>(index)], input.mapping));
  }
  project.expressions = std::move(expressions);
  project.inputs[0] = std::move(input.plan);
  KeepColumns(&project, kept);
  return Pruned{std::move(plan), MappingOf(kept, wanted.size())};
}

/// Nodes whose columns are those of their one input.
Result<Pruned> PrunePassing(PlanPtr plan, Wanted wanted) {
  if (FilterNode* filter = plan->If<FilterNode>()) Want(filter->condition, &wanted);
  if (SortNode* sort = plan->If<SortNode>()) {
    for (const SortKey& key : sort->keys) Want(key.expression, &wanted);
  }
  SLUICE_ASSIGN_OR_RETURN(Pruned input, Prune(plan->inputs[0], wanted));
  if (FilterNode* filter = plan->If<FilterNode>())
    filter->condition = Remapped(filter->condition, input.mapping);
  if (SortNode* sort = plan->If<SortNode>()) {
    for (SortKey& key : sort->keys) key.expression = Remapped(key.expression, input.mapping);
  }
  plan->schema = input.plan->schema;
  plan->time_attributes = input.plan->time_attributes;
  plan->inputs[0] = std::move(input.plan);
  return Pruned{std::move(plan), std::move(input.mapping)};
}

Result<Pruned> PruneAggregate(PlanPtr plan, const Wanted& wanted) {
  AggregateNode& aggregate = plan->As<AggregateNode>();
  const size_t key_count = aggregate.keys.size();
  Wanted below = None(*aggregate.inputs[0]);
  for (const expr::ExprPtr& key : aggregate.keys) Want(key, &below);
  std::vector<int> kept;
  std::vector<expr::AggregateCall> calls;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (i >= key_count && !wanted[i]) continue;
    kept.push_back(static_cast<int>(i));
    if (i < key_count) continue;
    expr::AggregateCall& call = aggregate.calls[i - key_count];
    for (const expr::ExprPtr& argument : call.arguments) Want(argument, &below);
    Want(call.filter, &below);
    calls.push_back(std::move(call));
  }
  SLUICE_ASSIGN_OR_RETURN(Pruned input, Prune(aggregate.inputs[0], below));
  for (expr::ExprPtr& key : aggregate.keys) key = Remapped(key, input.mapping);
  for (expr::AggregateCall& call : calls) {
    for (expr::ExprPtr& argument : call.arguments) argument = Remapped(argument, input.mapping);
    call.filter = Remapped(call.filter, input.mapping);
  }
  aggregate.calls = std::move(calls);
  aggregate.inputs[0] = std::move(input.plan);
  KeepColumns(&aggregate, kept);
  return Pruned{std::move(plan), MappingOf(kept, wanted.size())};
}

/// Puts exactly `kept` (old positions) on top of a pruned plan that may hold more.
PlanPtr Exactly(Pruned input, const std::vector<int>& kept) {
  bool same = input.plan->schema.column_count() == static_cast<int>(kept.size());
  for (size_t i = 0; i < kept.size(); ++i) {
    same = same && input.mapping[static_cast<size_t>(kept[i])] == static_cast<int>(i);
  }
  if (same) return std::move(input.plan);
  auto project = std::make_shared<ProjectNode>();
  std::vector<int> positions;
  for (const int index : kept) positions.push_back(input.mapping[static_cast<size_t>(index)]);
  project->schema = input.plan->schema.Select(positions);
  for (const int position : positions) {
    project->expressions.push_back(
        expr::MakeColumn(position, input.plan->schema.column(position).type));
    project->time_attributes.push_back(input.plan->time_attributes[static_cast<size_t>(position)]);
  }
  project->inputs.push_back(std::move(input.plan));
  return project;
}

Result<Pruned> PruneUnion(PlanPtr plan, const Wanted& wanted) {
  const std::vector<int> kept = Kept(wanted);
  for (PlanPtr& input : plan->inputs) {
    SLUICE_ASSIGN_OR_RETURN(Pruned pruned, Prune(input, wanted));
    input = Exactly(std::move(pruned), kept);
  }
  KeepColumns(plan.get(), kept);
  return Pruned{std::move(plan), MappingOf(kept, wanted.size())};
}

Result<Pruned> PruneJoin(PlanPtr plan, const Wanted& wanted) {
  JoinNode& join = plan->As<JoinNode>();
  const bool marks = join.type == JoinType::kMark;  // Its last column is nobody's input.
  const size_t left_width = static_cast<size_t>(join.inputs[0]->schema.column_count());
  const size_t right_width = static_cast<size_t>(join.inputs[1]->schema.column_count());
  Wanted inputs = wanted;
  if (marks) inputs.resize(left_width);
  inputs.resize(left_width + right_width, false);
  Want(join.condition, &inputs);
  for (const expr::ExprPtr& equality : join.membership) Want(equality, &inputs);
  const Wanted left_wanted(inputs.begin(),
                           inputs.begin() + static_cast<std::ptrdiff_t>(left_width));
  const Wanted right_wanted(inputs.begin() + static_cast<std::ptrdiff_t>(left_width), inputs.end());
  SLUICE_ASSIGN_OR_RETURN(Pruned left, Prune(join.inputs[0], left_wanted));
  SLUICE_ASSIGN_OR_RETURN(Pruned right, Prune(join.inputs[1], right_wanted));
  join.inputs = {Exactly(std::move(left), Kept(left_wanted)),
                 Exactly(std::move(right), Kept(right_wanted))};
  const std::vector<int> mapping = MappingOf(Kept(inputs), inputs.size());
  join.condition = Remapped(join.condition, mapping);
  for (expr::ExprPtr& equality : join.membership) equality = Remapped(equality, mapping);
  std::vector<int> kept = Kept(marks ? left_wanted : inputs);
  if (marks) kept.push_back(static_cast<int>(left_width));
  KeepColumns(&join, kept);
  return Pruned{std::move(plan), MappingOf(kept, wanted.size())};
}

Result<Pruned> PruneReplicate(PlanPtr plan, const Wanted& wanted) {
  Wanted below = wanted;
  below.push_back(true);  // The count.
  SLUICE_ASSIGN_OR_RETURN(Pruned input, Prune(plan->inputs[0], below));
  plan->inputs[0] = Exactly(std::move(input), Kept(below));
  const std::vector<int> kept = Kept(wanted);
  KeepColumns(plan.get(), kept);
  return Pruned{std::move(plan), MappingOf(kept, wanted.size())};
}

Result<Pruned> Prune(PlanPtr plan, const Wanted& wanted) {
  switch (plan->kind) {
    case PlanKind::kScan:
      return PruneScan(std::move(plan), wanted);
    case PlanKind::kProject:
      return PruneProject(std::move(plan), wanted);
    case PlanKind::kFilter:
    case PlanKind::kSort:
    case PlanKind::kLimit:
      return PrunePassing(std::move(plan), wanted);
    case PlanKind::kAggregate:
      return PruneAggregate(std::move(plan), wanted);
    case PlanKind::kUnion:
      return PruneUnion(std::move(plan), wanted);
    case PlanKind::kJoin:
      return PruneJoin(std::move(plan), wanted);
    case PlanKind::kReplicate:
      return PruneReplicate(std::move(plan), wanted);
    case PlanKind::kValues:
      break;
  }
  const size_t width = static_cast<size_t>(plan->schema.column_count());
  std::vector<int> mapping(width);
  for (size_t i = 0; i < width; ++i) mapping[i] = static_cast<int>(i);
  return Pruned{std::move(plan), std::move(mapping)};
}

}  // namespace

Result<PlanPtr> PruneColumns(PlanPtr plan) {
  const Wanted all = All(*plan);
  SLUICE_ASSIGN_OR_RETURN(Pruned pruned, Prune(std::move(plan), all));
  return std::move(pruned.plan);
}

}  // namespace sluice::sql
