// What is done to commit a partition whose files are published (filesystem.md §13.5). Every policy
// may be called again for the same partition after a crash and for late rows.
#pragma once

#include <string>

#include "connectors/filesystem/sink/sink_options.h"
#include "fs/file_system.h"

namespace sluice::connectors::filesystem {

/// Runs the policies in their order; blocking. Fails at the first that fails. `tag` goes into
/// hidden names, so that what a crash leaves behind is known as ours.
Status CommitPartition(fs::FileSystem& file_system, const PartitionCommitOptions& options,
                       const std::string& directory, const std::string& tag);

}  // namespace sluice::connectors::filesystem
