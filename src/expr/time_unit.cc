#include "expr/time_unit.h"

#include "types/calendar.h"

namespace sluice::expr {

int64_t UnitMillis(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kWeek:
      return 7 * kMillisPerDay;
    case TimeUnit::kDay:
      return kMillisPerDay;
    case TimeUnit::kHour:
      return 3600000;
    case TimeUnit::kMinute:
      return 60000;
    case TimeUnit::kSecond:
      return 1000;
    case TimeUnit::kMillisecond:
      return 1;
    default:
      return 0;
  }
}

int32_t UnitMonths(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kMillennium:
      return 12000;
    case TimeUnit::kCentury:
      return 1200;
    case TimeUnit::kDecade:
      return 120;
    case TimeUnit::kYear:
      return 12;
    case TimeUnit::kQuarter:
      return 3;
    case TimeUnit::kMonth:
      return 1;
    default:
      return 0;
  }
}

}  // namespace sluice::expr
