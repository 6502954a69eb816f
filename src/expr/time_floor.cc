#include "expr/time_floor.h"

#include "types/calendar.h"

namespace sluice::expr {

bool IsFixedUnit(TimeUnit unit) { return UnitMillis(unit) > 0 && unit != TimeUnit::kWeek; }

int64_t FloorDay(int64_t day, TimeUnit unit) {
  const CivilDate date = CivilFromDays(day);
  switch (unit) {
    case TimeUnit::kWeek:
      return day - IsoDayOfWeek(day) % 7;
    case TimeUnit::kMonth:
      return DaysFromCivil(date.year, date.month, 1);
    case TimeUnit::kQuarter:
      return DaysFromCivil(date.year, (date.month - 1) / 3 * 3 + 1, 1);
    case TimeUnit::kYear:
      return DaysFromCivil(date.year, 1, 1);
    case TimeUnit::kDecade:
      return DaysFromCivil(FloorDiv(date.year, 10) * 10, 1, 1);
    case TimeUnit::kCentury:  // The 21st century began in 2001.
      return DaysFromCivil(FloorDiv(date.year - 1, 100) * 100 + 1, 1, 1);
    case TimeUnit::kMillennium:
      return DaysFromCivil(FloorDiv(date.year - 1, 1000) * 1000 + 1, 1, 1);
    default:
      return day;
  }
}

int64_t NextDay(int64_t day, TimeUnit unit) {
  if (unit == TimeUnit::kWeek) return day + 7;
  if (UnitMonths(unit) > 0) return AddMonths(day, UnitMonths(unit));
  return day + 1;
}

}  // namespace sluice::expr
