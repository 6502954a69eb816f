#include "formats/csv/record_scan.h"

#include <algorithm>
#include <bit>

#include "formats/text/match64.h"
#include "formats/text/set_bits.h"

namespace sluice::formats::csv {
namespace {

// Positions found at a time: with what is made of them they stay in the first cache.
constexpr size_t kPositions = 2048;
// Of one block, and those that are written behind the last one.
constexpr size_t kSlack = 64 + 8;

using Progress = RecordScan::Progress;

/// Inlined into each variant, so that it is compiled for what the variant's processor has. Stops
/// in front of 64 bytes with a quote or CR.
template <text::Match64 Match>
inline __attribute__((always_inline)) void ScanBlocks(Progress* progress) {
  Progress p = *progress;
  while (p.out < p.enough && p.at + 64 <= p.end) {
    const char* const block = p.text + p.at;
    const uint64_t line_ends = Match(block, '\n');
    const uint64_t delimiters = Match(block, p.delimiter);
    const uint64_t quotes = p.quote == p.delimiter ? 0 : Match(block, p.quote);
    if ((quotes | Match(block, '\r')) != 0) [[unlikely]]
      break;
    const uint64_t found = delimiters | line_ends;
    const auto before = static_cast<uint32_t>(p.out - p.first);
    for (uint64_t rest = line_ends; rest != 0; rest &= rest - 1) {
      const uint64_t below = (rest ^ (rest - 1)) >> 1;
      *p.line_ends++ = before + static_cast<uint32_t>(std::popcount(found & below));
    }
    p.out = text::PutSetBits(found, p.at, p.out);
    p.at += 64;
  }
  *progress = p;
}

void ScanBaseline(Progress* progress) { ScanBlocks<&text::Match64Baseline>(progress); }

#if defined(__x86_64__)
SLUICE_TARGET_AVX2 void ScanAvx2(Progress* progress) { ScanBlocks<&text::Match64Avx2>(progress); }
SLUICE_TARGET_AVX512 void ScanAvx512(Progress* progress) {
  ScanBlocks<&text::Match64Avx512>(progress);
}
#endif

void (*ScanOf(text::VectorLevel level))(Progress*) {
#if defined(__x86_64__)
  if (level == text::VectorLevel::kAvx512) return &ScanAvx512;
  if (level == text::VectorLevel::kAvx2) return &ScanAvx2;
#endif
  (void)level;
  return &ScanBaseline;
}

}  // namespace

RecordScan::RecordScan(char delimiter, std::optional<char> quote, int column_count,
                       text::VectorLevel level)
    : delimiter_(delimiter),
      quote_(quote),
      column_count_(static_cast<size_t>(column_count)),
      scan_(ScanOf(level)),
      positions_(1 + std::max(kPositions, column_count_) + kSlack),
      line_ends_(positions_.size()) {}

int RecordScan::Find(const char* text, size_t begin, size_t end, int row_limit) {
  const size_t wanted = static_cast<size_t>(row_limit) * column_count_;
  uint32_t* const first = positions_.data() + 1;
  Progress progress{.delimiter = delimiter_,
                    .quote = quote_.value_or(delimiter_),
                    .text = text,
                    .at = begin,
                    .end = end,
                    .out = first,
                    .enough = first + std::min(wanted, positions_.size() - 1 - kSlack),
                    .line_ends = line_ends_.data(),
                    .first = first};
  scan_(&progress);
  positions_[0] = static_cast<uint32_t>(begin) - 1;
  const auto lines = std::min<size_t>(static_cast<size_t>(progress.line_ends - line_ends_.data()),
                                      static_cast<size_t>(row_limit));
  size_t rows = 0;
  while (rows < lines && line_ends_[rows] == (rows + 1) * column_count_ - 1) ++rows;
  return static_cast<int>(rows);
}

}  // namespace sluice::formats::csv
