// EXTRACT and YEAR, MONTH, HOUR and the like (sql.md §9.4).
#include "expr/functions/lists.h"
#include "expr/kernel_support.h"
#include "expr/signature.h"
#include "expr/time_unit.h"
#include "expr/zone_offsets.h"
#include "types/calendar.h"
#include "types/value_text.h"

namespace sluice::expr {

namespace {

/// A wall time in parts.
struct Parts {
  int64_t day;
  int64_t second;  // Of the day.
  int64_t nanos;   // Of the second.
};

/// Calls `fn(Parts)` for each value of a DATE, TIME, TIMESTAMP or TIMESTAMP_LTZ (in the session's
/// zone).
template <typename Fn>
Result<ArrayPtr> MapParts(const KernelCall& call, const KernelArgument& argument, Fn fn) {
  const SqlType& type = *argument.type;
  switch (type.kind()) {
    case TypeKind::kDate:
      return MapValues<int64_t>(
          call,
          [&](int32_t days) -> int64_t {
            return fn(Parts{days, 0, 0});
          },
          NumberOperand<int32_t>(argument));
    case TypeKind::kTime:
      return MapValues<int64_t>(
          call,
          [&](int32_t ms) -> int64_t {
            return fn(Parts{0, ms / 1000, ms % 1000 * int64_t{1000000}});
          },
          NumberOperand<int32_t>(argument));
    default: {
      const int64_t units = TimestampUnitsPerSecond(type.precision());
      const bool local = type.kind() == TypeKind::kTimestampLtz;
      ZoneOffsets offsets(call.context.session_zone);
      return MapValues<int64_t>(
          call,
          [&, units, local](int64_t value) -> int64_t {
            int64_t seconds = FloorDiv(value, units);
            const int64_t nanos = (value - seconds * units) * (1000000000 / units);
            if (local) seconds = offsets.ToLocal(seconds);
            const int64_t day = FloorDiv(seconds, kSecondsPerDay);
            return fn(Parts{day, seconds - day * kSecondsPerDay, nanos});
          },
          NumberOperand<int64_t>(argument));
    }
  }
}

Result<ArrayPtr> ExtractDateUnit(const KernelCall& call, const KernelArgument& value,
                                 TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kMillennium:
      return MapParts(call, value, [](const Parts& p) {
        return FloorDiv(CivilFromDays(p.day).year + 999, 1000);
      });
    case TimeUnit::kCentury:
      return MapParts(call, value,
                      [](const Parts& p) { return FloorDiv(CivilFromDays(p.day).year + 99, 100); });
    case TimeUnit::kDecade:
      return MapParts(call, value,
                      [](const Parts& p) { return FloorDiv(CivilFromDays(p.day).year, 10); });
    case TimeUnit::kYear:
      return MapParts(call, value, [](const Parts& p) { return CivilFromDays(p.day).year; });
    case TimeUnit::kIsoYear:
      return MapParts(call, value, [](const Parts& p) { return IsoWeekOf(p.day).year; });
    case TimeUnit::kQuarter:
      return MapParts(call, value,
                      [](const Parts& p) { return (CivilFromDays(p.day).month - 1) / 3 + 1; });
    case TimeUnit::kMonth:
      return MapParts(call, value, [](const Parts& p) { return CivilFromDays(p.day).month; });
    case TimeUnit::kWeek:
      return MapParts(call, value, [](const Parts& p) { return IsoWeekOf(p.day).week; });
    case TimeUnit::kDay:
      return MapParts(call, value, [](const Parts& p) { return CivilFromDays(p.day).day; });
    case TimeUnit::kDoy:
      return MapParts(call, value, [](const Parts& p) { return DayOfYear(p.day); });
    case TimeUnit::kDow:  // Sunday is 1.
      return MapParts(call, value, [](const Parts& p) { return IsoDayOfWeek(p.day) % 7 + 1; });
    default:
      return MapParts(call, value, [](const Parts& p) { return IsoDayOfWeek(p.day); });
  }
}

/// Seconds since 1970 of the instant, not of its wall time.
Result<ArrayPtr> ExtractEpoch(const KernelCall& call, const KernelArgument& value) {
  if (value.type->kind() == TypeKind::kTimestampLtz) {
    const int64_t units = TimestampUnitsPerSecond(value.type->precision());
    return MapValues<int64_t>(
        call, [units](int64_t v) { return FloorDiv(v, units); }, NumberOperand<int64_t>(value));
  }
  return MapParts(call, value, [](const Parts& p) { return p.day * kSecondsPerDay + p.second; });
}

Result<ArrayPtr> ExtractTimeUnit(const KernelCall& call, const KernelArgument& value,
                                 TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kHour:
      return MapParts(call, value, [](const Parts& p) { return p.second / 3600; });
    case TimeUnit::kMinute:
      return MapParts(call, value, [](const Parts& p) { return p.second / 60 % 60; });
    case TimeUnit::kSecond:
      return MapParts(call, value, [](const Parts& p) { return p.second % 60; });
    case TimeUnit::kMillisecond:
      return MapParts(call, value, [](const Parts& p) { return p.nanos / 1000000; });
    case TimeUnit::kMicrosecond:
      return MapParts(call, value, [](const Parts& p) { return p.nanos / 1000; });
    case TimeUnit::kNanosecond:
      return MapParts(call, value, [](const Parts& p) { return p.nanos; });
    default:
      return ExtractEpoch(call, value);
  }
}

