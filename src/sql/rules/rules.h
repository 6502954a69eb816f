// Rewrites of the logical plan that keep its result: constant folding, filters down to the scans,
// only the columns that are needed, limits down, partitions pruned.
#pragma once

#include "connectors/connector.h"
#include "sql/logical/plan.h"

namespace sluice::sql {

/// Runs every rule in its order. Does no I/O.
Result<PlanPtr> Optimize(PlanPtr plan, const expr::EvalContext& context);

/// Folds constant subexpressions everywhere; a filter that is always true goes away.
Result<PlanPtr> FoldPlanConstants(PlanPtr plan, const expr::EvalContext& context);
/// Moves conjuncts through projections, unions and inner joins, and notes at each scan those that
/// stand right above it.
Result<PlanPtr> PushFilters(PlanPtr plan);
/// Drops columns that nobody above uses. The root's columns all stay.
Result<PlanPtr> PruneColumns(PlanPtr plan);
/// Notes OFFSET + LIMIT at scans and sorts below.
void PushLimits(const PlanPtr& plan);

/// Splits `scan.pushed_filters` into what partition keys alone decide; lists partitions through
/// `source`, evaluates, and fills `scan.partitions` and `scan.partition_predicate`. Nothing happens
/// for tables without partition keys. May do I/O.
Status PrunePartitions(ScanNode* scan, connectors::TableSource* source,
                       const expr::EvalContext& context);

}  // namespace sluice::sql
