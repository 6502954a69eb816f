#include "connectors/filesystem/source/split_pool.h"

namespace sluice::connectors::filesystem {

void SplitPool::Add(std::vector<FileSplit> splits) {
  if (splits.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    for (FileSplit& split : splits) splits_.push_back(std::move(split));
  }
  WakeAll();
}

void SplitPool::AddFirst(std::vector<FileSplit> splits) {
  const std::lock_guard lock(mutex_);
  splits_.insert(splits_.begin(), std::make_move_iterator(splits.begin()),
                 std::make_move_iterator(splits.end()));
}

SplitPool::Taken SplitPool::Take(int) {
  const std::lock_guard lock(mutex_);
  Taken taken;
  taken.frozen = frozen_;
  if (!frozen_ && !splits_.empty()) {
    taken.split = std::move(splits_.front());
    splits_.pop_front();
  }
  return taken;
}

void SplitPool::Freeze() {
  const std::lock_guard lock(mutex_);
  frozen_ = true;
}

void SplitPool::Thaw() {
  {
    const std::lock_guard lock(mutex_);
    frozen_ = false;
  }
  WakeAll();
}

std::vector<FileSplit> SplitPool::Pending() const {
  const std::lock_guard lock(mutex_);
  return {splits_.begin(), splits_.end()};
}

size_t SplitPool::size() const {
  const std::lock_guard lock(mutex_);
  return splits_.size();
}

void SplitPool::SetWake(int reader, std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wakes_[reader] = std::move(wake);
}

void SplitPool::WakeAll() {
  std::map<int, std::function<void()>> wakes;
  {
    const std::lock_guard lock(mutex_);
    wakes = wakes_;
  }
  for (const auto& [reader, wake] : wakes) wake();
}

}  // namespace sluice::connectors::filesystem
