// Splits that no reader has taken yet, pulled by idle readers.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "connectors/filesystem/source/file_split.h"

namespace sluice::connectors::filesystem {

/// Thread-safe.
class SplitPool {
 public:
  void Add(std::vector<FileSplit> splits);
  /// In front of all others: splits that were begun before a restart.
  void AddFirst(std::vector<FileSplit> splits);

  struct Taken {
    /// One, or several that may go together.
    std::vector<FileSplit> splits;
    bool frozen = false;  // None is handed out now; the reader is woken when that ends.
  };
  Taken Take(int reader);
  /// Which splits may be handed out together.
  enum class Groups {
    kSmallFiles,  // Whole text files of one partition.
    kAny,         // A few, whatever they are.
  };
  /// To `reader_count` readers that all want some.
  void AllowGroups(int reader_count, Groups groups) {
    group_readers_ = static_cast<size_t>(reader_count);
    groups_ = groups;
  }
  void Freeze();
  void Thaw();
  std::vector<FileSplit> Pending() const;
  size_t size() const;

  /// Who to wake when there may be something to take.
  void SetWake(int reader, std::function<void()> wake);
  void WakeAll();

 private:
  mutable std::mutex mutex_;
  std::deque<FileSplit> splits_;
  bool frozen_ = false;
  size_t group_readers_ = 0;  // 0: no groups.
  Groups groups_ = Groups::kSmallFiles;
  std::map<int, std::function<void()>> wakes_;
};

}  // namespace sluice::connectors::filesystem
