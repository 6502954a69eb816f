#include "runtime/metrics.h"

#include <algorithm>
#include <limits>

namespace sluice::runtime {

std::atomic<int64_t>& Metrics::Counter(std::string_view name) {
  const std::lock_guard lock(mutex_);
  auto found = counters_.find(name);
  if (found == counters_.end()) {
    const int64_t start = name == metric::kWatermarkMs ? std::numeric_limits<int64_t>::min() : 0;
    found =
        counters_.emplace(std::string(name), std::make_unique<std::atomic<int64_t>>(start)).first;
  }
  return *found->second;
}

int64_t Metrics::Value(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto found = counters_.find(name);
  if (found != counters_.end()) return found->second->load();
  return name == metric::kWatermarkMs ? std::numeric_limits<int64_t>::min() : 0;
}

std::map<std::string, int64_t> Metrics::Snapshot() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, int64_t> values;
  for (const auto& [name, counter] : counters_) values.emplace(name, counter->load());
  return values;
}

void Metrics::SetWaiting(std::string_view who, std::string_view what) {
  const std::lock_guard lock(mutex_);
  if (!what.empty()) {
    waiting_.insert_or_assign(std::string(who), std::string(what));
  } else if (const auto found = waiting_.find(who); found != waiting_.end()) {
    waiting_.erase(found);
  }
}

std::map<std::string, std::string> Metrics::Waiting() const {
  const std::lock_guard lock(mutex_);
  return {waiting_.begin(), waiting_.end()};
}

void Metrics::SetPositions(std::string_view who, std::map<std::string, int64_t> positions) {
  const std::lock_guard lock(mutex_);
  positions_.insert_or_assign(std::string(who), std::move(positions));
}

std::map<std::string, int64_t> Metrics::Positions() const {
  const std::lock_guard lock(mutex_);
  std::map<std::string, int64_t> all;
  for (const auto& [who, positions] : positions_) {
    for (const auto& [split, position] : positions) {
      int64_t& furthest = all.try_emplace(split, position).first->second;
      furthest = std::max(furthest, position);
    }
  }
  return all;
}

}  // namespace sluice::runtime
