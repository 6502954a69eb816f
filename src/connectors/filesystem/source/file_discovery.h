// Turns what is in the table's directory into splits: once for a bounded read, again and again for
// a watched directory.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
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
  /// Rows of the parts of containers that FindAll left out because no filter can pass.
  int64_t rows_skipped() const { return rows_skipped_; }

  // For a watched directory: splits of files that `seen` does not know, which then knows them. A
  // known file that has changed is reported once. Ordered by modification time, so that a backlog
  // is read in the order it came. An empty file is not there yet.
  /// Lists everything. `watch` may be null.
  Result<std::vector<FileSplit>> FindNew(ProcessedPaths* seen, const fs::TreeWatch* watch);
  /// Looks at these paths, and at those whose minimum age has come meanwhile.
  Result<std::vector<FileSplit>> FindNewAmong(std::vector<std::string> paths, ProcessedPaths* seen,
                                              const fs::TreeWatch* watch);
  /// Object stores: lists from the last two directories on.
  Result<std::vector<FileSplit>> FindNewBehindCursor(ProcessedPaths* seen);
  /// Files beyond the first 32,768 of a look wait, unseen, until they are asked for; a look at
  /// everything finds them again.
  bool has_backlog() const { return !backlog_.empty(); }
  Result<std::vector<FileSplit>> TakeFromBacklog(ProcessedPaths* seen);
  /// When the next file is old enough to be looked at again with FindNewAmong; only once FindNew
  /// was told to keep them.
  std::optional<int64_t> NextYoungMs() const;
  /// Whether FindNewAmong will be asked for files that are too young now. Else listing finds them.
  void KeepYoung(bool keep) { keep_young_ = keep; }

 private:
  struct Found {
    fs::FileInfo file;
    PartitionValues partition;
  };
  /// The files among `files` that belong to the table, by their paths.
  Result<std::vector<Found>> Place(std::vector<fs::FileInfo> files);
  /// Leaves out what is empty, half written or too young.
  Result<std::vector<Found>> OnlyReadable(std::vector<Found> files, const fs::TreeWatch* watch);
  /// Since when a file has not changed. A time of change that is still to come (another machine's
  /// clock, an unpacked archive) decides nothing: then since it was first seen so.
  int64_t SettledMs(const fs::FileInfo& file, int64_t now);
  Result<std::vector<FileSplit>> TakeNew(std::vector<Found> files, ProcessedPaths* seen);
  /// Tells of those that have changed.
  static std::vector<Found> OnlyNew(std::vector<Found> files, ProcessedPaths* seen,
                                    std::vector<Found>* changed);
  void ForgetGone(const std::vector<Found>& files, ProcessedPaths* seen) const;
  void MoveCursor(const std::vector<Found>& files);
  Result<std::vector<PartitionDirectory>> WantedPartitions();
  Result<std::vector<PartitionDirectory>> FilterPartitions(
      std::vector<PartitionDirectory> partitions) const;
  Result<std::vector<Found>> FindFiles();
  void SortByTime(std::vector<Found>* files) const;
  Result<std::vector<Found>> ListFiles();
  Result<std::vector<FileSplit>> MakeSplits(const std::vector<Found>& files);
  Status SplitContainer(const Found& found, std::vector<FileSplit>* splits);
  void SplitText(const Found& found, int64_t split_bytes, std::vector<FileSplit>* splits) const;
  Status NoteEmpty(const std::string& path);

  const std::shared_ptr<const FileSourceSpec> spec_;
  const Clock* const clock_;
  const int parallelism_;
  bool empty_reported_ = false;
  int64_t rows_skipped_ = 0;
  bool keep_young_ = false;
  std::deque<Found> backlog_;  // By time; read before anything that is found later.
  struct Ahead {
    int64_t modified_ms = 0;
    int64_t since_ms = 0;
  };
  std::map<std::string, Ahead> ahead_;    // Of files that say to have changed later than now.
  std::map<std::string, int64_t> young_;  // Path -> when it is old enough (wall clock, ms).
  // The two greatest directories that have held a file, by the order of bytes.
  std::array<std::string, 2> last_directories_;
};

}  // namespace sluice::connectors::filesystem
