// INTERVAL literals and intervals of numbers.
#include <charconv>

#include "common/text.h"
#include "expr/builder.h"
#include "expr/time_unit.h"
#include "types/calendar.h"

namespace sluice::expr {

namespace {

Status IllegalInterval(std::string_view text, std::string_view units) {
  return Status::Validation("Illegal interval literal format '" + Printable(text) +
                            "' for INTERVAL " + std::string(units));
}

/// Reads digits at the front of `*text`.
bool TakeNumber(std::string_view* text, int64_t* value) {
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *value);
  const auto used = static_cast<size_t>(end - text->data());
  if (error != std::errc() || used == 0 || text->front() == '-') return false;
  text->remove_prefix(used);
  return true;
}

bool TakeCharacter(std::string_view* text, char wanted) {
  if (text->empty() || text->front() != wanted) return false;
  text->remove_prefix(1);
  return true;
}

/// ".567" as milliseconds; more digits are cut.
bool TakeMillis(std::string_view* text, int64_t* millis) {
  if (text->empty()) return true;
  if (!TakeCharacter(text, '.') || text->empty()) return false;
  int64_t weight = 100;
  for (; !text->empty(); text->remove_prefix(1), weight /= 10) {
    const char c = text->front();
    if (c < '0' || c > '9') return false;
    *millis += (c - '0') * weight;
  }
  return true;
}

Status ExceedsPrecision(int64_t value, TimeUnit unit, int precision) {
  return Status::Validation("Interval field value " + std::to_string(value) +
                            " exceeds precision of " + std::string(TimeUnitText(unit)) + "(" +
                            std::to_string(precision) + ") field");
}

bool FitsPrecision(int64_t value, int precision) {
  int64_t limit = 1;
  for (int i = 0; i < precision && i < 18; ++i) limit *= 10;
  return precision == 0 || value < limit;
}

/// The smaller units in the order in which they follow each other, and the character before each.
struct DayTimeStep {
  TimeUnit unit;
  char separator;
  int64_t limit;
};
constexpr DayTimeStep kDayTime[] = {{TimeUnit::kDay, ' ', 0},
                                    {TimeUnit::kHour, ' ', 24},
                                    {TimeUnit::kMinute, ':', 60},
                                    {TimeUnit::kSecond, ':', 60}};

int StepOf(TimeUnit unit) {
  for (int i = 0; i < 4; ++i) {
    if (kDayTime[i].unit == unit) return i;
  }
  return -1;
}

}  // namespace

Result<ExprPtr> MakeInterval(std::string_view text, bool negative, std::string_view start_unit,
                             std::string_view end_unit, int leading_precision) {
  const std::string units =
      std::string(start_unit) + (end_unit.empty() ? "" : " TO " + std::string(end_unit));
  const std::optional<TimeUnit> start = FindTimeUnit(start_unit);
  const std::optional<TimeUnit> end = end_unit.empty() ? start : FindTimeUnit(end_unit);
  if (!start || !end) return Status::Validation("Unknown interval unit in INTERVAL " + units);
  std::string_view rest = TrimAscii(text);
  bool minus = negative;
  if (TakeCharacter(&rest, '-')) {
    minus = !minus;
  } else {
    TakeCharacter(&rest, '+');
  }
  int64_t leading = 0;
  if (!TakeNumber(&rest, &leading)) return IllegalInterval(text, units);
  if (!FitsPrecision(leading, leading_precision)) {
    return ExceedsPrecision(leading, *start, leading_precision);
  }
  if (UnitMonths(*start) > 0) {
    int64_t months = 0;
    if (__builtin_mul_overflow(leading, int64_t{UnitMonths(*start)}, &months)) {
      return IllegalInterval(text, units);
    }
    if (*start == TimeUnit::kYear && *end == TimeUnit::kMonth) {
      int64_t extra = 0;
      if (!TakeCharacter(&rest, '-') || !TakeNumber(&rest, &extra) || extra > 11) {
        return IllegalInterval(text, units);
      }
      months += extra;
    }
    if (!rest.empty() || months > INT32_MAX) return IllegalInterval(text, units);
    return MakeYearMonthInterval(static_cast<int32_t>(minus ? -months : months));
  }
  int64_t millis = 0;
  if (UnitMillis(*start) == 0 || __builtin_mul_overflow(leading, UnitMillis(*start), &millis)) {
    return IllegalInterval(text, units);
  }
  for (int step = StepOf(*start) + 1; *start != *end && step <= StepOf(*end); ++step) {
    int64_t value = 0;
    if (!TakeCharacter(&rest, kDayTime[step].separator) || !TakeNumber(&rest, &value) ||
        value >= kDayTime[step].limit ||
        __builtin_add_overflow(millis, value * UnitMillis(kDayTime[step].unit), &millis)) {
      return IllegalInterval(text, units);
    }
  }
  if (*end == TimeUnit::kSecond && !TakeMillis(&rest, &millis)) return IllegalInterval(text, units);
  if (!rest.empty()) return IllegalInterval(text, units);
  return MakeDayTimeInterval(minus ? -millis : millis);
}

Result<ExprPtr> MakeIntervalOf(ExprPtr number, std::string_view unit) {
  const std::optional<TimeUnit> known = FindTimeUnit(unit);
  if (!known || (UnitMonths(*known) == 0 && UnitMillis(*known) == 0)) {
    return Status::Validation("Unknown interval unit " + std::string(unit));
  }
  ExprPtr one = UnitMonths(*known) > 0 ? MakeYearMonthInterval(UnitMonths(*known))
                                       : MakeDayTimeInterval(UnitMillis(*known));
  return MakeArithmetic(ArithmeticOp::kMultiply, std::move(number), std::move(one));
}

}  // namespace sluice::expr
