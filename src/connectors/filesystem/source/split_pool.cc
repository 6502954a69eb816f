#include "connectors/filesystem/source/split_pool.h"

#include <algorithm>

#include "connectors/filesystem/compression/compression.h"

namespace sluice::connectors::filesystem {

namespace {

// What one fetch reads: enough that its own cost is small beside opening the files.
constexpr int64_t kSmallFileBytes = 64 << 10;
constexpr int64_t kGroupBytes = 256 << 10;
constexpr size_t kGroupFiles = 64;
// Of splits of any size: what waking a reader costs is small beside opening so many files.
constexpr size_t kGroupSplits = 16;

bool IsSmallFile(const FileSplit& split) {
  return split.file.size_bytes <= kSmallFileBytes && split.begin == 0 &&
         split.end == split.file.size_bytes && split.position == 0 && !split.started &&
         CompressionOf(split.file.name()) == Compression::kNone;
}

}  // namespace

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
  if (frozen_ || splits_.empty()) return taken;
  const bool any = groups_ == Groups::kAny;
  const bool grouped = group_readers_ > 0 && (any || IsSmallFile(splits_.front()));
  // To the end every reader is to find work.
  const size_t most = grouped ? std::min(any ? kGroupSplits : kGroupFiles,
                                         1 + splits_.size() / (2 * group_readers_))
                              : 1;
  int64_t bytes = 0;
  while (taken.splits.size() < most && !splits_.empty()) {
    const FileSplit& next = splits_.front();
    bytes += next.file.size_bytes;
    const bool fits = any || taken.splits.empty() ||
                      (bytes <= kGroupBytes && IsSmallFile(next) &&
                       next.partition == taken.splits.front().partition);
    if (!fits) break;
    taken.splits.push_back(std::move(splits_.front()));
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
