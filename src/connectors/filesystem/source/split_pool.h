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
    std::optional<FileSplit> split;
    bool frozen = false;  // None is handed out now; the reader is woken when that ends.
  };
  Taken Take(int reader);
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
  std::map<int, std::function<void()>> wakes_;
};

}  // namespace sluice::connectors::filesystem
