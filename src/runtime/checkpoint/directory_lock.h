// Keeps two processes from using one state folder at a time.
#pragma once

#include <memory>
#include <string>

#include "common/result.h"

namespace sluice::runtime {

/// Held while it lives; the system releases it when the process dies, however it dies.
class DirectoryLock {
 public:
  ~DirectoryLock();
  DirectoryLock(const DirectoryLock&) = delete;
  DirectoryLock& operator=(const DirectoryLock&) = delete;

  /// Locks `directory`, which is made if missing. Fails with kAlreadyExists naming the process that
  /// has it.
  static Result<std::unique_ptr<DirectoryLock>> Acquire(const std::string& directory);
  /// True while some process, this one too, holds the lock of `directory`.
  static bool IsHeld(const std::string& directory);
  /// Removes the lock's file and, when nothing else is in it, the directory.
  void ReleaseAndRemove();

 private:
  DirectoryLock(std::string directory, int descriptor)
      : directory_(std::move(directory)), descriptor_(descriptor) {}
  std::string directory_;
  int descriptor_;
};

}  // namespace sluice::runtime
