// Which files of a watched directory have been seen, in some 10 bytes a path.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "connectors/filesystem/source/path_segment.h"
#include "fs/file_system.h"
#include "runtime/state.h"

namespace sluice::connectors::filesystem {

/// What makes two files the same.
enum class FileIdentity {
  kPath = 0,             // The path alone: a later change is reported and not read.
  kPathSizeAndTime = 1,  // A file that has changed is another file and read again, as a whole.
};

/// The set of files that are read or about to be.
///
/// A file is known by 80 bits of a hash. A new path is taken for a known one, and so left unread,
/// with a chance of n / 2^80: over the life of a table of a million paths 4 in 10^13, of a billion
/// 1 in 2 million. Of size and time 15 bits are kept to notice changes (one in 33,000 is missed).
///
/// Kept as sorted runs (PathSegment) of growing size, merged by and by, and the newest few
/// thousand in plain: adding rewrites little, and runs that have not changed are the same bytes
/// from checkpoint to checkpoint.
///
/// Not thread-safe; copies are cheap and share the runs. State: all of it, versioned.
class ProcessedPaths {
 public:
  explicit ProcessedPaths(FileIdentity identity = FileIdentity::kPath) : identity_(identity) {}

  enum class Seen { kNew, kSame, kChanged };
  /// Answer i belongs to file i. kNew marks it as seen, kChanged is answered once for each change.
  std::vector<Seen> Look(std::span<const fs::FileInfo* const> files);
  Seen Look(const fs::FileInfo& file);

  /// `present`: all files that are there now. What is not there is marked at the first call and
  /// forgotten at the next if it was not seen in between. Returns how many were forgotten.
  size_t ForgetAbsent(std::span<const fs::FileInfo* const> present);
  /// When ForgetAbsent was called last (wall clock, ms); 0: never. For the caller to keep.
  int64_t swept_ms() const { return swept_ms_; }
  void set_swept_ms(int64_t now_ms) { swept_ms_ = now_ms; }

  /// Paths known; one that has changed may be counted again until runs are merged.
  size_t size() const;
  /// Bytes in memory, which are also those in a checkpoint but for some dozens.
  size_t byte_size() const;

  void Snapshot(runtime::StateWriter* state) const;
  /// Reads what Snapshot of this or an earlier release has written. Fails with kCorrupt, and with
  /// kInvalidArgument when the state was made with another identity.
  Status Restore(const runtime::StateReader& state);

 private:
  PathEntry EntryOf(const fs::FileInfo& file) const;
  std::vector<std::optional<uint16_t>> MarksOf(std::span<const PathEntry> sorted) const;
  /// `entries`: sorted; newer than what is known under the same keys.
  void Add(std::vector<PathEntry> entries);
  void MergeRuns();
  Status RestoreFirstVersion(std::string_view bytes);

  FileIdentity identity_;
  int64_t swept_ms_ = 0;
  std::vector<PathSegment> runs_;  // Oldest first; of the same key the newest counts.
  std::vector<PathEntry> recent_;  // Sorted; newer than all runs.
};

}  // namespace sluice::connectors::filesystem
