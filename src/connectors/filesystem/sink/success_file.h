// The policy success-file: a marker in the partition's directory, empty or with what the partition
// holds as JSON.
#pragma once

#include "connectors/filesystem/sink/commit_policy.h"

namespace sluice::connectors::filesystem {

/// `with_content`: rows, files and source positions as JSON instead of nothing. An old marker is
/// replaced in one step: readers see it or the new one.
std::shared_ptr<CommitPolicy> MakeSuccessFilePolicy(std::string name, bool with_content);

}  // namespace sluice::connectors::filesystem
