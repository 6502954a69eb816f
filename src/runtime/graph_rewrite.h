// What the runtime does to a job graph before it makes tasks of it.
#pragma once

#include "common/result.h"
#include "runtime/job_graph.h"

namespace sluice::runtime {

/// Refuses graphs that cannot run: edges to nowhere, unequal parallelism on a forward edge, an id
/// used twice. kInternal: the planner's mistake.
Status CheckGraph(const JobGraph& graph);

/// Joins vertices connected by nothing but a forward edge of equal parallelism into one: no
/// channel, no copy.
JobGraph FuseForwardEdges(JobGraph graph);

/// A source that wants fewer readers than its vertex has subtasks is cut off from its chain, so
/// that the chain runs on all cores behind a rebalance. `reader_counts[v]` is what the source of
/// vertex v wants (0 for vertices without one). Where the order must be kept, the chain and what
/// follows it by forward edges get as few subtasks instead.
JobGraph SplitSources(JobGraph graph, const std::vector<int>& reader_counts);

}  // namespace sluice::runtime
