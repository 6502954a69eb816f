// Where jobs keep their state.
#pragma once

#include <string>

#include "common/options.h"

namespace sluice::engine {

/// The folder below which every job keeps its state: execution.checkpointing.dir, else the user's
/// state folder.
std::string StateFolder(const OptionMap& configuration);

}  // namespace sluice::engine
