// Finds the few characters that matter in csv text, 64 bytes at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace sluice::formats::csv {

/// Up to five characters to look for. Unused places repeat a used one.
struct Needles {
  char characters[5];
};

#if defined(__SSE2__)

class Scanner {
 public:
  explicit Scanner(const Needles& needles) {
    for (int i = 0; i < 5; ++i) needles_[i] = _mm_set1_epi8(needles.characters[i]);
  }
  /// Bit i: text[i] is one of the needles. Reads 64 bytes.
  uint64_t Match64(const char* text) const {
    return Match16(text) | Match16(text + 16) << 16 | Match16(text + 32) << 32 |
           Match16(text + 48) << 48;
  }

 private:
  uint64_t Match16(const char* text) const {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text));
    __m128i found = _mm_cmpeq_epi8(bytes, needles_[0]);
    for (int i = 1; i < 5; ++i) found = _mm_or_si128(found, _mm_cmpeq_epi8(bytes, needles_[i]));
    return static_cast<uint32_t>(_mm_movemask_epi8(found));
  }
  __m128i needles_[5];
};

#else

class Scanner {
 public:
  explicit Scanner(const Needles& needles) : needles_(needles) {}
  uint64_t Match64(const char* text) const {
    uint64_t mask = 0;
    for (int i = 0; i < 64; ++i) {
      bool found = false;
      for (const char needle : needles_.characters) found |= text[i] == needle;
      mask |= static_cast<uint64_t>(found) << i;
    }
    return mask;
  }

 private:
  Needles needles_;
};

#endif

/// Match64 for the `size` (< 64 or more) bytes at `text`, when fewer than 64 may be readable.
inline uint64_t MatchTail(const Scanner& scanner, const char* text, size_t size) {
  char copy[64] = {};
  const size_t count = std::min<size_t>(size, 64);
  std::memcpy(copy, text, count);
  const uint64_t mask = scanner.Match64(copy);
  return count == 64 ? mask : mask & ((uint64_t{1} << count) - 1);
}

/// Index of the first of the needles in [begin, end), `end` when there is none.
inline size_t FindFirst(const Scanner& scanner, const char* text, size_t begin, size_t end) {
  for (; begin < end; begin += 64) {
    const uint64_t mask = end - begin >= 64 ? scanner.Match64(text + begin)
                                            : MatchTail(scanner, text + begin, end - begin);
    if (mask != 0) return begin + static_cast<size_t>(std::countr_zero(mask));
  }
  return end;
}

}  // namespace sluice::formats::csv
