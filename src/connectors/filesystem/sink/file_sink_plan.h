// Everything about one INSERT into a filesystem table that writers and committer share. Made at
// planning, immutable but for the view.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connectors/filesystem/sink/commit_policy.h"
#include "connectors/filesystem/sink/commit_trigger.h"
#include "connectors/filesystem/sink/commit_view.h"
#include "connectors/filesystem/sink/file_layout.h"
#include "connectors/filesystem/sink/sink_options.h"
#include "formats/format.h"

namespace sluice::connectors::filesystem {

/// Bounds of one writer.
struct WriterLimits {
  /// Part files open at once; above it the least recently used is closed. The file system keeps
  /// fewer descriptors; this bounds what stands behind each file.
  int64_t open_files = 16'384;
  /// Rows of a bucket that are gathered before a bulk encoder sees them: below 256 its speed falls,
  /// and with many open files each call touches cold dictionaries and pages, so that thousands at a
  /// time are faster still.
  int64_t gathered_rows = 4096;
  int64_t least_gathered_rows = 256;
  /// Files on their way to disk at once: bounds their memory, and is enough to keep a disk busy.
  int64_t closing_files = 64;
  /// A row group is ended early only when that gives back at least this much.
  int64_t early_row_group_bytes = 1 << 20;
  /// Rows of unfinished row groups that one writer adds to a checkpoint, of all its files that stay
  /// open; above it the largest row groups end early. Each checkpoint writes them anew.
  int64_t encoder_state_bytes = 64 << 20;
  /// Rows are sorted by partition (SortRows::kAuto) from a batch on that has this many partitions
  /// with this few rows each, on average.
  int64_t many_partitions = 64;
  int64_t few_rows = 128;
  /// Sorted rows of a partition that are worth an open file.
  int64_t open_file_bytes = 64 << 10;
  /// Rows that are sorted at once, and sorted ones that are kept in memory; beyond, on disk. Of one
  /// writer; less under a small memory limit.
  int64_t sort_bytes = 32 << 20;
  int64_t sorted_bytes = 128 << 20;
};

struct FileSinkPlan {
  std::string table;    // For messages.
  std::string sink_id;  // Of this INSERT: two into one table of a job differ.
  std::string path;     // As the user wrote it; located anew by every attempt.
  fs::FileSystems* file_systems = nullptr;

  FileLayout layout;  // Its columns are the physical ones without the partition keys.
  Compression compression = Compression::kNone;
  std::string part_prefix = "part";  // In front of the names of files, and behind them.
  std::string part_suffix;
  TimeZone session_zone;
  std::vector<int> file_columns;  // Their places in the rows that come.

  std::vector<std::string> partition_keys;
  std::vector<SqlType> partition_types;
  std::vector<int> partition_columns;  // Places of the keys in the rows.
  /// By key: the static text, nullopt for a dynamic key.
  std::vector<std::optional<std::string>> static_values;
  std::string default_partition_name;

  bool streaming = true;
  bool overwrite = false;
  RollingPolicy rolling = RollingPolicy::Never();
  PartitionCommitOptions commit;
  CommitPolicies policies;  // Of `commit`, in their order.
  /// Some policy tells which files a partition has got.
  bool policies_tell_files = false;
  /// Set for a partitioned streaming table with a policy.
  std::optional<CommitTrigger> trigger;
  /// Differs when files are written in another way (format, options, columns): a file that stayed
  /// open is then finished as it is and not continued.
  std::string layout_text;
  /// Containers stay open over checkpoints.
  bool spans_checkpoints = false;
  CompactionOptions compaction;
  /// Leave records of what was published (table_record.h).
  bool record = false;
  WriterLimits limits;
  SortRows sort_rows = SortRows::kAuto;
  /// Of sorted rows beyond the memory, taken in turn by the writers.
  std::vector<std::string> temporary_directories;
  std::shared_ptr<CommitView> view = std::make_shared<CommitView>();
  /// Delete what a newer, abandoned run has published after the restored checkpoint.
  bool remove_abandoned = false;

  /// Rows may wait sorted by partition instead of each going into an open file at once.
  bool may_sort() const {
    return sort_rows != SortRows::kNever && !fully_static() &&
           // Where rows change others they keep their order among all partitions' groups.
           layout.format->write_kinds.insert_only() &&
           // What is late is decided when a row comes.
           (!trigger || commit.late_rows == LateRows::kAppend);
  }
  bool fully_static() const {
    for (const auto& value : static_values) {
      if (!value) return false;
    }
    return true;  // Also without partitions.
  }
  /// Where the files go. Fails as FileSystems::Locate does.
  struct Place {
    std::shared_ptr<fs::FileSystem> file_system;
    std::string root;
    std::string late_root;  // Of late rows that are kept aside; else empty.
  };
  Result<Place> Locate() const;
  /// The directory below `root` of these values.
  std::string Directory(const std::string& root, const PartitionValues& values) const;
};

}  // namespace sluice::connectors::filesystem
