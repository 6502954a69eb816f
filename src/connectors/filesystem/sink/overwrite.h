// Replaces what a partition holds by what INSERT OVERWRITE has written, in one step where the file
// system can exchange directories.
//
// The new files are written to a hidden directory beside the partition. When all are published
// there, the two directories change places; then hidden entries of the old one (markers of others)
// move over and the rest is deleted. A marker file travels with the new directory: where it is
// tells a process that comes back how far its predecessor got, so every step may be repeated.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "fs/file_system.h"

namespace sluice::connectors::filesystem {

/// "<parent>/.<name>.overwrite.<lineage>": the same for all attempts of a job.
std::string StagingDirectory(const std::string& directory, const std::string& lineage);

struct Replacement {
  std::string directory;  // The partition, or the table's root.
  std::string
      staging;  // Its staging directory; on object stores no directory, but a name of its own.
  std::vector<std::string> handles;  // New files, to be published into `staging`; may be empty.
  /// In messages.
  std::string_view statement = "INSERT OVERWRITE";
  /// Where the directories cannot be exchanged nothing is replaced, and the staging directory goes;
  /// otherwise the files are moved one by one.
  bool must_exchange = false;
  /// Names of the only old files that go: what somebody has added since they were listed moves over
  /// as hidden entries do. Empty: all old files go.
  std::vector<std::string> replaced = {};
};

/// Publishes the new files and replaces the old content; blocking. Idempotent after a crash at any
/// point. Entries whose names begin with '.' or '_' survive.
Status ReplaceDirectory(fs::FileSystem& file_system, const Replacement& replacement);

}  // namespace sluice::connectors::filesystem
