// Where rows that wait go when they do not fit into memory.
#pragma once

#include <string>
#include <vector>

#include "common/options.h"
#include "common/result.h"

namespace sluice::connectors::filesystem {

/// What `io.tmp.dirs` names, as Flink reads it: a list separated by `,` or `:`. Without it TMPDIR,
/// else /tmp. At least one.
std::vector<std::string> TemporaryDirectories(const OptionMap& configuration);

/// Checks at the start of a job that files can be made there (known pitfalls 12.8). Makes nothing.
/// Fails with kInvalidArgument, which names the directory, what is wrong and the option.
Status CheckTemporaryDirectories(const std::vector<std::string>& directories);

}  // namespace sluice::connectors::filesystem
