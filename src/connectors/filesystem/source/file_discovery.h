// Turns what is in the table's directory into splits: once for a bounded read, again and again for
// a watched directory.
#pragma once

#include <atomic>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/clock.h"
#include "connectors/filesystem/source/file_source_spec.h"
#include "connectors/filesystem/source/file_split.h"
#include "connectors/filesystem/source/processed_paths.h"

namespace sluice::connectors::filesystem {

/// Not thread-safe; blocking.
class FileDiscovery {
 public:
  FileDiscovery(std::shared_ptr<const FileSourceSpec> spec, const Clock* clock, int parallelism)
      : spec_(std::move(spec)), clock_(clock), parallelism_(parallelism) {}

  /// All splits of a bounded read.
  Result<std::vector<FileSplit>> FindAll();
  /// Splits of files that `seen` does not know; marks them. A known file that has changed is
  /// reported once. Ordered by modification time, so that a backlog is read in the order it came.
  Result<std::vector<FileSplit>> FindNew(ProcessedPaths* seen);

 private:
  struct Found {
    fs::FileInfo file;
    PartitionValues partition;
  };
  Result<std::vector<PartitionDirectory>> WantedPartitions();
  Result<std::vector<PartitionDirectory>> FilterPartitions(
      std::vector<PartitionDirectory> partitions) const;
  Result<std::vector<Found>> FindFiles();
  Result<std::vector<Found>> ListFiles();
  Result<std::vector<FileSplit>> MakeSplits(const std::vector<Found>& files);
  Status SplitContainer(const Found& found, std::vector<FileSplit>* splits) const;
  void SplitText(const Found& found, int64_t split_bytes, std::vector<FileSplit>* splits) const;
  Status NoteEmpty(const std::string& path);

  const std::shared_ptr<const FileSourceSpec> spec_;
  const Clock* const clock_;
  const int parallelism_;
  bool empty_reported_ = false;
};

}  // namespace sluice::connectors::filesystem
