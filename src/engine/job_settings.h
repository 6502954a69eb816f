// From session configuration to the settings of a job: checkpoints, restarts, parallelism, memory,
// the folder of its state.
#pragma once

#include <string>

#include "common/options.h"
#include "runtime/job.h"

namespace sluice::engine {

struct JobIdentity {
  std::string name;    // pipeline.name, else "insert-into_c.d.t".
  std::string folder;  // Of the job's state, below the checkpoint root.
};

/// Subtasks by default: table.exec.resource.default-parallelism, parallelism.default, else the
/// machine's cores.
Result<int> DefaultParallelism(const OptionMap& configuration);

/// The folder below which every job keeps its state: execution.checkpointing.dir, else the user's
/// state folder.
std::string CheckpointRoot(const OptionMap& configuration);

/// A job is found again by pipeline.name, else by script and default name.
JobIdentity IdentityOf(const OptionMap& configuration, const std::string& script_name,
                       const std::string& default_name);

/// `needs_checkpoints`: a streaming job gets an interval of 60 s when none is configured.
Result<runtime::JobSettings> MakeJobSettings(const OptionMap& configuration,
                                             const JobIdentity& identity, bool streaming,
                                             bool needs_checkpoints, bool durable);

}  // namespace sluice::engine
