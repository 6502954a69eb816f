// TIMESTAMPDIFF, the difference of times, and what the builder makes of TIMESTAMPADD and OVERLAPS.
#include <algorithm>

#include "expr/functions/lists.h"
#include "expr/kernel_support.h"
#include "expr/signature.h"
#include "expr/time_unit.h"
#include "expr/zone_offsets.h"
#include "types/calendar.h"
#include "types/value_text.h"

namespace sluice::expr {

namespace {

/// Both times as TIMESTAMP or both as TIMESTAMP_LTZ of one precision. The NULL type when they do
/// not go together.
SqlType CommonTime(const SqlType& a, const SqlType& b) {
  const bool a_local = a.kind() == TypeKind::kTimestampLtz;
  const bool b_local = b.kind() == TypeKind::kTimestampLtz;
  const auto precision = [](const SqlType& type) {
    return type.is_timestamp() ? type.precision() : 0;
  };
  const auto fits = [](const SqlType& type) {
    return type.is_timestamp() || type.kind() == TypeKind::kDate;
  };
  if (!fits(a) || !fits(b) || a_local != b_local) return SqlType::Null();
  const int common = std::max({precision(a), precision(b), 3});
  return a_local ? SqlType::TimestampLtz(common) : SqlType::Timestamp(common);
}

Result<Signature> ResolvePair(std::span<const Argument> pair, SqlType result) {
  SqlType a = pair[0].type;
  SqlType b = pair[1].type;
  if (a.kind() == TypeKind::kNull) a = b;
  if (b.kind() == TypeKind::kNull) b = a;
  if (a.kind() == TypeKind::kTime && b.kind() == TypeKind::kTime) {
    return Signature{{a, b}, std::move(result)};
  }
  const SqlType common = CommonTime(a, b);
  if (common.kind() == TypeKind::kNull) return TypesDoNotFit();
  return Signature{{common.WithNullable(a.nullable()), common.WithNullable(b.nullable())},
                   std::move(result)};
}

Result<Signature> ResolveDifference(std::span<const Argument> arguments) {
  const std::optional<std::string> name = LiteralText(arguments[0]);
  const std::optional<TimeUnit> unit = name ? FindTimeUnit(*name) : std::nullopt;
  if (!unit || (UnitMonths(*unit) == 0 && UnitMillis(*unit) == 0)) return TypesDoNotFit();
  SLUICE_ASSIGN_OR_RETURN(Signature signature, ResolvePair(arguments.subspan(1), SqlType::Int()));
  signature.arguments.insert(signature.arguments.begin(), arguments[0].type);
  return signature;
}

Result<Signature> ResolveMinus(std::span<const Argument> arguments) {
  return ResolvePair(arguments, SqlType::IntervalDayTime());
}

/// Whole months from a to b, both in seconds of a wall clock with a sub-second rest.
int64_t MonthsBetween(int64_t a_seconds, int64_t a_rest, int64_t b_seconds, int64_t b_rest) {
  const int64_t a_day = FloorDiv(a_seconds, kSecondsPerDay);
  const CivilDate from = CivilFromDays(a_day);
  const CivilDate to = CivilFromDays(FloorDiv(b_seconds, kSecondsPerDay));
  int64_t months = (to.year - from.year) * 12 + (to.month - from.month);
  const int64_t moved = a_seconds + (AddMonths(a_day, months) - a_day) * kSecondsPerDay;
  const auto compare = std::pair(moved, a_rest) <=> std::pair(b_seconds, b_rest);
  if (months > 0 && compare > 0) --months;
  if (months < 0 && compare < 0) ++months;
  return months;
}

Result<ArrayPtr> DifferenceKernel(const KernelCall& call) {
  const TimeUnit unit = *FindTimeUnit(TextOperand(call.arguments[0])[0]);
  const SqlType& type = *call.arguments[1].type;
  if (type.kind() == TypeKind::kTime) {
    const int64_t length = UnitMillis(unit);
    return MapValues<int32_t>(
        call,
        [length](int32_t a, int32_t b) {
          return length == 0 ? 0 : static_cast<int32_t>((b - a) / length);
        },
        NumberOperand<int32_t>(call.arguments[1]), NumberOperand<int32_t>(call.arguments[2]));
  }
  const int64_t units = TimestampUnitsPerSecond(type.precision());
  const NumberOperand<int64_t> from(call.arguments[1]);
  const NumberOperand<int64_t> to(call.arguments[2]);
  if (UnitMonths(unit) == 0) {
    const int64_t length = UnitMillis(unit) * (units / 1000);
    return MapValues<int32_t>(
        call,
        [length](int64_t a, int64_t b) {
          return static_cast<int32_t>((static_cast<__int128>(b) - a) / length);
        },
        from, to);
  }
  const bool local = type.kind() == TypeKind::kTimestampLtz;
  ZoneOffsets offsets(call.context.session_zone);
  const int32_t length = UnitMonths(unit);
  return MapValues<int32_t>(
      call,
      [&, units, local, length](int64_t a, int64_t b) {
        int64_t a_seconds = FloorDiv(a, units);
        int64_t b_seconds = FloorDiv(b, units);
        const int64_t a_rest = a - a_seconds * units;
        const int64_t b_rest = b - b_seconds * units;
        if (local) {
          a_seconds = offsets.ToLocal(a_seconds);
          b_seconds = offsets.ToLocal(b_seconds);
        }
        return static_cast<int32_t>(MonthsBetween(a_seconds, a_rest, b_seconds, b_rest) / length);
      },
      from, to);
}

/// a - b in milliseconds.
Result<ArrayPtr> MinusKernel(const KernelCall& call) {
  const SqlType& type = *call.arguments[0].type;
  if (type.kind() == TypeKind::kTime) {
    return MapValues<int64_t>(
        call, [](int32_t a, int32_t b) { return int64_t{a} - b; },
        NumberOperand<int32_t>(call.arguments[0]), NumberOperand<int32_t>(call.arguments[1]));
  }
  const int64_t per_milli = TimestampUnitsPerSecond(type.precision()) / 1000;
  return MapValues<int64_t>(
      call,
      [per_milli](int64_t a, int64_t b) {
        return static_cast<int64_t>((static_cast<__int128>(a) - b) / per_milli);
      },
      NumberOperand<int64_t>(call.arguments[0]), NumberOperand<int64_t>(call.arguments[1]));
}

Result<ArrayPtr> NeverCalled(const KernelCall& /*call*/) {
  return Status::Internal("the builder replaces this function by operators");
}

}  // namespace

std::span<const ScalarFunction> TimeArithmeticFunctions() {
  constexpr std::string_view kGroup = "temporal";
  using A = Accept;
  static const ScalarFunction kFunctions[] = {
      {.name = "TIMESTAMPDIFF",
       .group = kGroup,
       .resolve = &ResolveDifference,
       .min_arguments = 3,
       .max_arguments = 3,
       .kernel = &DifferenceKernel,
       .supported_forms = "'TIMESTAMPDIFF(<ANY>, <DATETIME>, <DATETIME>)'",
       .doc =
           {"TIMESTAMPDIFF(unit, a, b)", "Whole units from a to b.",
            "TIMESTAMPDIFF(DAY, TIMESTAMP '2020-05-20 12:34:56', TIMESTAMP '2020-05-25 00:00:00') "
            "=> 4"}},
      {.name = "TIMESTAMPADD",
       .group = kGroup,
       .signatures = {{{A::kText, A::kInteger, A::kAny}, SqlType::Timestamp(3)}},
       .kernel = &NeverCalled,
       .supported_forms = "'TIMESTAMPADD(<ANY>, <INTEGER>, <DATETIME>)'",
       .doc = {"TIMESTAMPADD(unit, n, x)", "x plus n units.",
               "TIMESTAMPADD(MONTH, 1, DATE '2020-01-31') => DATE '2020-02-29'"}},
      {.name = "OVERLAPS",
       .group = kGroup,
       .signatures = {{{A::kAny, A::kAny, A::kAny, A::kAny}, SqlType::Boolean()}},
       .kernel = &NeverCalled,
       .doc = {"(start, end) OVERLAPS (start, end)",
               "TRUE when two periods have an instant in common; an end may be an interval.", ""},
       .is_operator = true},
      {.name = "MINUS_TIME",
       .group = kGroup,
       .resolve = &ResolveMinus,
       .min_arguments = 2,
       .max_arguments = 2,
       .kernel = &MinusKernel,
       .supported_forms = "'(<DATETIME> - <DATETIME>) <UNIT>'",
       .is_operator = true},
  };
  return kFunctions;
}

}  // namespace sluice::expr
