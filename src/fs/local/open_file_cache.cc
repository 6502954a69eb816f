#include "fs/local/open_file_cache.h"

#include <cerrno>
#include <utility>

namespace sluice::fs {

int OpenFileCache::Open(const Entry& entry, Mode mode) {
  return mode == Mode::kCreate ? disk_.OpenNew(entry.path) : disk_.OpenExisting(entry.path);
}

// Others go on while the system creates a file: that takes longer than everything else here.
Result<OpenFileCache::Use> OpenFileCache::Acquire(Entry* entry, Mode mode) {
  {
    const std::lock_guard lock(mutex_);
    if (entry->descriptor >= 0) {
      open_.splice(open_.begin(), open_, entry->position);
      entry->in_use = true;
      return Use(this, entry);
    }
    MakeRoom(limit_ - 1 - opening_);
    ++opening_;
  }
  int result = Open(*entry, mode);
  if (result == -EMFILE || result == -ENFILE) {
    // Others of this process (readers, sockets) use more than their share: make do with fewer.
    {
      const std::lock_guard lock(mutex_);
      MakeRoom(static_cast<int>(open_.size() / 2));
    }
    result = Open(*entry, mode);
  }
  const std::lock_guard lock(mutex_);
  --opening_;
  if (result < 0) {
    return DiskError(-result, mode == Mode::kCreate ? "create" : "open", entry->path);
  }
  entry->descriptor = result;
  open_.push_front(entry);
  entry->position = open_.begin();
  entry->in_use = true;
  return Use(this, entry);
}

void OpenFileCache::Release(Entry* entry) {
  const std::lock_guard lock(mutex_);
  entry->in_use = false;
}

void OpenFileCache::MakeRoom(int wanted) {
  auto it = open_.end();
  while (static_cast<int>(open_.size()) > wanted && it != open_.begin()) {
    --it;
    if ((*it)->in_use) continue;
    // An error of close is not lost: the data is still to be synced through another descriptor.
    (void)disk_.Close((*it)->descriptor);
    (*it)->descriptor = -1;
    it = open_.erase(it);
  }
}

Status OpenFileCache::Close(Entry* entry) {
  int descriptor = -1;
  {
    const std::lock_guard lock(mutex_);
    if (entry->descriptor < 0) return {};
    descriptor = std::exchange(entry->descriptor, -1);
    open_.erase(entry->position);
  }
  const int result = disk_.Close(descriptor);
  if (result < 0) return DiskError(-result, "close", entry->path);
  return {};
}

}  // namespace sluice::fs
