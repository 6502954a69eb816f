// Dates and times as csv and json write and read them (formats.md §0.5). Writers put characters at
// a pointer with room for kMaxTemporalChars and return the end. Readers return nullptr when the
// text is fine, else the reason in a few words.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::formats::text {

constexpr int kMaxTemporalChars = 48;

enum class TimestampStyle : uint8_t {
  kSql,  // "2020-01-01 10:00:00.12", TIMESTAMP_LTZ with Z.
  kIso,  // "2020-01-01T10:00:00.12", TIMESTAMP_LTZ with Z or, when reading, any offset; seconds may
         // be left out.
};

/// Days since 1970-01-01 in the proleptic Gregorian calendar.
constexpr int64_t DaysFromCivil(int64_t year, unsigned month, unsigned day) {
  // Years begin in March, so that the leap day is the last; counted in eras of 400 years.
  year -= month <= 2 ? 1 : 0;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const auto year_of_era = static_cast<unsigned>(year - era * 400);
  const unsigned day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const unsigned day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + static_cast<int64_t>(day_of_era) - 719468;
}

char* WriteDate(int64_t days, char* out);
char* WriteTime(int32_t millis_of_day, char* out);
/// A time of day with `digits` (3, 6 or 9) digits of fraction, trailing zeros left out.
char* WriteClock(uint32_t second_of_day, uint32_t fraction, int digits, char* out);
/// `units_per_second`: 1,000, 1,000,000 or 1,000,000,000; `instant`: TIMESTAMP_LTZ, with a final Z.
char* WriteTimestamp(int64_t value, int64_t units_per_second, TimestampStyle style, bool instant,
                     char* out);

/// `lenient`: months and days of one digit (csv). Impossible days are refused either way.
const char* ParseDate(std::string_view text, bool lenient, int32_t* days);

struct TimeRules {
  bool seconds_required = true;  // json; csv also reads "10:00".
  bool end_of_day = true;        // "24:00:00" is 00:00:00; json only.
  int precision = 3;             // More digits are cut.
};
const char* ParseTime(std::string_view text, const TimeRules& rules, int32_t* millis_of_day);

struct TimestampRules {
  TimestampStyle style = TimestampStyle::kSql;
  bool instant = false;  // TIMESTAMP_LTZ.
  int precision = 3;
  int64_t units_per_second = 1000;
};
/// Rules for a column of that precision.
TimestampRules MakeTimestampRules(TimestampStyle style, bool instant, int precision);
/// The fraction is cut to the precision. Out of the range of 64 bits is a reason too, never a
/// wrapped number.
const char* ParseTimestamp(std::string_view text, const TimestampRules& rules, int64_t* value);

}  // namespace sluice::formats::text
