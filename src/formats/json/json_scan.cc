#include "formats/json/json_scan.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "formats/text/set_bits.h"

namespace sluice::formats::json {
namespace {

/// Positions found ahead of their use: they stay in the first cache.
constexpr size_t kAhead = 2048;

/// Where 64 bytes have what is looked for, a bit a byte.
struct Masks {
  uint64_t quotes;
  uint64_t commas;
  uint64_t line_ends;
};

/// Where a scan stands.
struct Progress {
  size_t at;
  uint64_t in_string;
  uint32_t* out;
};

/// Bit i: how many bits of `mask` up to i are set, odd or even.
inline __attribute__((always_inline)) uint64_t PrefixXor(uint64_t mask) {
  mask ^= mask << 1;
  mask ^= mask << 2;
  mask ^= mask << 4;
  mask ^= mask << 8;
  mask ^= mask << 16;
  return mask ^ mask << 32;
}

/// Looks at 64 bytes after the other until `enough` is reached or fewer are left. Inlined into each
/// variant of Scan, so that it is compiled for what the variant's processor has.
template <Masks (*Look)(const char*)>
inline __attribute__((always_inline)) void ScanBlocks(const char* text, size_t end,
                                                      const uint32_t* enough, Progress* progress) {
  size_t at = progress->at;
  uint64_t carried = progress->in_string;
  uint32_t* out = progress->out;
  while (out < enough && at + 64 <= end) {
    const Masks masks = Look(text + at);
    const uint64_t in_string = PrefixXor(masks.quotes) ^ carried;
    const uint64_t found = (masks.commas & ~in_string) | masks.line_ends;
    const uint64_t broken = masks.line_ends & in_string;
    if (broken != 0) [[unlikely]] {  // No string goes on behind a line end: start anew there.
      const uint64_t upto = broken ^ (broken - 1);
      out = text::PutSetBits(found & upto, at, out);
      at += static_cast<size_t>(std::popcount(upto));
      carried = 0;
      continue;
    }
    out = text::PutSetBits(found, at, out);
    at += 64;
    carried = static_cast<uint64_t>(static_cast<int64_t>(in_string) >> 63);
  }
  *progress = {at, carried, out};
}

using Scan = void (*)(const char* text, size_t end, const uint32_t* enough, Progress* progress);

#if defined(__x86_64__)

SLUICE_TARGET_AVX512 inline Masks LookAvx512(const char* at) {
  const __m512i bytes = _mm512_loadu_si512(at);
  return {_mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"')),
          _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(',')),
          _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\n'))};
}

SLUICE_TARGET_AVX512 void ScanAvx512(const char* text, size_t end, const uint32_t* enough,
                                     Progress* progress) {
  ScanBlocks<&LookAvx512>(text, end, enough, progress);
}

SLUICE_TARGET_AVX2 inline Masks LookAvx2(const char* at) {
  const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + 32));
  uint64_t masks[3];
  const char needles[3] = {'"', ',', '\n'};
  for (int i = 0; i < 3; ++i) {
    const __m256i needle = _mm256_set1_epi8(needles[i]);
    const auto first = static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, needle)));
    const auto second =
        static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, needle)));
    masks[i] = first | static_cast<uint64_t>(second) << 32;
  }
  return {masks[0], masks[1], masks[2]};
}

SLUICE_TARGET_AVX2 void ScanAvx2(const char* text, size_t end, const uint32_t* enough,
                                 Progress* progress) {
  ScanBlocks<&LookAvx2>(text, end, enough, progress);
}

inline Masks LookSse2(const char* at) {
  Masks masks{0, 0, 0};
  for (int i = 0; i < 4; ++i) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at + 16 * i));
    const auto bits = [&](char needle) {
      const int found = _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(needle)));
      return static_cast<uint64_t>(static_cast<uint32_t>(found)) << (16 * i);
    };
    masks.quotes |= bits('"');
    masks.commas |= bits(',');
    masks.line_ends |= bits('\n');
  }
  return masks;
}

void ScanAny(const char* text, size_t end, const uint32_t* enough, Progress* progress) {
  ScanBlocks<&LookSse2>(text, end, enough, progress);
}

Scan ScanOf(text::VectorLevel level) {
  switch (level) {
    case text::VectorLevel::kAvx512:
      return &ScanAvx512;
    case text::VectorLevel::kAvx2:
      return &ScanAvx2;
    default:
      return &ScanAny;
  }
}

#else

inline Masks LookAny(const char* at) {
  Masks masks{0, 0, 0};
  for (int i = 0; i < 64; ++i) {
    masks.quotes |= static_cast<uint64_t>(at[i] == '"') << i;
    masks.commas |= static_cast<uint64_t>(at[i] == ',') << i;
    masks.line_ends |= static_cast<uint64_t>(at[i] == '\n') << i;
  }
  return masks;
}

void ScanAny(const char* text, size_t end, const uint32_t* enough, Progress* progress) {
  ScanBlocks<&LookAny>(text, end, enough, progress);
}

Scan ScanOf(text::VectorLevel) { return &ScanAny; }

#endif

}  // namespace

void StructureScan::Start(const char* text, size_t begin, size_t end) {
  text_ = text;
  at_ = begin;
  end_ = end;
  in_string_ = 0;
  next_ = filled_ = 0;
}

bool StructureScan::Fill(size_t count) {
  const Scan scan = ScanOf(level_);
  const size_t rest = filled_ - next_;
  // A block has up to 64 positions, and a few places behind them are written to.
  if (positions_.size() < count + kAhead + 128) positions_.resize(count + kAhead + 128);
  std::memmove(positions_.data(), positions_.data() + next_, rest * sizeof(uint32_t));
  next_ = 0;
  const uint32_t* const enough = positions_.data() + count + kAhead;
  Progress progress{at_, in_string_, positions_.data() + rest};
  scan(text_, end_, enough, &progress);
  const size_t left = end_ - progress.at;
  if (progress.out < enough && left > 0) {  // Less than a block.
    char block[64] = {};
    std::memcpy(block, text_ + progress.at, left);
    Progress last{0, progress.in_string, progress.out};
    while (last.at < left) {  // Once more where a line end was found inside a string.
      char rest_of_block[64] = {};
      std::memcpy(rest_of_block, block + last.at, left - last.at);
      uint32_t* const first = last.out;
      Progress part{0, last.in_string, first};
      scan(rest_of_block, 64, first + 1, &part);
      for (uint32_t* at = first; at < part.out; ++at)
        *at += static_cast<uint32_t>(progress.at + last.at);
      last = {last.at + part.at, part.in_string, part.out};
    }
    progress = {end_, last.in_string, last.out};
  }
  at_ = progress.at;
  in_string_ = progress.in_string;
  filled_ = static_cast<size_t>(progress.out - positions_.data());
  return filled_ >= count;
}

}  // namespace sluice::formats::json
