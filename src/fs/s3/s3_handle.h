// The bytes that stand for a part file on its way to an object store in checkpoint state.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "fs/s3/s3_xml.h"

namespace sluice::fs::s3 {

/// Invariant: the sizes of the parts and of the tail add up to length_bytes.
struct UploadHandle {
  std::string path;       // "s3://bucket/key", the final place.
  std::string upload_id;  // Empty: no upload was begun, all bytes are in the tail.
  std::vector<UploadedPart> parts;
  std::string tail;  // Bytes that are no part yet.
  int64_t length_bytes = 0;
};

/// Versioned and checksummed.
std::string EncodeUploadHandle(const UploadHandle& handle);
/// Fails with kCorrupt.
Result<UploadHandle> DecodeUploadHandle(std::string_view bytes);

}  // namespace sluice::fs::s3
