#include "runtime/metrics.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

namespace sluice::runtime {

bool CountsAgain(std::string_view name) {
  static constexpr std::string_view kNames[] = {
      metric::kRowsIn,
      metric::kRowsSkipped,
      metric::kBytesIn,
      metric::kRowsOut,
      metric::kBytesOut,
      metric::kBadRecords,
      metric::kNullMessages,
      metric::kRowTimeNull,
      metric::kPublishedFiles,
      metric::kLateCommits,
      metric::kCommittedPartitions,
  };
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

Metrics::Metrics(Metrics* job) : job_(job) {
  const std::lock_guard lock(job_->mutex_);
  job_->tasks_.insert(this);
}

void Metrics::End() {
  if (job_ == nullptr || std::exchange(ended_, true)) return;
  {
    const std::lock_guard lock(job_->mutex_);
    job_->tasks_.erase(this);
  }
  for (const auto& [name, count] : OwnCounts()) job_->Counter(name) += count;
}

std::atomic<int64_t>& Metrics::Counter(std::string_view name) {
  if (job_ != nullptr && !CountsAgain(name)) return job_->Counter(name);
  const std::lock_guard lock(mutex_);
  auto found = counters_.find(name);
  if (found == counters_.end()) {
    const int64_t start = name == metric::kWatermarkMs ? std::numeric_limits<int64_t>::min() : 0;
    found =
        counters_.emplace(std::string(name), std::make_unique<std::atomic<int64_t>>(start)).first;
  }
  return *found->second;
}

int64_t Metrics::OwnValue(std::string_view name) const {
  const std::lock_guard lock(mutex_);
  const auto found = counters_.find(name);
  return found == counters_.end() ? 0 : found->second->load();
}

int64_t Metrics::Value(std::string_view name) const {
  if (job_ != nullptr) return job_->Value(name);
  const std::lock_guard lock(mutex_);
  const auto found = counters_.find(name);
  const int64_t tasks = SumOfTasks(name);
  if (found != counters_.end()) return found->second->load() + tasks;
  return name == metric::kWatermarkMs ? std::numeric_limits<int64_t>::min() : tasks;
}

int64_t Metrics::SumOfTasks(std::string_view name) const {
  int64_t sum = 0;
  if (!CountsAgain(name)) return sum;
  for (const Metrics* task : tasks_) sum += task->OwnValue(name);
  return sum;
}

Counts Metrics::Snapshot() const {
  if (job_ != nullptr) return job_->Snapshot();
  const std::lock_guard lock(mutex_);
  Counts values;
  for (const auto& [name, counter] : counters_) values.emplace(name, counter->load());
  for (const Metrics* task : tasks_) {
    for (const auto& [name, count] : task->OwnCounts()) values[name] += count;
  }
  return values;
}

Counts Metrics::OwnCounts() const {
  const std::lock_guard lock(mutex_);
  Counts counts;
  for (const auto& [name, counter] : counters_) {
    if (CountsAgain(name)) counts.emplace(name, counter->load());
  }
  return counts;
}

void Metrics::BeginWith(const Counts& counts) {
  for (const auto& [name, before] : OwnCounts()) {
    const auto found = counts.find(name);
    Counter(name).store(found == counts.end() ? 0 : found->second);
  }
  for (const auto& [name, count] : counts) Counter(name).store(count);
}

void Metrics::SetWaiting(std::string_view who, std::string_view what) {
  if (job_ != nullptr) return job_->SetWaiting(who, what);
  const std::lock_guard lock(mutex_);
  if (!what.empty()) {
    waiting_.insert_or_assign(std::string(who), std::string(what));
  } else if (const auto found = waiting_.find(who); found != waiting_.end()) {
    waiting_.erase(found);
  }
}

std::map<std::string, std::string> Metrics::Waiting() const {
  if (job_ != nullptr) return job_->Waiting();
  const std::lock_guard lock(mutex_);
  return {waiting_.begin(), waiting_.end()};
}

void Metrics::SetPositions(std::string_view who, std::map<std::string, int64_t> positions) {
  if (job_ != nullptr) return job_->SetPositions(who, std::move(positions));
  const std::lock_guard lock(mutex_);
  positions_.insert_or_assign(std::string(who), std::move(positions));
}

std::map<std::string, int64_t> Metrics::Positions() const {
  if (job_ != nullptr) return job_->Positions();
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
