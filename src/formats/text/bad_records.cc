#include "formats/text/bad_records.h"

#include <algorithm>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace sluice::formats::text {

int64_t CountLineEnds(std::string_view text, bool bare_cr) {
  int64_t count = 0;
  size_t i = 0;
#if defined(__SSE2__)
  // Bytes count down from 0 by the -1 of each match; summed up before they can overflow. A CR LF
  // would be counted twice: those are taken off, seen by comparing with the bytes one further.
  const __m128i lf = _mm_set1_epi8('\n');
  const __m128i cr = _mm_set1_epi8('\r');
  while (i + 17 <= text.size()) {
    const size_t stop = std::min(text.size() - 16, i + 16 * 100);
    __m128i sum = _mm_setzero_si128();
    for (; i < stop; i += 16) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + i));
      sum = _mm_sub_epi8(sum, _mm_cmpeq_epi8(bytes, lf));
      if (bare_cr) {
        const __m128i next = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + i + 1));
        const __m128i returns = _mm_cmpeq_epi8(bytes, cr);
        sum = _mm_sub_epi8(sum, _mm_andnot_si128(_mm_cmpeq_epi8(next, lf), returns));
      }
    }
    const __m128i halves = _mm_sad_epu8(sum, _mm_setzero_si128());
    count += _mm_cvtsi128_si64(halves) + _mm_cvtsi128_si64(_mm_srli_si128(halves, 8));
  }
#endif
  for (; i < text.size(); ++i) {
    if (text[i] == '\n') {
      ++count;
    } else if (bare_cr && text[i] == '\r' && !(i + 1 < text.size() && text[i + 1] == '\n')) {
      ++count;
    }
  }
  return count;
}

void FillLines(std::string_view chunk, bool bare_cr, std::vector<BadRecord>* bad) {
  std::stable_sort(bad->begin(), bad->end(),
                   [](const BadRecord& a, const BadRecord& b) { return a.record < b.record; });
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
