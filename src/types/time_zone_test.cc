#include "types/time_zone.h"

#include <limits>

#include <gtest/gtest.h>

#include "types/calendar.h"

namespace sluice {
namespace {

int64_t At(int year, int month, int day, int hour, int minute = 0) {
  return DaysFromCivil(year, month, day) * kSecondsPerDay + hour * 3600 + minute * 60;
}

TEST(TimeZone, Names) {
  const std::pair<const char*, int32_t> cases[] = {
      {"UTC", 0},
      {"Z", 0},
      {"GMT", 0},
      {"GMT+08:00", 28800},
      {"GMT-8", -28800},
      {"UTC+8", 28800},
      {"+05:30", 19800},
      {"GMT+0530", 19800},
      {"Asia/Shanghai", 28800},
      {"UTC-03:30", -12600},
  };
  for (const auto& [name, offset] : cases) {
    const Result<TimeZone> zone = TimeZone::Find(name);
    ASSERT_TRUE(zone.ok()) << name;
    EXPECT_EQ(zone->OffsetSecondsAt(1600000000), offset) << name;
    EXPECT_EQ(zone->name(), name);
  }
}

TEST(TimeZone, UnknownNamesAreHelpedOn) {
  const Result<TimeZone> zone = TimeZone::Find("Asia/Shanghia");
  ASSERT_FALSE(zone.ok());
  EXPECT_EQ(zone.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(zone.status().message().find("Asia/Shanghai"), std::string::npos);
  for (const char* name :
       {"", "../../etc/passwd", "/etc/localtime", "GMT+99:00", "GMT+", "+", "GMT+08:61"}) {
    EXPECT_FALSE(TimeZone::Find(name).ok()) << name;
  }
}

TEST(TimeZone, GapsAndAmbiguousTimes) {
  const TimeZone zone = *TimeZone::Find("America/New_York");
  // 2021-03-14 02:30 does not exist: moved forward by the gap, 03:30 EDT.
  EXPECT_EQ(zone.LocalToInstantSeconds(At(2021, 3, 14, 2, 30)), At(2021, 3, 14, 7, 30));
  // 2021-11-07 01:30 comes twice: the earlier one, EDT.
  EXPECT_EQ(zone.LocalToInstantSeconds(At(2021, 11, 7, 1, 30)), At(2021, 11, 7, 5, 30));
  EXPECT_EQ(zone.InstantToLocalMillis(At(2021, 7, 1, 12) * 1000 + 5), At(2021, 7, 1, 8) * 1000 + 5);
  EXPECT_EQ(zone.LocalToInstantMillis(-1), 18000 * 1000 - 1);
}

TEST(TimeZone, OffsetRanges) {
  const TimeZone zone = *TimeZone::Find("America/New_York");
  const TimeZone::OffsetRange summer = zone.RangeAt(At(2021, 7, 1, 0));
  EXPECT_EQ(summer.offset_seconds, -4 * 3600);
  EXPECT_EQ(summer.begin_seconds, At(2021, 3, 14, 7));
  EXPECT_EQ(summer.end_seconds, At(2021, 11, 7, 6));
  EXPECT_EQ(zone.RangeAt(summer.begin_seconds).begin_seconds, summer.begin_seconds);
  EXPECT_EQ(zone.RangeAt(summer.begin_seconds - 1).end_seconds, summer.begin_seconds);
  EXPECT_EQ(zone.RangeAt(summer.end_seconds).begin_seconds, summer.end_seconds);
  const TimeZone::OffsetRange utc = TimeZone().RangeAt(0);
  EXPECT_EQ(utc.begin_seconds, std::numeric_limits<int64_t>::min());
  EXPECT_EQ(utc.offset_seconds, 0);
}

TEST(TimeZone, RulesAreCurrent) {
  // Mexico gave up summer time in 2022 (known-pitfalls 3.2).
  const TimeZone zone = *TimeZone::Find("America/Mexico_City");
  EXPECT_EQ(zone.OffsetSecondsAt(1688189400), -6 * 3600);
  EXPECT_NE(TimeZone::DatabaseVersion(), "unknown");
}

}  // namespace
}  // namespace sluice
