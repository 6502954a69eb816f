// A part file whose bytes are compressed on the way.
//
// Invariants:
//  - What lies between two persists is a whole member: cut back to the length of any handle, the
//  file is complete and readable.
//  - No row, no member: a file that is persisted without new bytes does not grow.
// Thread: as PartFileWriter.
#pragma once

#include <memory>
#include <string>

#include "connectors/filesystem/compression/compression.h"
#include "fs/file_system.h"

namespace sluice::connectors::filesystem {

/// Compresses one member after another. Not thread-safe.
class MemberEncoder {
 public:
  virtual ~MemberEncoder() = default;
  /// Appends to `out` what comes out for `bytes`, and with `end` the rest of the member.
  virtual Status Encode(std::string_view bytes, bool end, std::string* out) = 0;
  /// What it holds between Begin and the end of a member.
  virtual int64_t memory_bytes() const = 0;
};

/// Ready for one member. Never for kNone.
Result<std::unique_ptr<MemberEncoder>> MakeMemberEncoder(Compression compression);

/// `writer` itself for kNone. size_bytes() counts compressed bytes, as far as they have come out.
std::unique_ptr<fs::PartFileWriter> CompressPart(std::unique_ptr<fs::PartFileWriter> writer,
                                                 Compression compression);

}  // namespace sluice::connectors::filesystem