Result<ArrayPtr> ExtractMonths(const KernelCall& call, const KernelArgument& value, TimeUnit unit) {
  return MapValues<int64_t>(
      call,
      [unit](int32_t months) -> int64_t {
        switch (unit) {
          case TimeUnit::kYear:
            return months / 12;
          case TimeUnit::kQuarter:
            return months % 12 / 3 + 1;
          default:
            return months % 12;
        }
      },
      NumberOperand<int32_t>(value));
}

Result<ArrayPtr> ExtractMillis(const KernelCall& call, const KernelArgument& value, TimeUnit unit) {
  return MapValues<int64_t>(
      call,
      [unit](int64_t millis) -> int64_t {
        switch (unit) {
          case TimeUnit::kDay:
            return millis / kMillisPerDay;
          case TimeUnit::kHour:
            return millis / 3600000 % 24;
          case TimeUnit::kMinute:
            return millis / 60000 % 60;
          case TimeUnit::kSecond:
            return millis / 1000 % 60;
          case TimeUnit::kMillisecond:
            return millis % 1000;
          case TimeUnit::kMicrosecond:
            return millis % 1000 * 1000;
          case TimeUnit::kNanosecond:
            return millis % 1000 * 1000000;
          default:
            return millis / 1000;
        }
      },
      NumberOperand<int64_t>(value));
}

bool IsDateUnit(TimeUnit unit) { return unit <= TimeUnit::kIsoDow; }

Result<ArrayPtr> Extract(const KernelCall& call, const KernelArgument& value, TimeUnit unit) {
  if (value.type->kind() == TypeKind::kIntervalYearMonth) return ExtractMonths(call, value, unit);
  if (value.type->kind() == TypeKind::kIntervalDayTime) return ExtractMillis(call, value, unit);
  return IsDateUnit(unit) ? ExtractDateUnit(call, value, unit) : ExtractTimeUnit(call, value, unit);
}

bool HasUnit(const SqlType& type, TimeUnit unit) {
  switch (type.kind()) {
    case TypeKind::kDate:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return true;
    case TypeKind::kTime:
      return !IsDateUnit(unit);
    case TypeKind::kIntervalYearMonth:
      return unit == TimeUnit::kYear || unit == TimeUnit::kMonth || unit == TimeUnit::kQuarter;
    case TypeKind::kIntervalDayTime:
      return unit == TimeUnit::kDay || !IsDateUnit(unit);
    default:
      return false;
  }
}

