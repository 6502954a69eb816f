// Remembers which directories have entries that a power loss could take away, so that one fsync
// serves all files in one.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <unordered_set>
#include <vector>

#include "fs/local/disk.h"

namespace sluice::fs {

/// Thread-safe. Bounded: only directories with unsynced entries are kept.
class DirectorySync {
 public:
  explicit DirectorySync(Disk& disk) : disk_(disk) {}

  /// An entry of `directory` was made, renamed or removed.
  void NoteChange(const std::string& directory);
  /// Makes the noted changes of `directory` and of the folders above it durable; costs nothing when
  /// there are none.
  Status EnsureDurable(const std::string& directory);
  /// The same, together with the content of an open file in it. Returns the negative errno when the
  /// file could not be synced; `*names` is about the directories.
  int SyncFileWithNames(int descriptor, const std::string& directory, Status* names);
  /// What is noted now of `directories`: to be given to Forget once it is durable by other means.
  std::map<std::string, uint64_t> Noted(const std::set<std::string>& directories);
  void Forget(const std::map<std::string, uint64_t>& noted);
  /// Creates `path` and what is missing above it; durable after EnsureDurable(path). `fresh`, which
  /// may be null, tells whether `path` was made by this call: then nothing is in it.
  Status CreateDirectories(const std::string& path, bool* fresh = nullptr);

 private:
  /// Those of `directory` and the folders above it with noted changes, from the top: an entry is
  /// worth nothing while the folder it is in may vanish.
  std::vector<std::string> ChangedUpTo(const std::string& directory);
  Status SyncOne(const std::string& directory);
  /// True for a folder that this process has not used before: its own name may not be durable.
  bool NoteFirstUse(const std::string& directory);
  bool WasUsed(const std::string& directory);
  /// Makes a folder whose parent is there; false when there is more to do.
  bool MakeInUsedFolder(const std::string& path);

  Disk& disk_;
  std::mutex mutex_;
  std::map<std::string, uint64_t> changed_;  // Directory -> number of its last change.
  uint64_t change_count_ = 0;
  std::unordered_set<size_t> used_;  // Hashes of folders seen before.
};

}  // namespace sluice::fs
