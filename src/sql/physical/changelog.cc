#include "sql/physical/changelog.h"

#include "sql/physical/explain.h"
#include "sql/physical/job_builder.h"

namespace sluice::sql {
namespace {

RowKindSet Merge(const RowKindSet& a, const RowKindSet& b) {
  return {a.update_before || b.update_before, a.update_after || b.update_after,
          a.remove || b.remove};
}

RowKindSet InputKinds(const PlanNode& plan, bool streaming) {
  RowKindSet kinds;
  for (const PlanPtr& input : plan.inputs) kinds = Merge(kinds, KindsOf(*input, streaming));
  return kinds;
}

/// The first node, from the sources up, that turns appends into changes.
const PlanNode* FirstChangeMaker(const PlanNode& plan, bool streaming) {
  for (const PlanPtr& input : plan.inputs) {
    if (const PlanNode* found = FirstChangeMaker(*input, streaming)) return found;
  }
  return KindsOf(plan, streaming).insert_only() ? nullptr : &plan;
}

bool SortsByTime(const SortNode& sort) {
  if (sort.keys.empty() || !sort.keys[0].ascending) return false;
  const expr::ExprPtr& first = sort.keys[0].expression;
  if (first->kind() != expr::ExprKind::kColumn) return false;
  const int column = static_cast<const expr::ColumnExpr&>(*first).index();
  return sort.inputs[0]->time_attributes[static_cast<size_t>(column)] != TimeAttribute::kNone;
}

}  // namespace

RowKindSet KindsOf(const PlanNode& plan, bool streaming) {
  const RowKindSet input = InputKinds(plan, streaming);
  switch (plan.kind) {
    case PlanKind::kScan: {
      const ScanNode& scan = static_cast<const ScanNode&>(plan);
      return scan.source ? scan.source->row_kinds() : RowKindSet::InsertOnly();
    }
    case PlanKind::kAggregate:
      if (!streaming) return RowKindSet::InsertOnly();
      return {true, true, !input.insert_only()};
    case PlanKind::kSort: {
      const SortNode& sort = static_cast<const SortNode&>(plan);
      if (!streaming || !sort.limit) return RowKindSet::InsertOnly();
      return RowKindSet::All();  // Top-N.
    }
    case PlanKind::kLimit:
      // When one of the first rows goes, another takes its place.
      if (!streaming || input.insert_only()) return RowKindSet::InsertOnly();
      return RowKindSet::All();
    case PlanKind::kJoin:
      return RowKindSet::InsertOnly();  // Its inputs are bounded, and changes settled before.
    case PlanKind::kReplicate:
      return input.insert_only() ? input : RowKindSet{false, false, true};
    default:
      return input;
  }
}

std::string KindsText(const RowKindSet& kinds) {
  std::string text = "I";
  if (kinds.update_before) text += ",UB";
  if (kinds.update_after) text += ",UA";
  if (kinds.remove) text += ",D";
  return text;
}

Status CheckSinkTakes(const PlanNode& plan, bool streaming, const RowKindSet& accepted,
                      const catalog::ObjectPath& sink) {
  const RowKindSet made = KindsOf(plan, streaming);
  const bool updates = (made.update_before || made.update_after) && !accepted.update_after;
  const bool deletes = made.remove && !accepted.remove;
  if (!updates && !deletes) return {};
  const std::string what = updates && deletes ? "update and delete changes"
                           : updates          ? "update changes"
                                              : "delete changes";
  const PlanNode* maker = FirstChangeMaker(plan, streaming);
  return Status::Validation("Table sink '" + sink.ToString() + "' doesn't support consuming " +
                            what + " which is produced by node " +
                            (maker ? NodeText(*maker) : "?"));
}

Status CheckQueryPlan(const PlanNode& plan, bool streaming) {
  if (streaming && plan.kind == PlanKind::kSort) {
    const SortNode& sort = static_cast<const SortNode&>(plan);
    if (!sort.limit && SortsByTime(sort) && !IsBounded(plan)) {
      return Status::Unsupported(
          "ORDER BY a time attribute over an unbounded input is not supported yet. Add a LIMIT.");
    }
    if (!sort.limit && !SortsByTime(sort)) {
      return Status::Validation(
          "Sort on a non-time-attribute field is not supported. Add a LIMIT, sort by an ascending "
          "time "
          "attribute first, or SET 'execution.runtime-mode' = 'batch'.");
    }
  }
  if (streaming && plan.kind == PlanKind::kJoin && !IsBounded(plan)) {
    const JoinType type = static_cast<const JoinNode&>(plan).type;
    const bool subquery = type == JoinType::kMark || type == JoinType::kSingle;
    return Status::Unsupported(std::string(subquery ? "A subquery of an expression" : "JOIN") +
                               " over an unbounded input is not supported yet in streaming mode. "
                               "Use bounded tables, or SET "
                               "'execution.runtime-mode' = 'batch'.");
  }
  for (const PlanPtr& input : plan.inputs) SLUICE_RETURN_NOT_OK(CheckQueryPlan(*input, streaming));
  return {};
}

bool HasLtzWatermark(const PlanNode& plan) {
  if (plan.kind == PlanKind::kScan) {
    const expr::ExprPtr& watermark = static_cast<const ScanNode&>(plan).watermark;
    return watermark != nullptr && watermark->type().kind() == TypeKind::kTimestampLtz;
  }
  return std::any_of(plan.inputs.begin(), plan.inputs.end(),
                     [](const PlanPtr& input) { return HasLtzWatermark(*input); });
}

std::string TableWithoutWatermark(const PlanNode& plan) {
  if (plan.kind == PlanKind::kScan) {
    const auto& scan = static_cast<const ScanNode&>(plan);
    return scan.watermark != nullptr || IsBounded(scan) ? "" : scan.path.ToString();
  }
  for (const PlanPtr& input : plan.inputs) {
    std::string table = TableWithoutWatermark(*input);
    if (!table.empty()) return table;
  }
  return "";
}

bool IsBounded(const PlanNode& plan) {
  if (plan.kind == PlanKind::kScan) {
    const ScanNode& scan = static_cast<const ScanNode&>(plan);
    return scan.source == nullptr || scan.source->bounded();
  }
  for (const PlanPtr& input : plan.inputs) {
    if (!IsBounded(*input)) return false;
  }
  return true;
}

}  // namespace sluice::sql
