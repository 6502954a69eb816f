// Reads Avro's binary encoding with every length checked against what is there.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "common/varint.h"
#include "formats/text/swar.h"

namespace sluice::formats::avro {

/// A position in bytes that the caller keeps alive. Reads return false at the end of the bytes or
/// for a number that has no end; the position is then where the trouble is.
class BinaryInput {
 public:
  BinaryInput() = default;
  explicit BinaryInput(std::string_view bytes)
      : begin_(bytes.data()), at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool at_end() const { return at_ == end_; }
  int64_t remaining() const { return end_ - at_; }
  int64_t position() const { return at_ - begin_; }

  bool ReadByte(uint8_t* byte) {
    if (at_ == end_) return false;
    *byte = static_cast<uint8_t>(*at_++);
    return true;
  }

  /// A zigzag number of 64 bits in one to ten bytes.
  bool ReadLong(int64_t* value) {
    if (at_ != end_ && static_cast<signed char>(*at_) >= 0) [[likely]] {
      *value = FromZigzag(static_cast<uint8_t>(*at_++));
      return true;
    }
    return ReadLongerLong(value);
  }

  /// Also false when the number does not fit in 32 bits.
  bool ReadInt(int32_t* value) {
    int64_t wide = 0;
    if (!ReadLong(&wide) || wide != static_cast<int32_t>(wide)) return false;
    *value = static_cast<int32_t>(wide);
    return true;
  }

  template <typename T>
  bool ReadFixed(T* value) {  // float and double, little endian.
    if (remaining() < static_cast<int64_t>(sizeof(T))) return false;
    std::memcpy(value, at_, sizeof(T));
    static_assert(std::endian::native == std::endian::little);
    at_ += sizeof(T);
    return true;
  }

  bool ReadBytes(int64_t size, std::string_view* bytes) {
    if (size < 0 || size > remaining()) return false;
    *bytes = {at_, static_cast<size_t>(size)};
    at_ += size;
    return true;
  }

  /// Bytes behind their length.
  bool ReadSized(std::string_view* bytes) {
    int64_t size = 0;
    return ReadLong(&size) && ReadBytes(size, bytes);
  }

  bool Skip(int64_t bytes) {
    if (bytes < 0 || bytes > remaining()) return false;
    at_ += bytes;
    return true;
  }

  /// Over a number of any size, without looking at it.
  bool SkipLong() {
    int64_t ignored = 0;
    return ReadLong(&ignored);
  }

  /// The next byte where one is there, else -1.
  int peek() const { return at_ == end_ ? -1 : static_cast<uint8_t>(*at_); }
  void Advance() { ++at_; }

 private:
  bool ReadLongerLong(int64_t* value) {
    if (remaining() < 8) return ReadLongByBytes(value);
    uint64_t word = text::LoadWord(at_);
    const uint64_t ends = ~word & 0x8080808080808080;
    if (ends == 0) return ReadLongByBytes(value);
    const int bits = std::countr_zero(ends) + 1;  // Of the bytes up to the last.
    // Cuts off what follows, then closes the gaps of one bit between groups of seven.
    word &= ~uint64_t{0} >> (64 - bits) & 0x7F7F7F7F7F7F7F7F;
    word = (word & 0x007F007F007F007F) | (word & 0x7F007F007F007F00) >> 1;
    word = (word & 0x00003FFF00003FFF) | (word & 0x3FFF00003FFF0000) >> 2;
    word = (word & 0x000000000FFFFFFF) | (word & 0x0FFFFFFF00000000) >> 4;
    at_ += bits / 8;
    *value = FromZigzag(word);
    return true;
  }

  /// Rare: its loop would only take registers from those who read many numbers.
  [[gnu::noinline]] bool ReadLongByBytes(int64_t* value) {
    uint64_t bits = 0;
    if (ReadVarint(&at_, end_, &bits) != VarintRead::kWhole) return false;
    *value = FromZigzag(bits);
    return true;
  }

  const char* begin_ = nullptr;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
};

}  // namespace sluice::formats::avro
