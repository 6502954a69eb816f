// Policies and extractors from a shared library of the user (include/sluice/partition_hooks.h).
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "sluice/partition_hooks.h"

namespace sluice::connectors::filesystem {

/// A loaded library. It stays loaded for the life of the process: code of it may still be on some
/// stack.
class HookLibrary {
 public:
  /// Fails with kInvalidArgument naming `option` when the file is no such library or of another
  /// version.
  static Result<std::shared_ptr<HookLibrary>> Load(const std::string& option,
                                                   const std::string& path);

  const std::string& path() const { return path_; }
  const sluice_partition_hooks_table& table() const { return table_; }

 private:
  std::string path_;
  sluice_partition_hooks_table table_ = {};
};

/// A policy of a library. Thread-safe.
class LibraryPolicy {
 public:
  static Result<std::unique_ptr<LibraryPolicy>> Open(std::shared_ptr<HookLibrary> library,
                                                     const std::vector<std::string>& parameters);
  ~LibraryPolicy();
  /// kUnavailable to try again, kInvalidArgument to stop.
  Status Commit(const sluice_partition& partition);

 private:
  LibraryPolicy(std::shared_ptr<HookLibrary> library, void* policy)
      : library_(std::move(library)), policy_(policy) {}
  const std::shared_ptr<HookLibrary> library_;
  void* const policy_;
  std::mutex mutex_;
};

/// An extractor of a library. Thread-safe.
class LibraryTime {
 public:
  static Result<std::unique_ptr<LibraryTime>> Open(std::shared_ptr<HookLibrary> library,
                                                   const std::vector<std::string>& parameters);
  ~LibraryTime();
  Result<std::optional<int64_t>> LocalMillis(const std::vector<std::string>& keys,
                                             const std::vector<std::optional<std::string>>& values);

 private:
  LibraryTime(std::shared_ptr<HookLibrary> library, void* time)
      : library_(std::move(library)), time_(time) {}
  const std::shared_ptr<HookLibrary> library_;
  void* const time_;
  std::mutex mutex_;
};

/// Pointers to `texts`, null for those that are not there; valid as long as they are.
std::vector<const char*> TextPointers(const std::vector<std::string>& texts);
std::vector<const char*> TextPointers(const std::vector<std::optional<std::string>>& texts);

}  // namespace sluice::connectors::filesystem
