#include "sql/physical/push_aggregates.h"

#include <algorithm>

#include "expr/builder.h"
#include "expr/replace_columns.h"

namespace sluice::sql {
namespace {

/// Expressions of an aggregate on their way down to its scan.
struct Carried {
  std::vector<expr::ExprPtr> keys;
  std::vector<expr::AggregateCall> calls;
  std::vector<expr::ExprPtr> conditions;

  template <typename Change>
  void Each(const Change& change) {
    for (expr::ExprPtr& key : keys) change(&key);
    for (expr::AggregateCall& call : calls) {
      for (expr::ExprPtr& argument : call.arguments) change(&argument);
    }
    for (expr::ExprPtr& condition : conditions) change(&condition);
  }
};

/// The scan below `plan`, with the expressions over its columns; null when something else is
/// between, or somebody else reads one of the nodes.
std::shared_ptr<PlanNode> CarryToScan(const PlanPtr& plan, Carried* carried) {
  PlanPtr node = plan;
  while (true) {
    // Two uses are those of the parent and of this loop.
    if (node.use_count() > 2) return nullptr;
    if (node->kind == PlanKind::kScan) return node;
    if (const ProjectNode* project = node->If<ProjectNode>()) {
      carried->Each([project](expr::ExprPtr* expression) {
        *expression = expr::ReplaceColumns(*expression, project->expressions);
      });
    } else if (const FilterNode* filter = node->If<FilterNode>()) {
      for (const expr::ExprPtr& conjunct : expr::SplitConjuncts(filter->condition))
        carried->conditions.push_back(conjunct);
    } else {
      return nullptr;
    }
    node = PlanPtr(node->inputs[0]);
  }
}

/// Position among the physical columns of each output column of the scan, -1 for others.
std::vector<int> PhysicalPositions(const ScanNode& scan) {
  std::vector<int> of_column;
  int next = 0;
  for (const catalog::TableColumn& column : scan.table->columns) {
    of_column.push_back(column.kind == catalog::ColumnKind::kPhysical ? next++ : -1);
  }
  std::vector<int> positions;
  for (const int column : scan.columns) positions.push_back(of_column[static_cast<size_t>(column)]);
  return positions;
}

bool IsKeyOf(const ScanNode& scan, int output_column) {
  const catalog::TableColumn& column =
      scan.table->columns[static_cast<size_t>(scan.columns[static_cast<size_t>(output_column)])];
  const std::vector<std::string>& keys = scan.table->partition_keys;
  return column.kind == catalog::ColumnKind::kPhysical &&
         std::find(keys.begin(), keys.end(), column.name) != keys.end();
}

/// Whether leaving out partitions has done what the condition does.
bool IsApplied(const ScanNode& scan, const expr::Expr& condition) {
  const std::vector<int> used = expr::UsedColumns(condition);
  return scan.partitions && !used.empty() && condition.deterministic() &&
         std::all_of(used.begin(), used.end(),
                     [&scan](int column) { return IsKeyOf(scan, column); });
}

bool IsPlainColumn(const expr::ExprPtr& expression, const std::vector<int>& positions) {
  return expression->kind() == expr::ExprKind::kColumn &&
         positions[static_cast<size_t>(
             static_cast<const expr::ColumnExpr&>(*expression).index())] >= 0;
}

/// The aggregate over the scan's physical columns; nullopt when it cannot be said so.
std::optional<connectors::SourceAggregates> OverPhysical(const ScanNode& scan,
                                                         const Carried& carried) {
  const std::vector<int> positions = PhysicalPositions(scan);
  connectors::SourceAggregates aggregates;
  for (const expr::ExprPtr& key : carried.keys) {
    if (!IsPlainColumn(key, positions)) return std::nullopt;
    const int column = static_cast<const expr::ColumnExpr&>(*key).index();
    if (!IsKeyOf(scan, column)) return std::nullopt;
    aggregates.keys.push_back(positions[static_cast<size_t>(column)]);
  }
  for (expr::AggregateCall call : carried.calls) {
    if (call.filter != nullptr) return std::nullopt;
    for (expr::ExprPtr& argument : call.arguments) {
      if (!IsPlainColumn(argument, positions)) return std::nullopt;
      argument = expr::RemapColumns(argument, positions);
    }
    aggregates.calls.push_back(std::move(call));
  }
  const bool applied =
      std::all_of(carried.conditions.begin(), carried.conditions.end(),
                  [&scan](const expr::ExprPtr& condition) { return IsApplied(scan, *condition); });
  return applied ? std::optional(std::move(aggregates)) : std::nullopt;
}

void PushInto(AggregateNode* aggregate) {
  // DISTINCT over keys has no calls and needs only to know which partitions have rows.
  Carried carried{aggregate->keys, aggregate->calls, {}};
  const PlanPtr found = CarryToScan(aggregate->inputs[0], &carried);
  if (found == nullptr) return;
  ScanNode& scan = found->As<ScanNode>();
  if (scan.source == nullptr || scan.aggregates || scan.limit || !scan.used_filters.empty()) return;
  std::optional<connectors::SourceAggregates> aggregates = OverPhysical(scan, carried);
  if (!aggregates || !scan.source->ApplyAggregates(*aggregates)) return;
  scan.aggregates = std::move(aggregates);
  aggregate->keys = std::move(carried.keys);
  aggregate->calls = std::move(carried.calls);
  aggregate->inputs[0] = found;
}

}  // namespace

void PushAggregates(const PlanPtr& plan) {
  for (const PlanPtr& input : plan->inputs) PushAggregates(input);
  if (AggregateNode* aggregate = plan->If<AggregateNode>()) PushInto(aggregate);
}

}  // namespace sluice::sql
