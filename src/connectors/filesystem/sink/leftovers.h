// Finds what earlier attempts of the same job have left behind in a table: hidden files and staging
// directories, recognised by their whole tag, uploads to an object store, recognised by the names
// of the attempts, and published files that the restored checkpoint does not know.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "common/result.h"
#include "fs/file_system.h"

namespace sluice::connectors::filesystem {

struct SweepRequest {
  std::string root;  // Of the table.
  std::string lineage;
  std::string current_tag;   // Of the attempt that runs: its files stay.
  std::string current_uuid;  // In its part names.
  /// StableHash of the hidden files and uploads that the restored checkpoint names: there may be a
  /// hundred thousand. Two of the same hash would leave a left-over.
  std::unordered_set<uint64_t> spared;
  bool Spares(const std::string& path) const;
  /// "part-<uuid>-<subtask>-" of earlier attempts and the first number that the restored checkpoint
  /// does not cover.
  std::map<std::string, int64_t> known_names;
  bool remove_newer = false;    // Delete published files that are newer than the checkpoint.
  bool remove_staging = false;  // All is done: staging directories of the job may go as well.
};

struct SweepResult {
  int64_t removed = 0;
  std::vector<std::string> newer_files;  // Published after the restored checkpoint; at most 1,000.
};

/// Blocking: walks the whole table. A table that is not there has no left-overs.
Result<SweepResult> SweepLeftovers(fs::FileSystem& file_system, const SweepRequest& request);

}  // namespace sluice::connectors::filesystem
