#include "formats/text/bad_records.h"

#include <algorithm>
#include <bit>

#include "formats/text/match64.h"

namespace sluice::formats::text {

namespace {

struct Counted {
  int64_t line_ends = 0;
  size_t bytes = 0;  // Looked at.
};

/// A CR LF is one line end: a CR counts where the byte behind it is no LF. Inlined into each
/// variant.
template <Match64 Match>
inline __attribute__((always_inline)) Counted CountBlocks(std::string_view text, bool bare_cr) {
  Counted counted;
  for (; counted.bytes + 65 <= text.size(); counted.bytes += 64) {
    const char* const at = text.data() + counted.bytes;
    const uint64_t feeds = Match(at, '\n');
    counted.line_ends += std::popcount(feeds);
    if (!bare_cr) continue;
    const uint64_t returns = Match(at, '\r');
    if (returns == 0) continue;
    const uint64_t fed = feeds >> 1 | static_cast<uint64_t>(at[64] == '\n') << 63;
    counted.line_ends += std::popcount(returns & ~fed);
  }
  return counted;
}

Counted CountBaseline(std::string_view text, bool bare_cr) {
  return CountBlocks<&Match64Baseline>(text, bare_cr);
}

#if defined(__x86_64__)
SLUICE_TARGET_AVX2 Counted CountAvx2(std::string_view text, bool bare_cr) {
  return CountBlocks<&Match64Avx2>(text, bare_cr);
}
SLUICE_TARGET_AVX512 Counted CountAvx512(std::string_view text, bool bare_cr) {
  return CountBlocks<&Match64Avx512>(text, bare_cr);
}
#endif

Counted CountAt(VectorLevel level, std::string_view text, bool bare_cr) {
#if defined(__x86_64__)
  if (level == VectorLevel::kAvx512) return CountAvx512(text, bare_cr);
  if (level == VectorLevel::kAvx2) return CountAvx2(text, bare_cr);
#endif
  (void)level;
  return CountBaseline(text, bare_cr);
}

}  // namespace

int64_t CountLineEnds(std::string_view text, bool bare_cr, VectorLevel level) {
  const Counted counted = CountAt(level, text, bare_cr);
  int64_t count = counted.line_ends;
  for (size_t i = counted.bytes; i < text.size(); ++i) {
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
