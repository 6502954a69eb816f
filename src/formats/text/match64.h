// One bit a byte for each of 64 bytes that equal a character, at each vector level. A loop takes
// one of these as a template argument and is inlined into a function that is compiled for the
// level.
#pragma once

#include <cstdint>

#include "formats/text/vector_level.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sluice::formats::text {

using Match64 = uint64_t (*)(const char* at, char character);

#if defined(__x86_64__)

inline uint64_t Match64Baseline(const char* at, char character) {
  const __m128i wanted = _mm_set1_epi8(character);
  uint64_t mask = 0;
  for (int i = 0; i < 4; ++i) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16 * i));
    const int found = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted));
    mask |= static_cast<uint64_t>(static_cast<uint32_t>(found)) << (16 * i);
  }
  return mask;
}

SLUICE_TARGET_AVX2 inline uint64_t Match64Avx2(const char* at, char character) {
  const __m256i wanted = _mm256_set1_epi8(character);
  const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + 32));
  const auto first = static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, wanted)));
  const auto second = static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, wanted)));
  return first | static_cast<uint64_t>(second) << 32;
}

SLUICE_TARGET_AVX512 inline uint64_t Match64Avx512(const char* at, char character) {
  return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(at), _mm512_set1_epi8(character));
}

#else

inline uint64_t Match64Baseline(const char* at, char character) {
  uint64_t mask = 0;
  for (int i = 0; i < 64; ++i) mask |= static_cast<uint64_t>(at[i] == character) << i;
  return mask;
}

#endif

}  // namespace sluice::formats::text
