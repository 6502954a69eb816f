// Which rows of a part of a container are wanted: ranges of row indices.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice::formats::pruning {

/// Rows [begin, end) of a part.
struct RowRange {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t row_count() const { return end - begin; }
  bool operator==(const RowRange&) const = default;
};

/// Ascending, none empty, no two that touch.
using RowRanges = std::vector<RowRange>;

int64_t CountRows(const RowRanges& ranges);
/// Adds a range that begins at or behind the begin of the last one.
void Append(RowRange range, RowRanges* ranges);
RowRanges Intersect(const RowRanges& a, const RowRanges& b);
bool Overlaps(const RowRanges& ranges, RowRange range);

/// The rows of those pieces that overlap `wanted`. Piece i begins at row begins[i] and ends where
/// the next one begins, the last one at `row_count`; `begins` ascends from 0.
RowRanges WholePieces(const std::vector<int64_t>& begins, int64_t row_count,
                      const RowRanges& wanted);

}  // namespace sluice::formats::pruning
