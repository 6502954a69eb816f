#include "fs/local/local_sync_batch.h"

namespace sluice::fs {

Result<std::unique_ptr<LocalSyncBatch>> LocalSyncBatch::Begin(Disk* disk,
                                                              DirectorySync* directories,
                                                              const std::string& root) {
  const int descriptor = disk->OpenFileSystem(root);
  if (descriptor < 0) return DiskError(-descriptor, "open", root);
  std::unique_ptr<LocalSyncBatch> batch(new LocalSyncBatch(disk, directories, root, descriptor));
  batch->file_system_ = disk->FileSystemOf(root);
  if (batch->file_system_ < 0) {
    return DiskError(static_cast<int>(-batch->file_system_), "look at", root);
  }
  return batch;
}

LocalSyncBatch::~LocalSyncBatch() { (void)disk_.Close(descriptor_); }

bool LocalSyncBatch::Cover(const std::string& directory) {
  {
    const std::lock_guard lock(mutex_);
    if (covered_.contains(directory)) return true;
  }
  if (disk_.FileSystemOf(directory) != file_system_) return false;
  const std::lock_guard lock(mutex_);
  // With the folders between it and the root: what is mounted in between is not looked for, as it
  // would have to lead back to the same file system.
  covered_.insert(directory);
  for (std::string path = ParentPath(directory); path.starts_with(root_); path = ParentPath(path)) {
    if (!covered_.insert(path).second || path == root_) break;
  }
  return true;
}

Status LocalSyncBatch::Sync() {
  std::set<std::string> covered;
  {
    const std::lock_guard lock(mutex_);
    covered.swap(covered_);
  }
  const auto noted = directories_.Noted(covered);
  const int result = disk_.SyncFileSystem(descriptor_);
  if (result < 0) return DiskError(-result, "make durable the files below", root_);
  directories_.Forget(noted);
  return directories_.EnsureDurable(root_);  // The folders above it.
}

}  // namespace sluice::fs
