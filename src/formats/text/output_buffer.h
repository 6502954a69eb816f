// Characters under construction: an encoder's inner loop writes at a pointer after asking for room
// once per row or text.
#pragma once

#include <cstring>
#include <memory>
#include <string_view>

#include "formats/text/swar.h"

namespace sluice::formats::text {

class OutputBuffer {
 public:
  /// Makes room for `bytes` more and returns where to write.
  char* Room(size_t bytes) {
    if (static_cast<size_t>(limit_ - end_) < bytes) Grow(bytes);
    return end_;
  }
  /// Says up to where was written.
  void SetEnd(char* end) { end_ = end; }
  void Put(char c) {
    *Room(1) = c;
    ++end_;
  }
  void Put(std::string_view text) {
    char* to = Room(text.size());
    CopyShort(text.data(), text.size(), to);
    end_ = to + text.size();
  }
  size_t size() const { return static_cast<size_t>(end_ - begin_.get()); }
  std::string_view view() const { return {begin_.get(), size()}; }
  char* at(size_t position) { return begin_.get() + position; }
  void Truncate(size_t size) { end_ = begin_.get() + size; }

 private:
  void Grow(size_t bytes) {
    const size_t used = size();
    const size_t capacity = (used + bytes) * 2 + 4096;
    std::unique_ptr<char[]> larger(new char[capacity]);  // Not initialised, unlike make_unique's.
    if (used > 0) std::memcpy(larger.get(), begin_.get(), used);
    begin_ = std::move(larger);
    end_ = begin_.get() + used;
    limit_ = begin_.get() + capacity;
  }

  std::unique_ptr<char[]> begin_;
  char* end_ = nullptr;
  char* limit_ = nullptr;
};

}  // namespace sluice::formats::text
