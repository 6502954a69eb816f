// What jobs have kept of their file sinks: read from the checkpoints on this machine's disks.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/options.h"
#include "connectors/filesystem/sink/commit_status.h"
#include "connectors/filesystem/sink/table_cleaning.h"

namespace sluice::engine {

/// The newest state of any job that writes `table` ("c.d.t"), below the folder of all jobs; nullopt
/// when there is none. Checkpoints that cannot be read are passed over.
std::optional<connectors::filesystem::CommitStatus> FindCommitStatus(const std::string& root,
                                                                     const std::string& table);

/// All that the states below the folder of all jobs and in the folders of savepoints say of files
/// in `file_system`: execution.checkpointing.savepoint-dir, every folder into which a job of this
/// machine has written a savepoint, and those that jobs were started from. A state that is there
/// and cannot be read is an error: what it names cannot be told. Blocking.
Result<connectors::filesystem::KnownStates> SurveyStates(const OptionMap& configuration,
                                                         fs::FileSystem& file_system);

/// Remembers, below the folder of all jobs, that savepoints are written into `directory`.
void NoteSavepointFolder(const std::string& root, const std::string& directory);

}  // namespace sluice::engine
