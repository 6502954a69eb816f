// Finds the commas between values and the line ends in json text, 64 bytes at a time. A guide only:
// who uses a position checks what stands there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "formats/text/vector_level.h"

namespace sluice::formats::json {

/// Commas outside strings and line ends, in order. Escaped quotes are taken for quotes: what that
/// spoils ends with the line.
class StructureScan {
 public:
  explicit StructureScan(text::VectorLevel level = text::BestVectorLevel()) : level_(level) {}

  /// Scans [begin, end) of `text`, which is shorter than 4 GiB.
  void Start(const char* text, size_t begin, size_t end);

  /// The next `count` positions; null when the text has fewer.
  const uint32_t* Peek(size_t count) {
    if (filled_ - next_ < count && !Fill(count)) return nullptr;
    return positions_.data() + next_;
  }
  void Take(size_t count) { next_ += count; }
  /// Goes to the first position that is not before `position`.
  void SkipTo(size_t position) {
    for (const uint32_t* at = Peek(1); at != nullptr && *at < position; at = Peek(1)) Take(1);
  }

 private:
  bool Fill(size_t count);

  const text::VectorLevel level_;
  const char* text_ = nullptr;
  size_t at_ = 0;
  size_t end_ = 0;
  uint64_t in_string_ = 0;  // All ones when at_ is inside a string.
  size_t next_ = 0;
  size_t filled_ = 0;
  std::vector<uint32_t> positions_;
};

}  // namespace sluice::formats::json
