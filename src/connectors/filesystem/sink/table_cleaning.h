// CLEAN TABLE: removes what dead jobs have left in a table and nobody needs: hidden part files,
// uploads that were never completed, staging directories.
//
// A left-over goes only if it is old enough, no state that is kept names it, and its job does not
// run. A running job sweeps its own left-overs (leftovers.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "fs/file_system.h"
#include "runtime/state.h"

namespace sluice::connectors::filesystem {

/// What one committer's state keeps alive: "sink:…:committer" of a checkpoint or savepoint.
struct NamedFiles {
  std::string lineage;
  std::vector<std::string> paths;  // Hidden files, uploads, raw and merged files.
};
/// Handles of another kind of file system are left out. Fails with kCorrupt, also for versions that
/// are not known: what such a state names cannot be told.
Result<NamedFiles> ReadNamedFiles(fs::FileSystem& file_system,
                                  const runtime::StateReader& committer);

/// All that the states on this machine say.
struct KnownStates {
  struct Running {
    std::string job;       // For messages.
    int64_t since_ms = 0;  // Start of its process.
  };
  std::map<std::string, std::string> named;     // Path -> the folder of the state that names it.
  std::map<std::string, std::string> lineages;  // Of all states -> the folder.
  std::map<std::string, Running> running;       // By lineage.
  /// Jobs that run and have no checkpoint yet: their files are not known by lineage.
  std::vector<Running> starting;
};

/// Something hidden in a table that a job of ours has made.
struct Leftover {
  enum class Kind { kInProgress, kUpload, kStaging, kRaw, kMarker };
  Kind kind = Kind::kInProgress;
  std::string path;  // An upload: "<final path>?uploadId=<id>".
  int64_t size_bytes = 0;
  int64_t modified_ms = 0;
  /// Of its job, as far as the name tells; of files of merging jobs only the first 15 digits.
  std::string lineage;
  std::string cut_off;  // The marker of an exchange that has begun; "" mostly.
  std::optional<fs::Publisher::HandleInfo> upload;
};
/// "in-progress file", "upload", …
std::string_view KindText(Leftover::Kind kind);

/// Blocking: walks the table. A table that is not there has none. To be called before the states
/// are read: what a job begins in between is then not in the list.
Result<std::vector<Leftover>> ListLeftovers(fs::FileSystem& file_system, const std::string& root);

/// Why it may go, or why it stays.
struct Verdict {
  bool remove = false;
  std::string why;
};
Verdict Judge(const Leftover& leftover, const KnownStates& states, int64_t now_ms,
              int64_t min_age_ms);

/// Blocking. One that is gone already is OK.
Status RemoveLeftover(fs::FileSystem& file_system, const Leftover& leftover);

}  // namespace sluice::connectors::filesystem
