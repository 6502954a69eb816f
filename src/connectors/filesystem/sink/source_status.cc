#include "connectors/filesystem/sink/source_status.h"

#include <optional>

#include "connectors/split_metrics.h"

namespace sluice::connectors::filesystem {

std::vector<std::string> SourcePositions(const runtime::Metrics& metrics) {
  std::vector<std::string> positions;
  for (const auto& [name, value] : metrics.Snapshot()) {
    if (!name.starts_with(kSplitPositionPrefix)) continue;
    positions.push_back(name.substr(kSplitPositionPrefix.size()) + "@" + std::to_string(value));
  }
  return positions;
}

std::map<std::string, int64_t> PositionsAtBarrier(const runtime::Metrics& metrics) {
  std::map<std::string, int64_t> positions = metrics.Positions();
  for (const auto& [name, value] : metrics.Snapshot()) {
    if (name.starts_with(kSplitPositionPrefix)) {
      positions[name.substr(kSplitPositionPrefix.size())] = value;
    }
  }
  return positions;
}

std::string SlowestSplit(const runtime::Metrics& metrics) {
  std::optional<int64_t> lowest_ms;
  std::string slowest;
  for (const auto& [name, value] : metrics.Snapshot()) {
    if (!name.starts_with(kSplitWatermarkPrefix)) continue;
    if (lowest_ms && *lowest_ms <= value) continue;
    lowest_ms = value;
    slowest = name.substr(kSplitWatermarkPrefix.size());
  }
  return slowest;
}

}  // namespace sluice::connectors::filesystem
