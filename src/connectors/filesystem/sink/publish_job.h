// One piece of the publishing of a checkpoint's files, on the I/O pool.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "connectors/filesystem/sink/pending_files.h"
#include "fs/file_system.h"
#include "runtime/fence.h"

namespace sluice::connectors::filesystem {

/// Add() on the committer's task, then Run() on an I/O thread, then the rest on the task.
class PublishJob {
 public:
  /// `merged`: what the file may have been merged into already; "": nothing. Ordered by directory.
  void Add(const PendingFiles::File& file, const FileCommittable& decoded, std::string merged);
  /// Publishes all, in two halves, unless this process is no longer the job's. Blocking.
  void Run(fs::FileSystem& file_system, const runtime::Fence* fence);

  const Status& status() const { return status_; }
  int64_t file_count() const { return static_cast<int64_t>(files_.size()); }
  int64_t size_bytes() const { return size_bytes_; }

 private:
  size_t FirstHalf() const;
  void Publish(fs::FileSystem& file_system, size_t begin, size_t end);

  std::vector<PendingFiles::File> files_;
  std::map<std::string, std::string> merged_;  // By the handle of the raw file.
  int64_t size_bytes_ = 0;
  Status status_;
};

}  // namespace sluice::connectors::filesystem
