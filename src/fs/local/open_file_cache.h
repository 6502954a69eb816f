// Descriptors of open part files: at most a limit at a time, so that ten thousand open partitions
// need no ten thousand descriptors. A cold file's descriptor is closed and opened again when it is
// written next.
#pragma once

#include <list>
#include <mutex>
#include <string>

#include "fs/local/disk.h"

namespace sluice::fs {

/// Thread-safe; each Entry is used by one thread at a time.
class OpenFileCache {
 public:
  explicit OpenFileCache(Disk& disk) : disk_(disk), limit_(disk.open_file_limit()) {}

  struct Entry {
    explicit Entry(std::string file_path) : path(std::move(file_path)) {}
    const std::string path;

   private:
    friend class OpenFileCache;
    int descriptor = -1;
    bool in_use = false;
    std::list<Entry*>::iterator position;
  };

  /// A pinned descriptor; given back when it goes out of scope.
  class Use {
   public:
    Use(OpenFileCache* cache, Entry* entry) : cache_(cache), entry_(entry) {}
    Use(Use&& other) noexcept : cache_(other.cache_), entry_(other.entry_) {
      other.entry_ = nullptr;
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
    Use& operator=(Use&&) = delete;
    ~Use() {
      if (entry_ != nullptr) cache_->Release(entry_);
    }
    int descriptor() const { return entry_->descriptor; }

   private:
    OpenFileCache* cache_;
    Entry* entry_;
  };

  enum class Mode { kCreate, kExisting };
  /// Opens the file unless it is open. Fails with the errno as Status ("Cannot create …").
  Result<Use> Acquire(Entry* entry, Mode mode);
  /// Closes the descriptor if it is open. Idempotent.
  Status Close(Entry* entry);

 private:
  void Release(Entry* entry);
  int Open(const Entry& entry, Mode mode);
  /// Closes descriptors that nobody uses, coldest first, until one more fits or none is left.
  void MakeRoom(int wanted);

  Disk& disk_;
  const int limit_;
  std::mutex mutex_;
  std::list<Entry*> open_;  // Most recently used first.
  int opening_ = 0;         // By threads that are not holding the mutex meanwhile.
};

}  // namespace sluice::fs
