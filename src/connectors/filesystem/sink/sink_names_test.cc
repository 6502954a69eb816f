#include "connectors/filesystem/sink/sink_names.h"

#include <gtest/gtest.h>

namespace sluice::connectors::filesystem {
namespace {

TEST(SinkNamesTest, Pitfall1_2_UploadsAreKnownByTheirWholeUuid) {
  const std::string lineage = MakeLineage("job", "sink:t");
  const std::string first = AttemptUuid(lineage, "job", "attempt-1");
  const std::string second = AttemptUuid(lineage, "job", "attempt-2");
  EXPECT_NE(first, second);
  EXPECT_EQ(first.substr(0, 13), second.substr(0, 13));  // What the lineage gives.
  for (const bool streaming : {true, false}) {
    const std::string name = PartNamePrefix(first, 1, streaming) + "12";
    EXPECT_EQ(UuidOfPartName(name, lineage), first) << name;
    EXPECT_EQ(UuidOfPartName(name, MakeLineage("job", "sink:t#2")), std::nullopt);
    EXPECT_EQ(UuidOfPartName("." + name, lineage), std::nullopt);
  }
  EXPECT_EQ(UuidOfPartName("part-" + first, lineage), std::nullopt);
  EXPECT_EQ(UuidOfPartName("part-1", lineage), std::nullopt);
  EXPECT_EQ(UuidOfPartName("", lineage), std::nullopt);
}

TEST(SinkNamesTest, UuidsHaveTheirForm) {
  const std::string uuid = AttemptUuid(MakeLineage("a", "b"), "a", "c");
  ASSERT_EQ(uuid.size(), 36u);
  EXPECT_EQ(uuid[14], '4');
  EXPECT_NE(std::string("89ab").find(uuid[19]), std::string::npos);
  for (const size_t dash : {8u, 13u, 18u, 23u}) EXPECT_EQ(uuid[dash], '-');
}

TEST(SinkNamesTest, TemporaryNamesOfTheFileSystem) {
  EXPECT_TRUE(IsTemporaryName("._SUCCESS.tmp.123.0"));
  EXPECT_TRUE(IsTemporaryName(".0123456789abcdef-000000000007.jsonl.tmp.4711.12"));
  for (const char* other : {"", ".", "_SUCCESS", "_SUCCESS.tmp.123.0", "._SUCCESS.tmp.123",
                            "._SUCCESS.tmp.123.x", "._SUCCESS.tmp..0", ".tmp.1.2"}) {
    EXPECT_FALSE(IsTemporaryName(other)) << other;
  }
}

}  // namespace
}  // namespace sluice::connectors::filesystem
