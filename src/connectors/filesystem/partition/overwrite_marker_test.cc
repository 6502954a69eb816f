#include "connectors/filesystem/partition/overwrite_marker.h"

#include <gtest/gtest.h>

namespace sluice::connectors::filesystem {
namespace {

using Names = std::set<std::string, std::less<>>;

Names Hidden(const OverwriteMarker& marker, const Names& present) {
  Names hidden;
  HideReplaced(marker, present, &hidden);
  return hidden;
}

TEST(OverwriteMarker, OldFilesAreTheContentUntilTheFirstOfThemIsGone) {
  const OverwriteMarker marker{{"a", "sub/b"}, {"c", "d"}};
  EXPECT_EQ(Hidden(marker, {"a", "sub/b"}), (Names{"c", "d"}));
  EXPECT_EQ(Hidden(marker, {"a", "sub/b", "c", "d", "foreign"}), (Names{"c", "d"}));
  EXPECT_EQ(Hidden(marker, {"a", "c", "d"}), (Names{"a", "sub/b"}));
  EXPECT_EQ(Hidden(marker, {"c", "d"}), (Names{"a", "sub/b"}));
}

TEST(OverwriteMarker, NewFilesOfAnEmptyDirectoryAppearTogether) {
  EXPECT_EQ(Hidden({{}, {"c", "d"}}, {"c"}), (Names{"c", "d"}));
}

TEST(OverwriteMarker, AnEmptiedDirectoryIsEmptyFromTheFirstRemovalOn) {
  EXPECT_EQ(Hidden({{"a", "b"}, {}}, {"a", "b"}), Names());
  EXPECT_EQ(Hidden({{"a", "b"}, {}}, {"b"}), (Names{"a", "b"}));
}

TEST(OverwriteMarker, BothFormsAreRead) {
  const OverwriteMarker marker{{"a b", "x=1/-y"}, {"+c"}};
  const auto read = DecodeOverwriteMarker(EncodeOverwriteMarker(marker));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->old_files, marker.old_files);
  EXPECT_EQ(read->new_files, marker.new_files);
  const auto first = DecodeOverwriteMarker("sluice overwrite 1\n-a\nb\n");
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->old_files, (std::vector<std::string>{"-a", "b"}));
  for (const char* damaged : {"", "something", "sluice overwrite 3\n", "sluice overwrite 2\nx\n"}) {
    EXPECT_EQ(DecodeOverwriteMarker(damaged).status().code(), StatusCode::kCorrupt) << damaged;
  }
}

TEST(OverwriteMarker, Names) {
  EXPECT_TRUE(IsOverwriteMarkerName(".dt=1.overwrite.0123"));
  EXPECT_FALSE(IsOverwriteMarkerName("dt=1.overwrite.0123"));
  EXPECT_FALSE(IsOverwriteMarkerName(".part-1.inprogress.0123"));
}

}  // namespace
}  // namespace sluice::connectors::filesystem
