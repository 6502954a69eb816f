#include "connectors/filesystem/sink/compaction_plan.h"

#include <gtest/gtest.h>

namespace sluice::connectors::filesystem {
namespace {

using Packed = std::vector<std::vector<size_t>>;

std::vector<PackedFile> Sizes(const std::vector<int64_t>& sizes) {
  std::vector<PackedFile> files;
  for (size_t i = 0; i < sizes.size(); ++i) {
    files.push_back({std::string(1, static_cast<char>('a' + i)), sizes[i]});
  }
  return files;
}

TEST(CompactionPlan, FlinksExample) {
  EXPECT_EQ(PackFiles(Sizes({4, 7, 6, 3, 2}), 10), (Packed{{0, 2}, {1, 3}, {4}}));
}

TEST(CompactionPlan, OrderIsThatOfThePathsAsText) {
  const std::vector<PackedFile> files = {{"p-0-2", 6}, {"p-0-10", 6}, {"p-0-1", 6}};
  EXPECT_EQ(PackFiles(files, 12), (Packed{{2, 1}, {0}}));
}

TEST(CompactionPlan, LargeFilesAreAlone) {
  EXPECT_EQ(PackFiles(Sizes({11, 5, 12, 5}), 10), (Packed{{0}, {1, 3}, {2}}));
}

TEST(CompactionPlan, AnEleventhBinEndsTheOldest) {
  // Ten bins of 9 are open; an eleventh ends the first, so that the last file of 1 goes into the
  // second.
  const Packed packed = PackFiles(Sizes({9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 1}), 10);
  ASSERT_EQ(packed.size(), 11u);
  EXPECT_EQ(packed[0], (std::vector<size_t>{0}));
  EXPECT_EQ(packed[1], (std::vector<size_t>{1, 11}));
}

TEST(CompactionPlan, WholePartitionsGetFewFiles) {
  EXPECT_EQ(PackFewest(Sizes({4, 7, 6, 3}), 10), (Packed{{1, 3}, {0, 2}}));
  // In the order of the paths a large file would open a bin of its own for each small one.
  EXPECT_EQ(PackFewest(Sizes({2, 8, 2, 8, 2, 8}), 10).size(), 3u);
  EXPECT_TRUE(PackFewest({}, 10).empty());
}

}  // namespace
}  // namespace sluice::connectors::filesystem
