// A checkpoint as the two files of its folder: `state` (what operators keep) and `_metadata` (what
// it is, and the length and checksum of `state`). `_metadata` is written last: a folder without it
// is no checkpoint.
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"
#include "runtime/checkpoint/checkpoint_data.h"

namespace sluice::runtime {

struct CheckpointFiles {
  std::string state;
  std::string metadata;
};

Result<CheckpointFiles> EncodeCheckpoint(const CheckpointData& data);

/// `directory` is for messages. Fails as DecodeRecordFile does, and with kCorrupt when the two
/// files do not belong together.
Result<CheckpointData> DecodeCheckpoint(std::string_view metadata, std::string_view state,
                                        const std::string& directory);

}  // namespace sluice::runtime
