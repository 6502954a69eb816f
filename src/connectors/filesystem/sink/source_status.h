// What the sources of the job say of themselves in the counters: where they stand, and which of
// their splits holds the watermark back.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/metrics.h"

namespace sluice::connectors::filesystem {

/// "orders-0@123" for each split, sorted; empty when the sources say nothing.
std::vector<std::string> SourcePositions(const runtime::Metrics& metrics);

/// The same at the barrier at hand, with what readers of files say: "orders-0" -> 123, and
/// "/in/a.csv:[0,500)" -> 500.
std::map<std::string, int64_t> PositionsAtBarrier(const runtime::Metrics& metrics);

/// The split with the lowest watermark: "orders-2"; "" when nothing is known.
std::string SlowestSplit(const runtime::Metrics& metrics);

}  // namespace sluice::connectors::filesystem
