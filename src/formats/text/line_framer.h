// Records that end at a line feed: json, raw and the changelog JSONs.
#pragma once

#include <cstring>
#include <string_view>

#include "formats/format.h"

namespace sluice::formats::text {

class LineFramer final : public RowFramer {
 public:
  size_t CompletePrefix(std::string_view bytes, bool at_end_of_file) override {
    if (at_end_of_file || bytes.empty()) return bytes.size();
    const void* last = ::memrchr(bytes.data(), '\n', bytes.size());
    return last == nullptr ? 0
                           : static_cast<size_t>(static_cast<const char*>(last) - bytes.data()) + 1;
  }
  bool splittable() const override { return true; }
};

}  // namespace sluice::formats::text
