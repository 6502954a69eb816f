#include "types/time_unit.h"

#include <string>
#include <utility>

#include "common/text.h"

namespace sluice {
namespace {

constexpr std::pair<std::string_view, TimeUnit> kUnits[] = {
    {"MILLENNIUM", TimeUnit::kMillennium},
    {"CENTURY", TimeUnit::kCentury},
    {"DECADE", TimeUnit::kDecade},
    {"YEAR", TimeUnit::kYear},
    {"ISOYEAR", TimeUnit::kIsoYear},
    {"QUARTER", TimeUnit::kQuarter},
    {"MONTH", TimeUnit::kMonth},
    {"WEEK", TimeUnit::kWeek},
    {"DAY", TimeUnit::kDay},
    {"DOY", TimeUnit::kDoy},
    {"DOW", TimeUnit::kDow},
    {"ISODOW", TimeUnit::kIsoDow},
    {"HOUR", TimeUnit::kHour},
    {"MINUTE", TimeUnit::kMinute},
    {"SECOND", TimeUnit::kSecond},
    {"MILLISECOND", TimeUnit::kMillisecond},
    {"MICROSECOND", TimeUnit::kMicrosecond},
    {"NANOSECOND", TimeUnit::kNanosecond},
    {"EPOCH", TimeUnit::kEpoch},
};

}  // namespace

std::optional<TimeUnit> FindTimeUnit(std::string_view name) {
  std::string upper = ToUpperAscii(name);
  constexpr std::string_view kPrefix = "SQL_TSI_";
  if (upper.starts_with(kPrefix)) upper.erase(0, kPrefix.size());
  for (int attempt = 0; attempt < 2; ++attempt) {
    for (const auto& [text, unit] : kUnits) {
      if (upper == text) return unit;
    }
    if (upper.empty() || upper.back() != 'S') break;
    upper.pop_back();  // "DAYS".
  }
  return std::nullopt;
}

std::string_view TimeUnitText(TimeUnit unit) {
  for (const auto& [text, known] : kUnits) {
    if (known == unit) return text;
  }
  return "?";
}

}  // namespace sluice
