#include "formats/orc/stride_positions.h"

#include "formats/orc/wire.h"

namespace sluice::formats::orc_format {

StridePositions ParsePositions(const BlockCodec& codec, std::string_view stream) {
  constexpr size_t kMostIndexBytes = 64 << 20;
  const auto content = codec.DecodeAll(stream, kMostIndexBytes);
  if (!content.ok()) return {};
  StridePositions positions;
  WireReader index(*content);
  while (index.Next()) {
    if (index.field() != 1) continue;
    std::vector<uint64_t>& stride = positions.emplace_back();
    WireReader entry(index.bytes());
    while (entry.Next()) {
      if (entry.field() == 1) entry.AppendNumbers(&stride);
    }
    if (!entry.ok()) return {};
  }
  return index.ok() ? positions : StridePositions();
}

}  // namespace sluice::formats::orc_format
