// Compression of the blocks of a container (Avro specification, "Required Codecs" and "Optional
// Codecs").
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/result.h"

namespace sluice::formats::avro {

enum class CodecKind : uint8_t { kNull, kDeflate, kSnappy, kBzip2, kXz, kZstandard };

/// "zstandard", as it stands in the header of a file.
std::string_view CodecName(CodecKind kind);
/// Fails with kInvalidArgument "Unrecognized codec: lz9." and the names there are.
Result<CodecKind> FindCodec(std::string_view name);

/// What one block may hold decompressed. A record larger than that cannot be written nor read:
/// offsets of text columns have 31 bits.
constexpr int64_t kMaxBlockBytes = int64_t{1} << 30;

/// Not thread-safe.
class BlockCodec {
 public:
  static std::unique_ptr<BlockCodec> Make(CodecKind kind);
  virtual ~BlockCodec() = default;

  /// Replaces `out`. Fails only for want of memory.
  virtual Status Compress(std::string_view plain, std::string* out) = 0;
  /// Replaces `out`; the whole of `packed` must be one compressed block of at most kMaxBlockBytes.
  /// Fails with kDataError, never with more than that allocated.
  virtual Status Decompress(std::string_view packed, std::string* out) = 0;
};

}  // namespace sluice::formats::avro
