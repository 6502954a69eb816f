#include "common/crc32.h"

#include <cstddef>

#include <zlib.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sluice {

namespace {

uint32_t WithZlib(uint32_t crc, const unsigned char* data, size_t size) {
  return static_cast<uint32_t>(crc32_z(crc, data, size));
}

#if defined(__x86_64__)

#define SLUICE_TARGET_CLMUL __attribute__((target("pclmul,sse4.1")))

// Folding as in Gopal et al., "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
// Instruction" (Intel, 2009); the constants are powers of x modulo the polynomial, reflected.
constexpr size_t kBlockBytes = 64;
constexpr size_t kWordBytes = 16;
constexpr int64_t kFold64Low = 0x0154442bd4;
constexpr int64_t kFold64High = 0x01c6e41596;
constexpr int64_t kFold16Low = 0x01751997d0;
constexpr int64_t kFold16High = 0x00ccaa009e;
constexpr int64_t kFold8 = 0x0163cd6124;
constexpr int64_t kPolynomial = 0x01db710641;
constexpr int64_t kBarrett = 0x01f7011641;

SLUICE_TARGET_CLMUL inline __m128i Load(const unsigned char* data) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(data));
}

/// `sum` moved on by the distance that `by` stands for, with what is there added.
SLUICE_TARGET_CLMUL inline __m128i Fold(__m128i sum, __m128i by, __m128i there) {
  const __m128i low = _mm_clmulepi64_si128(sum, by, 0x00);
  const __m128i high = _mm_clmulepi64_si128(sum, by, 0x11);
  return _mm_xor_si128(_mm_xor_si128(low, high), there);
}

/// The remainder of 128 bits, not inverted.
SLUICE_TARGET_CLMUL inline uint32_t Reduce(__m128i sum, __m128i by16) {
  const __m128i low_words = _mm_setr_epi32(-1, 0, -1, 0);
  sum = _mm_xor_si128(_mm_srli_si128(sum, 8), _mm_clmulepi64_si128(sum, by16, 0x10));
  const __m128i rest = _mm_srli_si128(sum, 4);
  sum = _mm_clmulepi64_si128(_mm_and_si128(sum, low_words), _mm_set_epi64x(0, kFold8), 0x00);
  sum = _mm_xor_si128(sum, rest);
  const __m128i reduction = _mm_set_epi64x(kBarrett, kPolynomial);
  __m128i quotient = _mm_clmulepi64_si128(_mm_and_si128(sum, low_words), reduction, 0x10);
  quotient = _mm_clmulepi64_si128(_mm_and_si128(quotient, low_words), reduction, 0x00);
  return static_cast<uint32_t>(_mm_extract_epi32(_mm_xor_si128(sum, quotient), 1));
}

/// `size`: a multiple of 16, 64 at least. `crc` and the result are not inverted.
SLUICE_TARGET_CLMUL uint32_t WithFolding(uint32_t crc, const unsigned char* data, size_t size) {
  const unsigned char* const end = data + size;
  __m128i sums[4];
  for (int i = 0; i < 4; ++i) sums[i] = Load(data + i * kWordBytes);
  sums[0] = _mm_xor_si128(sums[0], _mm_cvtsi32_si128(static_cast<int>(crc)));
  data += kBlockBytes;
  const __m128i by64 = _mm_set_epi64x(kFold64High, kFold64Low);
  for (; static_cast<size_t>(end - data) >= kBlockBytes; data += kBlockBytes) {
    for (int i = 0; i < 4; ++i) sums[i] = Fold(sums[i], by64, Load(data + i * kWordBytes));
  }
  const __m128i by16 = _mm_set_epi64x(kFold16High, kFold16Low);
  __m128i sum = sums[0];
  for (int i = 1; i < 4; ++i) sum = Fold(sum, by16, sums[i]);
  for (; data != end; data += kWordBytes) sum = Fold(sum, by16, Load(data));
  return Reduce(sum, by16);
}

#endif

}  // namespace

uint32_t Crc32(std::string_view bytes) {
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  size_t size = bytes.size();
  uint32_t crc = 0;
#if defined(__x86_64__)
  static const bool can_fold =
      __builtin_cpu_supports("pclmul") != 0 && __builtin_cpu_supports("sse4.1") != 0;
  if (can_fold && size >= kBlockBytes) {
    const size_t folded = size / kWordBytes * kWordBytes;
    crc = ~WithFolding(~crc, data, folded);
    data += folded;
    size -= folded;
  }
#endif
  return size == 0 ? crc : WithZlib(crc, data, size);
}

}  // namespace sluice
