#include "formats/pruning/row_ranges.h"

#include <gtest/gtest.h>

namespace sluice::formats::pruning {

void PrintTo(const RowRange& range, std::ostream* out) {
  *out << "[" << range.begin << ", " << range.end << ")";
}

namespace {

TEST(RowRanges, AppendJoinsWhatTouches) {
  RowRanges ranges;
  Append({0, 3}, &ranges);
  Append({3, 3}, &ranges);
  Append({3, 5}, &ranges);
  Append({7, 9}, &ranges);
  Append({8, 8}, &ranges);
  EXPECT_EQ(ranges, (RowRanges{{0, 5}, {7, 9}}));
  EXPECT_EQ(CountRows(ranges), 7);
}

TEST(RowRanges, IntersectKeepsCommonRows) {
  EXPECT_EQ(Intersect({{0, 10}}, {{2, 4}, {6, 20}}), (RowRanges{{2, 4}, {6, 10}}));
  EXPECT_EQ(Intersect({{0, 3}, {5, 8}}, {{3, 5}}), RowRanges());
  EXPECT_EQ(Intersect({}, {{0, 1}}), RowRanges());
}

TEST(RowRanges, OverlapsLooksAtHalfOpenRanges) {
  const RowRanges ranges = {{2, 4}, {8, 9}};
  EXPECT_FALSE(Overlaps(ranges, {0, 2}));
  EXPECT_TRUE(Overlaps(ranges, {0, 3}));
  EXPECT_TRUE(Overlaps(ranges, {3, 4}));
  EXPECT_FALSE(Overlaps(ranges, {4, 8}));
  EXPECT_TRUE(Overlaps(ranges, {4, 9}));
  EXPECT_FALSE(Overlaps(ranges, {9, 20}));
}

TEST(RowRanges, WholePiecesCoverTheWantedRows) {
  EXPECT_EQ(WholePieces({0, 5, 10}, 12, {{4, 5}}), (RowRanges{{0, 5}}));
  EXPECT_EQ(WholePieces({0, 5, 10}, 12, {{4, 6}}), (RowRanges{{0, 10}}));
  EXPECT_EQ(WholePieces({0, 5, 10}, 12, {{0, 1}, {11, 12}}), (RowRanges{{0, 5}, {10, 12}}));
  EXPECT_EQ(WholePieces({0, 5, 10}, 12, {}), RowRanges());
}

}  // namespace
}  // namespace sluice::formats::pruning
