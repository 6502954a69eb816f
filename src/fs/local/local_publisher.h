// Part files on a disk: written under a hidden name in the target folder, published by a rename
// that never overwrites.
//
// Invariants:
//  - A published name is durable, whole and never touched again.
//  - What Persist or Close returned survives a power loss: content and names of the folders are
//  synced first.
//  - No more descriptors than the disk's limit and no more buffered bytes than kBufferedBytesLimit,
//  however many files are open.
// State: handles (final path, hidden path, length) live in the caller's checkpoint.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "fs/file_system.h"
#include "fs/local/directory_sync.h"
#include "fs/local/local_sync_batch.h"
#include "fs/local/open_file_cache.h"

namespace sluice::fs {

class LocalPublisher final : public Publisher {
 public:
  LocalPublisher(Disk& disk, DirectorySync& directories)
      : disk_(disk), directories_(directories), files_(disk) {}

  Result<std::unique_ptr<PartFileWriter>> Open(const std::string& final_path,
                                               const std::string& attempt) override;
  Result<std::unique_ptr<PartFileWriter>> Resume(const std::string& handle) override;
  std::vector<Status> Publish(const std::vector<std::string>& handles) override;
  bool SyncsTogether(int64_t file_count) const override {
    return file_count >= disk_.least_files_synced_together();
  }
  std::unique_ptr<SyncBatch> BeginBatch(const std::string& directory, int64_t file_count) override;
  Status Abandon(const std::string& handle) override;
  Result<HandleInfo> Describe(const std::string& handle) const override;

 private:
  friend class LocalPartFileWriter;

  /// Makes the renames in these directories durable; status i belongs to directory i.
  std::vector<Status> SyncDirectories(const std::vector<std::string>& directories,
                                      LocalSyncBatch* batch);
  /// Renames one file into place; `directory` is what has to be synced then.
  Status PublishOne(const HandleInfo& info);
  /// `*gone`: neither the hidden file nor the final one is there.
  Status TryPublish(const HandleInfo& info, bool* gone);
  Status CheckAlreadyPublished(const HandleInfo& info, bool* gone);
  /// COMPACT TABLE or INSERT OVERWRITE has put a new directory in its place, and not brought hidden
  /// files over yet.
  bool IsBeingReplaced(const std::string& directory);
  /// Opens the hidden file and cuts it to the recorded length.
  Status CutBack(const HandleInfo& info, int descriptor);

  Disk& disk_;
  DirectorySync& directories_;
  OpenFileCache files_;
  std::atomic<int64_t> buffered_bytes_{0};  // Of all writers together.
};

}  // namespace sluice::fs
