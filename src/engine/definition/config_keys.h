// Every SET key that the engine knows, with type, default and doc (sql.md §10). One list: SET
// checks against it, warns with the nearest name for unknown keys, and docs are made from it.
#pragma once

#include <span>

#include "common/options.h"

namespace sluice::engine {

std::span<const OptionSpec> ConfigKeys();

/// The canonical key of an older name ("state.checkpoints.dir" -> "execution.checkpointing.dir");
/// the key itself otherwise.
std::string_view CanonicalKey(std::string_view key);

/// Types and allowed values of known keys; fails with the key and the reason. Unknown keys are a
/// warning in the log with the nearest name.
Status ValidateConfiguration(const OptionMap& configuration);

/// Reads typed values: an OptionReader over `configuration` with ConfigKeys().
OptionReader ReadConfig(const OptionMap& configuration);

}  // namespace sluice::engine
