// Digits eight at a time in a 64-bit word ("SIMD within a register"), and unaligned loads. Words
// are little endian whatever the machine.
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
  return (((word & 0xF0F0F0F0F0F0F0F0) |
           (((word + 0x0606060606060606) & 0xF0F0F0F0F0F0F0F0) >> 4)) == 0x3333333333333333);
}

/// Number of eight digits, first byte most significant. Only for AllDigits words.
inline uint32_t EightDigits(uint64_t word) {
  word = (word & 0x0F0F0F0F0F0F0F0F) * 2561 >> 8;
  word = (word & 0x00FF00FF00FF00FF) * 6553601 >> 16;
  return static_cast<uint32_t>((word & 0x0000FFFF0000FFFF) * 42949672960001 >> 32);
}

/// The last `count` bytes (1 to 8) before `end` as a word of eight digits with '0' in front. The
/// eight bytes before `end` must be readable.
inline uint64_t LastDigits(const char* end, unsigned count) {
  const uint64_t keep = ~uint64_t{0} << (8 * (8 - count));
  return (LoadWord(end - 8) & keep) | (0x3030303030303030 & ~keep);
}

/// The number of the last `count` (1 to 16) bytes before `end`; false when one is no digit. The
/// sixteen bytes before `end` must be readable.
inline bool ReadLastDigits(const char* end, unsigned count, uint64_t* number) {
  if (count <= 8) {
    const uint64_t word = LastDigits(end, count);
    if (!AllDigits(word)) return false;
    *number = EightDigits(word);
    return true;
  }
  const uint64_t high = LastDigits(end - 8, count - 8);
  const uint64_t low = LoadWord(end - 8);
  if (!AllDigits(high) || !AllDigits(low)) return false;
  *number = uint64_t{EightDigits(high)} * 100'000'000 + EightDigits(low);
  return true;
}

/// How many of the eight bytes, from the first on, are digits.
inline unsigned LeadingDigits(uint64_t word) {
  const uint64_t distance = word ^ 0x3030303030303030;  // 0 to 9 for digits.
  const uint64_t others = ((distance + 0x7676767676767676) | distance) & 0x8080808080808080;
  return others == 0 ? 8 : static_cast<unsigned>(std::countr_zero(others)) / 8;
}

/// Number of the first `count` (1 to 8) bytes, which are digits.
inline uint32_t LeadingNumber(uint64_t word, unsigned count) {
  return EightDigits(word << (8 * (8 - count)));
}

inline void StoreWord(uint64_t word, char* to) {
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  std::memcpy(to, &word, 8);
}

/// The eight digits of `number` (below 10^8) as bytes 0 to 9, first digit in the lowest byte. Or
/// with kZeros they are characters.
inline uint64_t DigitBytes(uint32_t number) {
  // Halves of four digits, then pairs, then single digits, all at once by multiplying with
  // rounded-up reciprocals.
  const uint64_t halves = number / 10000 | uint64_t{number % 10000} << 32;
  const uint64_t hundreds = (halves * 10486 >> 20) & 0x0000007F0000007F;
  const uint64_t pairs = hundreds + ((halves - 100 * hundreds) << 16);
  const uint64_t tens = (pairs * 103 >> 10) & 0x000F000F000F000F;
  return tens + ((pairs - 10 * tens) << 8);
}
constexpr uint64_t kZeros = 0x3030303030303030;

/// Copies `size` bytes; short texts, as columns mostly hold, without a call.
inline void CopyShort(const char* from, size_t size, char* to) {
  if (size > 32) {
    std::memcpy(to, from, size);
  } else if (size >= 16) {
    std::memcpy(to, from, 16);
    std::memcpy(to + size - 16, from + size - 16, 16);
  } else if (size >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + size - 8, from + size - 8, 8);
  } else if (size >= 4) {
    std::memcpy(to, from, 4);
    std::memcpy(to + size - 4, from + size - 4, 4);
  } else {
    for (size_t i = 0; i < size; ++i) to[i] = from[i];
  }
}

inline bool IsDigit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

}  // namespace sluice::formats::text
