// Who reads which partition: the splits handed to each reader, those found later, and the moments
// when none may change hands.
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <vector>

#include "connectors/kafka/split_offsets.h"

namespace sluice::connectors::kafka {

/// Shared by the source and its readers. Thread-safe.
class SplitBoard {
 public:
  /// Deals `splits` (sorted) out to `reader_count` readers in turn.
  SplitBoard(std::vector<KafkaSplit> splits, int reader_count);

  /// Splits that reader `subtask` has not taken yet.
  std::vector<KafkaSplit> Take(int subtask);
  /// Called when a split lies ready for the reader. Cleared by passing nullptr.
  void OnNewSplit(int subtask, std::function<void()> wake);

  /// Partitions not seen before become splits from their beginning, each for the reader that has
  /// least. They wait while frozen. Returns the new ones.
  std::vector<PartitionId> Discovered(const std::vector<PartitionId>& partitions);

  void Freeze();
  void Thaw();

  std::vector<PartitionId> Known() const;

 private:
  struct Reader {
    std::vector<KafkaSplit> inbox;
    int split_count = 0;
    std::function<void()> wake;
  };
  void Deal(KafkaSplit split);

  mutable std::mutex mutex_;
  std::vector<Reader> readers_;
  std::set<PartitionId> known_;
  std::vector<KafkaSplit> held_;  // Found while frozen.
  bool frozen_ = false;
};

}  // namespace sluice::connectors::kafka
