// Proleptic Gregorian calendar arithmetic on plain integers; no zones, no exceptions, no
// allocation.
#pragma once

#include <cstdint>

namespace sluice {

constexpr int64_t kSecondsPerDay = 86400;
constexpr int64_t kMillisPerDay = 86400000;

constexpr int64_t FloorDiv(int64_t a, int64_t b) {
  const int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}
constexpr int64_t FloorMod(int64_t a, int64_t b) { return a - FloorDiv(a, b) * b; }

struct CivilDate {
  int64_t year;
  int32_t month;  // 1 to 12.
  int32_t day;    // 1 to 31.
};

/// Date of a day number (0 = 1970-01-01). The era trick: years begin in March, so the leap day is
/// the last of its year.
constexpr CivilDate CivilFromDays(int64_t days) {
  days += 719468;  // Days from 0000-03-01 to 1970-01-01.
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const auto day_of_era = static_cast<uint32_t>(days - era * 146097);
  const uint32_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const uint32_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const uint32_t shifted_month = (5 * day_of_year + 2) / 153;
  const auto day = static_cast<int32_t>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
  const auto month =
      static_cast<int32_t>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  return {static_cast<int64_t>(year_of_era) + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

/// Day number of a date; `month` must be 1 to 12, `day` may lie outside the month (it rolls over).
constexpr int64_t DaysFromCivil(int64_t year, int32_t month, int32_t day) {
  year -= month <= 2 ? 1 : 0;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

constexpr bool IsLeapYear(int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}
constexpr int32_t DaysInMonth(int64_t year, int32_t month) {
  constexpr int32_t kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeapYear(year) ? 29 : kDays[month - 1];
}

/// `days` moved by `months`, the day cut to the length of the month (01-31 + 1 month = 02-29).
constexpr int64_t AddMonths(int64_t days, int64_t months) {
  const CivilDate date = CivilFromDays(days);
  const int64_t total = date.year * 12 + (date.month - 1) + months;
  const int64_t year = FloorDiv(total, 12);
  const auto month = static_cast<int32_t>(FloorMod(total, 12) + 1);
  const int32_t last = DaysInMonth(year, month);
  return DaysFromCivil(year, month, date.day < last ? date.day : last);
}

/// Monday 1 … Sunday 7.
constexpr int32_t IsoDayOfWeek(int64_t days) {
  return static_cast<int32_t>(FloorMod(days + 3, 7)) + 1;
}
/// 1 to 366.
constexpr int32_t DayOfYear(int64_t days) {
  return static_cast<int32_t>(days - DaysFromCivil(CivilFromDays(days).year, 1, 1)) + 1;
}
/// ISO week-based year and week.
struct IsoWeek {
  int64_t year;
  int32_t week;
};
constexpr IsoWeek IsoWeekOf(int64_t days) {
  const int64_t thursday = days - (IsoDayOfWeek(days) - 1) + 3;
  return {CivilFromDays(thursday).year, (DayOfYear(thursday) - 1) / 7 + 1};
}

}  // namespace sluice
