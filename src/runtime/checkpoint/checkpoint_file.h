// A checkpoint as the files of its folder: `state` (what operators keep), `_metadata` (what it is,
// and the length and checksum of `state`), and for each large blob (StateWriter::PutBlob) a file of
// its own, named after its content so that the next checkpoint can share it. `_metadata` is written
// last: a folder without it is no checkpoint.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "runtime/checkpoint/checkpoint_data.h"

namespace sluice::runtime {

/// Names of the files of blobs begin so.
constexpr std::string_view kBlobFilePrefix = "blob-";

struct CheckpointBlob {
  std::string file_name;
  std::string_view bytes;  // Of a field of the CheckpointData.
};

struct CheckpointFiles {
  std::string state;
  std::string metadata;
  std::vector<CheckpointBlob> blobs;  // Each file once.
};

Result<CheckpointFiles> EncodeCheckpoint(const CheckpointData& data);

/// Gives the bytes of a blob's file.
using BlobReader = std::function<Result<std::string>(const std::string& file_name)>;

/// `directory` is for messages. Fails as DecodeRecordFile does, and with kCorrupt when the files do
/// not belong together.
Result<CheckpointData> DecodeCheckpoint(std::string_view metadata, std::string_view state,
                                        const std::string& directory,
                                        const BlobReader& read_blob = {});

}  // namespace sluice::runtime
