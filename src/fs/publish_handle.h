// The bytes that stand for a part file in checkpoint state, for file systems that publish by
// rename.
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"
#include "fs/file_system.h"

namespace sluice::fs {

/// Where a part file is written before it is published: ".<name>.inprogress.<attempt>" beside its
/// final place.
std::string HiddenPartPath(const std::string& final_path, std::string_view attempt);

/// Versioned and checksummed: a handle that was cut or altered is refused, never guessed at.
std::string EncodePublishHandle(const Publisher::HandleInfo& info);

/// Fails with kCorrupt when the bytes are not a handle of a known version.
Result<Publisher::HandleInfo> DecodePublishHandle(std::string_view handle);

}  // namespace sluice::fs
