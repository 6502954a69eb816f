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
    const std::string name = PartNamePrefix("part", first, 1, streaming) + "12";
    EXPECT_EQ(UuidOfPartName(name, lineage), first) << name;
    EXPECT_EQ(UuidOfPartName(name, MakeLineage("job", "sink:t#2")), std::nullopt);
    EXPECT_EQ(UuidOfPartName("." + name, lineage), std::nullopt);
  }
  EXPECT_EQ(UuidOfPartName("part-" + first, lineage), std::nullopt);
  EXPECT_EQ(UuidOfPartName("part-1", lineage), std::nullopt);
  EXPECT_EQ(UuidOfPartName("", lineage), std::nullopt);
}

TEST(SinkNamesTest, PartNamesAreTakenApart) {
  const std::string uuid = AttemptUuid(MakeLineage("job", "sink"), "job", "attempt");
  for (const std::string& prefix : std::vector<std::string>{"part", "a-b", "x-" + uuid + "-3-4"}) {
    for (const bool streaming : {true, false}) {
      for (const char* suffix : {"", ".csv", ".csv.gz", "-5-6", "7x"}) {
        const std::string series = PartNamePrefix(prefix, uuid, 12, streaming);
        for (const char* in_front : {"", ".uncompacted-", "compacted-"}) {
          const std::string name = in_front + series + "345" + suffix;
          const auto part = ParsePartName(name);
          ASSERT_TRUE(part) << name;
          EXPECT_TRUE(std::string_view(name).ends_with("345" + std::string(suffix)));
          EXPECT_EQ(part->uuid, uuid);
          EXPECT_EQ(part->number, std::string_view(suffix).starts_with('7') ? 3457 : 345);
          EXPECT_EQ(part->series, series);
          EXPECT_TRUE(UuidOfPartName(name, MakeLineage("job", "sink")));
        }
      }
    }
  }
  for (const std::string& name :
       std::vector<std::string>{"part-" + uuid, "part-" + uuid + "-1", "part-" + uuid + "-1-",
                                uuid + "-1-2", "part-" + uuid + "-task-1-2", "part-0-1", ""}) {
    EXPECT_FALSE(ParsePartName(name)) << name;
  }
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
