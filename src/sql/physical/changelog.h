// Changelog inference: which row kinds each node of a plan produces, and whether a sink takes them.
#pragma once

#include "catalog/table.h"
#include "sql/logical/plan.h"
#include "types/batch.h"

namespace sluice::sql {

/// Fails with "Table sink 'c.d.t' doesn't support consuming update changes which is produced by
/// node GroupAggregate(…)".
Status CheckSinkTakes(const PlanNode& plan, bool streaming, const RowKindSet& accepted,
                      const catalog::ObjectPath& sink);

/// "I,UB,UA,D", as EXPLAIN CHANGELOG_MODE prints it.
std::string KindsText(const RowKindSet& kinds);

}  // namespace sluice::sql
