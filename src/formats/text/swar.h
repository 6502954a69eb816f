// Digits eight at a time in a 64-bit word ("SIMD within a register"), and unaligned loads. Words are little endian whatever
// the machine.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace sluice::formats::text {

inline uint64_t LoadWord(const char* from) {
  uint64_t word;
  std::memcpy(&word, from, 8);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

/// True when all eight bytes are '0' … '9'.
inline bool AllDigits(uint64_t word) {
  return (((word & 0xF0F0F0F0F0F0F0F0) | (((word + 0x0606060606060606) & 0xF0F0F0F0F0F0F0F0) >> 4)) ==
          0x3333333333333333);
}

/// Number of eight digits, first byte most significant. Only for AllDigits words.
inline uint32_t EightDigits(uint64_t word) {
  word = (word & 0x0F0F0F0F0F0F0F0F) * 2561 >> 8;
  word = (word & 0x00FF00FF00FF00FF) * 6553601 >> 16;
  return static_cast<uint32_t>((word & 0x0000FFFF0000FFFF) * 42949672960001 >> 32);
}

/// The last `count` bytes (1 to 8) before `end` as a word of eight digits with '0' in front. The eight bytes before `end` must
/// be readable.
inline uint64_t LastDigits(const char* end, unsigned count) {
  const uint64_t keep = ~uint64_t{0} << (8 * (8 - count));
  return (LoadWord(end - 8) & keep) | (0x3030303030303030 & ~keep);
}

inline bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

}  // namespace sluice::formats::text
