// The units of EXTRACT, FLOOR … TO, TIMESTAMPADD, TIMESTAMPDIFF and intervals.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice::expr {

enum class TimeUnit : uint8_t {
  kMillennium,
  kCentury,
  kDecade,
  kYear,
  kIsoYear,
  kQuarter,
  kMonth,
  kWeek,
  kDay,
  kDoy,
  kDow,
  kIsoDow,
  kHour,
  kMinute,
  kSecond,
  kMillisecond,
  kMicrosecond,
  kNanosecond,
  kEpoch,
};

/// By name in any case, singular or plural, also as SQL_TSI_DAY.
std::optional<TimeUnit> FindTimeUnit(std::string_view name);
std::string_view TimeUnitText(TimeUnit unit);

/// Milliseconds of a unit of fixed length (WEEK to MILLISECOND), 0 for others.
int64_t UnitMillis(TimeUnit unit);
/// Months of a unit of the calendar (MILLENNIUM to MONTH), 0 for others.
int32_t UnitMonths(TimeUnit unit);

}  // namespace sluice::expr
