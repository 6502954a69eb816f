#include "connectors/kafka/split_board.h"

#include <algorithm>

namespace sluice::connectors::kafka {

SplitBoard::SplitBoard(std::vector<KafkaSplit> splits, int reader_count)
    : readers_(static_cast<size_t>(reader_count)) {
  for (KafkaSplit& split : splits) {
    known_.insert(split.id);
    Deal(std::move(split));
  }
}

void SplitBoard::Deal(KafkaSplit split) {
  const auto least = std::min_element(
      readers_.begin(), readers_.end(),
      [](const Reader& a, const Reader& b) { return a.split_count < b.split_count; });
  ++least->split_count;
  least->inbox.push_back(std::move(split));
  if (least->wake) least->wake();
}

std::vector<KafkaSplit> SplitBoard::Take(int subtask) {
  const std::lock_guard lock(mutex_);
  return std::exchange(readers_[static_cast<size_t>(subtask)].inbox, {});
}

void SplitBoard::OnNewSplit(int subtask, std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  readers_[static_cast<size_t>(subtask)].wake = std::move(wake);
}

std::vector<PartitionId> SplitBoard::Discovered(const std::vector<PartitionId>& partitions) {
  const std::lock_guard lock(mutex_);
  std::vector<PartitionId> added;
  for (const PartitionId& id : partitions) {
    if (!known_.insert(id).second) continue;
    added.push_back(id);
    KafkaSplit split{.id = id, .next = RD_KAFKA_OFFSET_BEGINNING};
    if (frozen_) {
      held_.push_back(std::move(split));
    } else {
      Deal(std::move(split));
    }
  }
  return added;
}

void SplitBoard::Freeze() {
  const std::lock_guard lock(mutex_);
  frozen_ = true;
}

void SplitBoard::Thaw() {
  const std::lock_guard lock(mutex_);
  frozen_ = false;
  for (KafkaSplit& split : held_) Deal(std::move(split));
  held_.clear();
}

std::vector<PartitionId> SplitBoard::Known() const {
  const std::lock_guard lock(mutex_);
  std::vector<PartitionId> known(known_.begin(), known_.end());
  // What is held back is in no reader's state: a restart finds it again.
  std::erase_if(known, [&](const PartitionId& id) {
    return std::any_of(held_.begin(), held_.end(),
                       [&](const KafkaSplit& split) { return split.id == id; });
  });
  return known;
}

}  // namespace sluice::connectors::kafka
