// The state of a file writer in a checkpoint: the files that stay open over it.
#pragma once

#include <string>
#include <string_view>

#include "connectors/filesystem/sink/committable.h"
#include "connectors/filesystem/sink/rolling_policy.h"

namespace sluice::connectors::filesystem {

struct OpenFileState {
  OpenFile file;
  PartFileInfo info;
  int64_t row_count = 0;
  std::string layout;  // FileSinkPlan::layout_text it was written with.
};

// 2 adds "bulk_states" (one for each open file) and "layout"; 3 keeps "bulk_states" as a blob.
constexpr int64_t kWriterStateVersion = 3;

std::string EncodeOpenFile(const OpenFileState& state);
Result<OpenFileState> DecodeOpenFile(std::string_view bytes);

}  // namespace sluice::connectors::filesystem
