// The units of EXTRACT, FLOOR … TO, TIMESTAMPADD, TIMESTAMPDIFF and intervals.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice {

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
/// "YEAR", "ISODOW", …
std::string_view TimeUnitText(TimeUnit unit);

}  // namespace sluice
