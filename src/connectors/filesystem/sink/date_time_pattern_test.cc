#include "connectors/filesystem/sink/date_time_pattern.h"

#include <gtest/gtest.h>

#include "connectors/filesystem/sink/partition_time.h"

namespace sluice::connectors::filesystem {
namespace {

constexpr int64_t kMay20 = 1'589'932'800'000;  // 2020-05-20 00:00:00.
constexpr int64_t kHour = 3'600'000;

TEST(DateTimePattern, Reads) {
  struct Case {
    const char* pattern;
    const char* text;
    std::optional<int64_t> expected;
  };
  const Case cases[] = {
      {"yyyy-MM-dd HH:mm:ss", "2020-05-20 07:00:01", kMay20 + 7 * kHour + 1000},
      {"yyyyMMdd", "20200520", kMay20},
      {"yyyyMMddHH", "2020052007", kMay20 + 7 * kHour},
      {"yyyy-MM-dd'T'HH", "2020-05-20T07", kMay20 + 7 * kHour},
      {"yyyy-M-d", "2020-5-20", kMay20},
      {"yyyy-M-d", "2020-05-20", kMay20},
      {"dd MMM yyyy", "20 May 2020", kMay20},
      {"yyyy-MM-dd[ HH[:mm]]", "2020-05-20", kMay20},
      {"yyyy-MM-dd[ HH[:mm]]", "2020-05-20 07:30", kMay20 + 7 * kHour + kHour / 2},
      {"yyyy-MM-dd hh a", "2020-05-20 07 PM", kMay20 + 19 * kHour},
      {"yyyy/D", "2020/141", kMay20},
      {"yyyy-MM-dd HH:mm:ss.SSS", "2020-05-20 00:00:00.250", kMay20 + 250},
      // Strict: no rolling over, nothing behind, exact widths.
      {"yyyy-MM-dd", "2020-13-45", std::nullopt},
      {"yyyy-MM-dd", "2021-02-29", std::nullopt},
      {"yyyy-MM-dd", "2020-05-20x", std::nullopt},
      {"yyyy-MM-dd", "2020-5-20", std::nullopt},
      {"yyyy-MM-dd HH", "2020-05-20 24", std::nullopt},
      {"yyyyMMdd", "__DEFAULT_PARTITION__", std::nullopt},
  };
  for (const Case& c : cases) {
    auto pattern = DateTimePattern::Make(c.pattern);
    ASSERT_TRUE(pattern.ok()) << c.pattern << ": " << pattern.status().ToString();
    EXPECT_EQ(pattern->ParseLocalMillis(c.text), c.expected) << c.pattern << " / " << c.text;
  }
}

TEST(DateTimePattern, RefusesWhatCanNeverWork) {
  for (const char* pattern : {"HH:mm", "yyyy-MM", "yyyy-MM-dd 'x", "yyyy-MM-dd b", "[yyyy-MM-dd",
                              "yyyy-MM-dd]", "", "yyyy-MM-dd VV"}) {
    EXPECT_FALSE(DateTimePattern::Make(pattern).ok()) << pattern;
  }
}

TEST(PartitionTime, DefaultForm) {
  EXPECT_EQ(ParseLenientWidthDateTime("2020-05-20"), kMay20);
  EXPECT_EQ(ParseLenientWidthDateTime("2020-5-20 7:0:0"), kMay20 + 7 * kHour);
  EXPECT_EQ(ParseLenientWidthDateTime("2020-05-20 00:00:00.123456789"), kMay20 + 123);
  for (const char* bad : {"2020-13-45", "not a time", "2020-05-20 ", "2020-05-20 25:00:00",
                          "2020-05-20T07:00:00", "", "2020-02-30", "20200520"}) {
    EXPECT_EQ(ParseLenientWidthDateTime(bad), std::nullopt) << bad;
  }
}

TEST(PartitionTime, ReplacesWholeKeys) {
  // known-pitfalls and filesystem.md 13.4.1: key `d` must not hit `$dt`.
  auto extractor = PartitionTimeExtractor::Make({"d", "dt", "hour"}, "$dt $hour:00:00", {});
  ASSERT_TRUE(extractor.ok());
  EXPECT_EQ(extractor->LocalMillis({"x", "2020-05-20", "07"}), kMay20 + 7 * kHour);
  EXPECT_EQ(extractor->LocalMillis({"x", "$1\\", "07"}), std::nullopt);
  EXPECT_EQ(extractor->LocalMillis({"x", std::nullopt, "07"}), std::nullopt);
  EXPECT_EQ(extractor->LocalMillis({"2020-05-20", "07"}), std::nullopt);  // Another layout.
}

TEST(KnownPitfalls, Rule2_3_PatternThatCanNeverWork) {
  auto unknown = PartitionTimeExtractor::Make({"dt", "hour"}, "$day $hour:00:00", {});
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.status().message().find("$day"), std::string::npos);
  EXPECT_FALSE(PartitionTimeExtractor::Make({"dt"}, "$dtype", {}).ok());
  EXPECT_FALSE(PartitionTimeExtractor::Make({"dt"}, "2020-01-01", {}).ok());
  EXPECT_FALSE(PartitionTimeExtractor::Make({"dt"}, "$dt", "HH:mm").ok());
  EXPECT_TRUE(PartitionTimeExtractor::Make({"dt"}, "$dtT07", "yyyy-MM-dd'T'HH").ok());
}

}  // namespace
}  // namespace sluice::connectors::filesystem
