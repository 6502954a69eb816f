// Merges finished files of one table into one: containers by their row groups where the format can,
// else by reading and writing their rows; text by its bytes. One file alone is copied.
#pragma once

#include <string>
#include <vector>

#include "connectors/filesystem/sink/file_layout.h"
#include "connectors/filesystem/sink/merge_gate.h"
#include "connectors/filesystem/sink/rate_limit.h"
#include "fs/file_system.h"

namespace sluice::connectors::filesystem {

struct MergeRequest {
  std::vector<std::string> inputs;  // Paths, in the order their rows take.
  std::string target;               // Final path.
  std::string tag;                  // For the hidden name.
  const FileLayout* layout = nullptr;
  TimeZone session_zone;
  arrow::MemoryPool* pool = nullptr;
  /// Each file begins with a record that readers skip: only the first file's is kept. For files of
  /// other writers; ours have none.
  bool header_records = false;
  /// Text may be of other writers: whether each file ends with a whole record is looked at.
  bool foreign = false;
  /// Text files of ours that are compressed (whole members, which may stand one behind the other).
  bool compressed = false;
  RateLimit* rate = nullptr;  // Null: as fast as it goes.
  /// Rows and bytes are moved behind it; making the result durable is not. Null: at once.
  MergeGate* gate = nullptr;
  /// Inputs that are open at a time.
  size_t most_open = 128;
};

struct MergedFile {
  std::string handle;  // Closed and durable, to be published.
  int64_t size_bytes = 0;
};

/// Blocking. Names the input that is missing or cannot be read; nothing is left behind on failure.
Result<MergedFile> MergeFiles(fs::FileSystem& file_system, const MergeRequest& request);

}  // namespace sluice::connectors::filesystem
