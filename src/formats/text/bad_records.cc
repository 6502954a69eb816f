#include "formats/text/bad_records.h"

#include <algorithm>
#include <bit>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace sluice::formats::text {

int64_t CountLineEnds(std::string_view text, bool bare_cr) {
  int64_t count = 0;
  size_t i = 0;
#if defined(__SSE2__)
  const __m128i lf = _mm_set1_epi8('\n');
  const __m128i cr = _mm_set1_epi8('\r');
  unsigned before = 0;  // 1 when the byte before is CR.
  for (; i + 16 <= text.size(); i += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + i));
    const auto lf_mask = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, lf)));
    unsigned ends = lf_mask;
    if (bare_cr) {  // A CR is an end; the LF behind it is none of its own.
      const auto cr_mask = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, cr)));
      ends = cr_mask | (lf_mask & ~(cr_mask << 1 | before));
      before = cr_mask >> 15;
    }
    count += std::popcount(ends & 0xFFFF);
  }
#endif
  for (; i < text.size(); ++i) {
    if (text[i] == '\n') {
      count += bare_cr && i > 0 && text[i - 1] == '\r' ? 0 : 1;
    } else if (bare_cr && text[i] == '\r') {
      ++count;
    }
  }
  return count;
}

void FillLines(std::string_view chunk, bool bare_cr, std::vector<BadRecord>* bad) {
  std::stable_sort(bad->begin(), bad->end(), [](const BadRecord& a, const BadRecord& b) { return a.record < b.record; });
  size_t counted = 0;
  int64_t line = 0;
  for (BadRecord& record : *bad) {
    const size_t begin = std::min(static_cast<size_t>(record.byte_offset), chunk.size());
    if (begin > counted) {
      line += CountLineEnds(chunk.substr(counted, begin - counted), bare_cr);
      counted = begin;
    }
    record.line = line;
  }
}

}  // namespace sluice::formats::text
