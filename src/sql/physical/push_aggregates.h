// Aggregates that sources compute themselves.
#pragma once

#include "sql/logical/plan.h"

namespace sluice::sql {

/// Lets sources of batch plans aggregate by partition what they know without reading rows
/// (ScanNode::aggregates): an aggregate whose keys are partition columns, with nothing between it
/// and its scan but projections and conditions on partitions, which pruning has already applied.
/// Scans must be prepared.
void PushAggregates(const PlanPtr& plan);

}  // namespace sluice::sql
