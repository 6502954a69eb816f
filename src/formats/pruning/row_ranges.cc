#include "formats/pruning/row_ranges.h"

#include <algorithm>

namespace sluice::formats::pruning {

int64_t CountRows(const RowRanges& ranges) {
  int64_t count = 0;
  for (const RowRange& range : ranges) count += range.row_count();
  return count;
}

void Append(RowRange range, RowRanges* ranges) {
  if (range.row_count() <= 0) return;
  if (!ranges->empty() && range.begin <= ranges->back().end) {
    ranges->back().end = std::max(ranges->back().end, range.end);
  } else {
    ranges->push_back(range);
  }
}

RowRanges Intersect(const RowRanges& a, const RowRanges& b) {
  RowRanges both;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    Append({std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)}, &both);
    a[i].end < b[j].end ? ++i : ++j;
  }
  return both;
}

bool Overlaps(const RowRanges& ranges, RowRange range) {
  const auto first =
      std::upper_bound(ranges.begin(), ranges.end(), range.begin,
                       [](int64_t row, const RowRange& other) { return row < other.end; });
  return first != ranges.end() && first->begin < range.end;
}

RowRanges WholePieces(const std::vector<int64_t>& begins, int64_t row_count,
                      const RowRanges& wanted) {
  RowRanges whole;
  for (size_t i = 0; i < begins.size(); ++i) {
    const RowRange piece{begins[i], i + 1 < begins.size() ? begins[i + 1] : row_count};
    if (Overlaps(wanted, piece)) Append(piece, &whole);
  }
  return whole;
}

}  // namespace sluice::formats::pruning
