// Where strides begin in the streams of a column, as its row index tells.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "formats/orc/block_stream.h"

namespace sluice::formats::orc_format {

/// By stride: the numbers of the column's streams, one stream behind the other.
using StridePositions = std::vector<std::vector<uint64_t>>;

/// Reads a stream of kind kRowIndex; empty when it is damaged.
StridePositions ParsePositions(const BlockCodec& codec, std::string_view stream);

/// Hands out the positions of one stride in order.
class PositionCursor {
 public:
  explicit PositionCursor(const std::vector<uint64_t>& positions) : positions_(positions) {}
  /// 0 behind the last.
  uint64_t Next() { return at_ < positions_.size() ? positions_[at_++] : 0; }

 private:
  const std::vector<uint64_t>& positions_;
  size_t at_ = 0;
};

}  // namespace sluice::formats::orc_format
