// What jobs have kept of their file sinks: read from the checkpoints on this machine's disks.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "connectors/filesystem/sink/commit_status.h"

namespace sluice::engine {

/// The newest state of any job that writes `table` ("c.d.t"), below the folder of all jobs; nullopt
/// when there is none. Checkpoints that cannot be read are passed over.
std::optional<connectors::filesystem::CommitStatus> FindCommitStatus(const std::string& root,
                                                                     const std::string& table);

}  // namespace sluice::engine