Result<Signature> ResolveExtract(std::span<const Argument> arguments) {
  const std::optional<std::string> name = LiteralText(arguments[0]);
  const std::optional<TimeUnit> unit = name ? FindTimeUnit(*name) : std::nullopt;
  if (!unit || !HasUnit(arguments[1].type, *unit)) return TypesDoNotFit();
  return Signature{{arguments[0].type, arguments[1].type}, SqlType::Bigint()};
}

Result<ArrayPtr> ExtractKernel(const KernelCall& call) {
  const TextOperand unit(call.arguments[0]);
  return Extract(call, call.arguments[1], *FindTimeUnit(unit[0]));
}

template <TimeUnit unit>
Result<Signature> ResolvePart(std::span<const Argument> arguments) {
  if (!HasUnit(arguments[0].type, unit)) return TypesDoNotFit();
  return Signature{{arguments[0].type}, SqlType::Bigint()};
}

template <TimeUnit unit>
Result<ArrayPtr> PartKernel(const KernelCall& call) {
  return Extract(call, call.arguments[0], unit);
}

template <TimeUnit unit>
ScalarFunction Part(std::string_view name, FunctionDoc doc) {
  return {.name = name,
          .group = "temporal",
          .resolve = &ResolvePart<unit>,
          .min_arguments = 1,
          .max_arguments = 1,
          .kernel = &PartKernel<unit>,
          .doc = doc};
}

}  // namespace

std::span<const ScalarFunction> ExtractFunctions() {
  static const ScalarFunction kFunctions[] = {
      {.name = "EXTRACT",
       .group = "temporal",
       .resolve = &ResolveExtract,
       .min_arguments = 2,
       .max_arguments = 2,
       .kernel = &ExtractKernel,
       .supported_forms = "'EXTRACT(<DATETIME_UNIT> FROM <DATETIME or INTERVAL>)'",
       .doc = {"EXTRACT(unit FROM x)", "A part of a date, time or interval as a number.",
               "EXTRACT(DOW FROM DATE '2020-05-20') => 4"}},
      Part<TimeUnit::kYear>("YEAR", {"YEAR(d)", "The year.", "YEAR(DATE '2020-05-20') => 2020"}),
      Part<TimeUnit::kQuarter>(
          "QUARTER", {"QUARTER(d)", "The quarter, 1 to 4.", "QUARTER(DATE '2020-05-20') => 2"}),
      Part<TimeUnit::kMonth>("MONTH",
                             {"MONTH(d)", "The month, 1 to 12.", "MONTH(DATE '2020-05-20') => 5"}),
      Part<TimeUnit::kWeek>("WEEK", {"WEEK(d)", "The ISO week of the year, 1 to 53.",
                                     "WEEK(DATE '2020-05-20') => 21"}),
      Part<TimeUnit::kDoy>("DAYOFYEAR", {"DAYOFYEAR(d)", "The day of the year, 1 to 366.",
                                         "DAYOFYEAR(DATE '2020-05-20') => 141"}),
      Part<TimeUnit::kDay>("DAYOFMONTH", {"DAYOFMONTH(d)", "The day of the month, 1 to 31.",
                                          "DAYOFMONTH(DATE '2020-05-20') => 20"}),
      Part<TimeUnit::kDow>("DAYOFWEEK", {"DAYOFWEEK(d)", "The day of the week, Sunday is 1.",
                                         "DAYOFWEEK(DATE '2020-05-20') => 4"}),
      Part<TimeUnit::kHour>(
          "HOUR", {"HOUR(t)", "The hour, 0 to 23.", "HOUR(TIMESTAMP '2020-05-20 12:34:56') => 12"}),
      Part<TimeUnit::kMinute>("MINUTE", {"MINUTE(t)", "The minute, 0 to 59.",
                                         "MINUTE(TIMESTAMP '2020-05-20 12:34:56') => 34"}),
      Part<TimeUnit::kSecond>("SECOND", {"SECOND(t)", "The second, 0 to 59.",
                                         "SECOND(TIMESTAMP '2020-05-20 12:34:56') => 56"}),
  };
  return kFunctions;
}

}  // namespace sluice::expr
