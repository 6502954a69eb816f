// FLOOR and CEIL of numbers and times, ROUND, TRUNCATE, SIGN, ABS.
#include <algorithm>
#include <cmath>
#include <limits>

#include "expr/cast_internal.h"
#include "expr/functions/lists.h"
#include "expr/kernel_support.h"
#include "expr/signature.h"
#include "expr/time_floor.h"
#include "expr/zone_offsets.h"
#include "types/calendar.h"
#include "types/value_text.h"

namespace sluice::expr {

namespace {

using internal::PowerOfTen;

// ---- FLOOR and CEIL ----

Result<Signature> ResolveFloor(std::span<const Argument> arguments) {
  const SqlType& type = arguments[0].type;
  if (arguments.size() == 1) {
    if (!type.is_numeric()) return TypesDoNotFit();
    const SqlType result =
        type.kind() == TypeKind::kDecimal ? SqlType::Decimal(type.precision(), 0) : type;
    return Signature{{type}, result};
  }
  const std::optional<std::string> name = LiteralText(arguments[1]);
  const std::optional<TimeUnit> unit = name ? FindTimeUnit(*name) : std::nullopt;
  const bool known = unit && (UnitMonths(*unit) > 0 || UnitMillis(*unit) > 0);
  if (!known || !type.is_datetime()) return TypesDoNotFit();
  if (type.kind() == TypeKind::kTime && !(IsFixedUnit(*unit) && *unit != TimeUnit::kDay)) {
    return TypesDoNotFit();
  }
  return Signature{{type, arguments[1].type}, type};
}

template <bool ceil>
int64_t RoundDay(int64_t day, TimeUnit unit) {
  if (IsFixedUnit(unit)) return day;
  const int64_t floor = FloorDay(day, unit);
  return ceil && floor != day ? NextDay(floor, unit) : floor;
}

template <bool ceil>
int64_t RoundFixed(int64_t value, int64_t length) {
  const int64_t floor = FloorDiv(value, length) * length;
  return ceil && floor != value ? floor + length : floor;
}

/// Wall-clock seconds and their rest rounded to DAY or a larger unit: whole days of the wall clock.
template <bool ceil>
int64_t RoundToDays(int64_t seconds, bool has_rest, TimeUnit unit) {
  const int64_t day = FloorDiv(seconds, kSecondsPerDay);
  const int64_t floor = unit == TimeUnit::kDay ? day : FloorDay(day, unit);
  const bool exact = floor * kSecondsPerDay == seconds && !has_rest;
  if (!ceil || exact) return floor * kSecondsPerDay;
  return (unit == TimeUnit::kDay ? floor + 1 : NextDay(floor, unit)) * kSecondsPerDay;
}

template <bool ceil>
Result<ArrayPtr> RoundTimestamps(const KernelCall& call, TimeUnit unit) {
  const SqlType& type = call.result_type;
  const int64_t units = TimestampUnitsPerSecond(type.precision());
  const bool local = type.kind() == TypeKind::kTimestampLtz;
  ZoneOffsets offsets(call.context.session_zone);
  const NumberOperand<int64_t> input(call.arguments[0]);
  if (IsFixedUnit(unit) && unit != TimeUnit::kDay) {
    // In the offset of the instant itself: no other instant can be meant near a change of the
    // clocks.
    const int64_t length = UnitMillis(unit) * (units / 1000);
    return MapValues<int64_t>(
        call,
        [&, length, units, local](int64_t value) {
          const int64_t shift = local ? offsets.AtInstant(FloorDiv(value, units)) * units : 0;
          return RoundFixed<ceil>(value + shift, length) - shift;
        },
        input);
  }
  return MapValues<int64_t>(
      call,
      [&, units, local](int64_t value) {
        int64_t seconds = FloorDiv(value, units);
        const bool has_rest = value != seconds * units;
        if (local) seconds = offsets.ToLocal(seconds);
        seconds = RoundToDays<ceil>(seconds, has_rest, unit);
        if (local) seconds = offsets.ToInstant(seconds);
        return seconds * units;
      },
      input);
}

template <bool ceil>
Result<ArrayPtr> RoundTimes(const KernelCall& call) {
  const TimeUnit unit = *FindTimeUnit(TextOperand(call.arguments[1])[0]);
  switch (call.result_type.kind()) {
    case TypeKind::kDate:
      return MapValues<int32_t>(
          call, [unit](int32_t days) { return static_cast<int32_t>(RoundDay<ceil>(days, unit)); },
          NumberOperand<int32_t>(call.arguments[0]));
    case TypeKind::kTime: {
      const int64_t length = UnitMillis(unit);
      return MapValues<int32_t>(
          call,
          [length](int32_t ms) {
            return static_cast<int32_t>(RoundFixed<ceil>(ms, length) % kMillisPerDay);
          },
          NumberOperand<int32_t>(call.arguments[0]));
    }
    default:
      return RoundTimestamps<ceil>(call, unit);
  }
}

template <bool ceil>
Result<ArrayPtr> FloorKernel(const KernelCall& call) {
  const SqlType& type = *call.arguments[0].type;
  if (call.arguments.size() == 2) return RoundTimes<ceil>(call);
  if (type.is_integer())
    return call.arguments[0].constant && call.row_count != 1
               ? Status::Internal("a constant was not folded")
               : Result<ArrayPtr>(call.arguments[0].values);
  if (type.kind() == TypeKind::kDecimal) {
    const __int128 divisor = PowerOfTen(type.scale());
    return MapValues<__int128>(
        call,
        [divisor](__int128 value) {
          const __int128 rest = value % divisor;
          value /= divisor;
          if (ceil && rest > 0) ++value;
          if (!ceil && rest < 0) --value;
          return value;
        },
        DecimalOperand(call.arguments[0]));
  }
  return VisitNumber(type.kind(), [&](auto zero) -> Result<ArrayPtr> {
    using T = decltype(zero);
    return MapValues<T>(
        call, [](T value) { return static_cast<T>(ceil ? std::ceil(value) : std::floor(value)); },
        NumberOperand<T>(call.arguments[0]));
  });
}

// ---- ROUND and TRUNCATE ----

/// ROUND(DECIMAL(p,s), n): (1+p-s+n, n) for 0 <= n < s, (1+p-s, 0) below, unchanged from s on.
Result<Signature> ResolveRound(std::span<const Argument> arguments) {
  SqlType type = AcceptedType(Accept::kNumber, arguments[0].type);
  if (type.kind() == TypeKind::kNull) return TypesDoNotFit();
  Signature signature{{type}, type};
  int64_t digits = 0;
  if (arguments.size() == 2) {
    SqlType count = AcceptedType(Accept::kInteger, arguments[1].type);
    if (count.kind() == TypeKind::kNull) return TypesDoNotFit();
    signature.arguments.push_back(std::move(count));
    if (arguments[1].literal == nullptr) return signature;
    digits = LiteralInteger(arguments[1]).value_or(0);
  }
  if (type.kind() == TypeKind::kDecimal && digits < type.scale()) {
    const int kept = digits < 0 ? 0 : static_cast<int>(digits);
    signature.result =
        SqlType::Decimal(std::min(38, 1 + type.precision() - type.scale() + kept), kept);
  }
  return signature;
}

Result<Signature> ResolveTruncate(std::span<const Argument> arguments) {
  SLUICE_ASSIGN_OR_RETURN(Signature signature, ResolveRound(arguments));
  return signature;
}

/// `value` of `scale` rounded (HALF_UP) or cut at `digits` behind the point, as a number of
/// `result_scale`.
template <bool truncate>
std::optional<__int128> RoundDecimal(__int128 value, int scale, int64_t digits, int result_scale,
                                     int precision) {
  if (digits < scale) {
    const int64_t drop = scale - digits;
    if (drop > 38) return 0;
    const __int128 unit = PowerOfTen(static_cast<int>(drop));
    const __int128 rest = value % unit;
    value -= rest;
    if (!truncate && rest >= unit - rest && rest > 0) value += unit;
    if (!truncate && -rest >= unit + rest && rest < 0) value -= unit;
  }
  return internal::Rescale(value, scale, result_scale, precision);
}

template <bool truncate>
int64_t RoundInteger(int64_t value, int64_t digits) {
  if (digits >= 0) return value;
  if (digits < -18) return 0;
  const auto unit = static_cast<int64_t>(PowerOfTen(static_cast<int>(-digits)));
  const int64_t rest = value % unit;
  int64_t result = value - rest;
  if (!truncate && rest >= unit - rest && rest > 0)
    result = static_cast<int64_t>(static_cast<uint64_t>(result) + static_cast<uint64_t>(unit));
  if (!truncate && -rest >= unit + rest && rest < 0)
    result = static_cast<int64_t>(static_cast<uint64_t>(result) - static_cast<uint64_t>(unit));
  return result;
}

/// By the decimal text of the number, as BigDecimal does it: 2.675 is what is written,
/// not 2.67499….
template <bool truncate, typename T>
T RoundFloating(T value, int64_t digits) {
  if (!std::isfinite(value) || digits > 300) return value;
  if (digits == 0) {
    if (truncate) return std::trunc(value);
    return std::round(value);  // Half away from zero.
  }
  std::string text;
  if constexpr (std::is_same_v<T, float>) {
    AppendFloatText(value, &text);
  } else {
    AppendDoubleText(value, &text);
  }
  constexpr int kScale = 18;
  arrow::Decimal128 decimal;
  if (digits <= kScale && ParseDecimalText(text, 38, kScale, &decimal) == TextError::kNone) {
    const __int128 unscaled = static_cast<__int128>(decimal.high_bits()) << 64 | decimal.low_bits();
    const std::optional<__int128> rounded =
        RoundDecimal<truncate>(unscaled, kScale, digits, kScale, 38);
    if (rounded) return static_cast<T>(internal::DecimalToDouble(*rounded, kScale));
  }
  const double scale = std::pow(10.0, static_cast<double>(digits));
  const double scaled = static_cast<double>(value) * scale;
  if (!std::isfinite(scaled)) return value;
  return static_cast<T>((truncate ? std::trunc(scaled) : std::round(scaled)) / scale);
}

template <bool truncate>
Result<ArrayPtr> RoundKernel(const KernelCall& call) {
  const SqlType& type = *call.arguments[0].type;
  const auto map = [&](auto value_operand, auto round) -> Result<ArrayPtr> {
    using Value = std::decay_t<decltype(value_operand[0])>;
    if (call.arguments.size() == 1) {
      return MapValues<Value>(
          call, [&](Value value) { return round(value, 0); }, value_operand);
    }
    return MapValues<Value>(
        call, [&](Value value, int64_t digits) { return round(value, digits); }, value_operand,
        NumberOperand<int64_t>(call.arguments[1]));
  };
  if (type.kind() == TypeKind::kDecimal) {
    const int scale = type.scale();
    const int result_scale = call.result_type.scale();
    const int precision = call.result_type.precision();
    return map(DecimalOperand(call.arguments[0]), [=](__int128 value, int64_t digits) {
      return RoundDecimal<truncate>(value, scale, digits, result_scale, precision);
    });
  }
  return VisitNumber(type.kind(), [&](auto zero) -> Result<ArrayPtr> {
    using T = decltype(zero);
    return map(NumberOperand<T>(call.arguments[0]), [](T value, int64_t digits) -> T {
      if constexpr (std::is_floating_point_v<T>) {
        return RoundFloating<truncate, T>(value, digits);
      } else {
        return static_cast<T>(RoundInteger<truncate>(value, digits));
      }
    });
  });
}

// ---- ABS and SIGN ----

Result<Signature> ResolveSameNumber(std::span<const Argument> arguments) {
  SqlType type = AcceptedType(Accept::kNumber, arguments[0].type);
  if (arguments[0].type.is_interval()) type = arguments[0].type;
  if (type.kind() == TypeKind::kNull) return TypesDoNotFit();
  return Signature{{type}, type};
}

Result<Signature> ResolveSign(std::span<const Argument> arguments) {
  const SqlType type = AcceptedType(Accept::kNumber, arguments[0].type);
  if (type.kind() == TypeKind::kNull) return TypesDoNotFit();
  return Signature{{type}, type};
}

/// The smallest integer has no positive counterpart and wraps to itself.
template <typename T>
T Absolute(T value) {
  if constexpr (std::is_floating_point_v<T>) return std::fabs(value);
  return value < 0 ? static_cast<T>(0 - static_cast<uint64_t>(value)) : value;
}

Result<ArrayPtr> AbsKernel(const KernelCall& call) {
  switch (call.result_type.kind()) {
    case TypeKind::kDecimal:
      return MapValues<__int128>(
          call, [](__int128 value) { return value < 0 ? -value : value; },
          DecimalOperand(call.arguments[0]));
    case TypeKind::kIntervalYearMonth:
      return MapValues<int32_t>(
          call, [](int32_t value) { return Absolute(value); },
          NumberOperand<int32_t>(call.arguments[0]));
    case TypeKind::kIntervalDayTime:
      return MapValues<int64_t>(
          call, [](int64_t value) { return Absolute(value); },
          NumberOperand<int64_t>(call.arguments[0]));
    default:
      return VisitNumber(call.result_type.kind(), [&](auto zero) -> Result<ArrayPtr> {
        using T = decltype(zero);
        return MapValues<T>(
            call, [](T value) { return Absolute<T>(value); }, NumberOperand<T>(call.arguments[0]));
      });
  }
}

Result<ArrayPtr> SignKernel(const KernelCall& call) {
  if (call.result_type.kind() == TypeKind::kDecimal) {
    const __int128 one = PowerOfTen(call.result_type.scale());
    return MapValues<__int128>(
        call,
        [one](__int128 value) -> __int128 {
          return value > 0 ? one : value < 0 ? -one : __int128{0};
        },
        DecimalOperand(call.arguments[0]));
  }
  return VisitNumber(call.result_type.kind(), [&](auto zero) -> Result<ArrayPtr> {
    using T = decltype(zero);
    return MapValues<T>(
        call,
        [](T value) -> T {
          if (std::is_floating_point_v<T> && value != value) return value;  // NaN.
          return value > 0 ? T{1} : value < 0 ? static_cast<T>(-1) : T{0};
        },
        NumberOperand<T>(call.arguments[0]));
  });
}

template <bool ceil>
ScalarFunction Floor(std::string_view name, FunctionDoc doc) {
  return {.name = name,
          .group = "numeric",
          .resolve = &ResolveFloor,
          .min_arguments = 1,
          .max_arguments = 2,
          .kernel = &FloorKernel<ceil>,
          .supported_forms = ceil ? "'CEIL(<NUMERIC>)'\n'CEIL(<DATETIME> TO <UNIT>)'"
                                  : "'FLOOR(<NUMERIC>)'\n'FLOOR(<DATETIME> TO <UNIT>)'",
          .doc = doc};
}

}  // namespace

std::span<const ScalarFunction> RoundingFunctions() {
  constexpr std::string_view kGroup = "numeric";
  static const ScalarFunction kFunctions[] = {
      Floor<false>("FLOOR",
                   {"FLOOR(x [TO unit])", "The largest whole number, or unit of time, not above x.",
                    "FLOOR(TIMESTAMP '2020-05-20 12:34:56' TO HOUR) => TIMESTAMP '2020-05-20 "
                    "12:00:00'"}),
      Floor<true>("CEIL",
                  {"CEIL(x [TO unit])", "The smallest whole number, or unit of time, not below x.",
                   "CEIL(1.2) => 2"}),
      Floor<true>("CEILING", {"CEILING(x [TO unit])", "The same as CEIL.", "CEILING(-1.2) => -1"}),
      {.name = "ROUND",
       .group = kGroup,
       .resolve = &ResolveRound,
       .min_arguments = 1,
       .max_arguments = 2,
       .kernel = &RoundKernel<false>,
       .supported_forms = "'ROUND(<NUMERIC>[, <INTEGER>])'",
       .doc = {"ROUND(x[, digits = 0])", "Rounds half away from zero.", "ROUND(-2.5) => -3"}},
      {.name = "TRUNCATE",
       .group = kGroup,
       .resolve = &ResolveTruncate,
       .min_arguments = 1,
       .max_arguments = 2,
       .kernel = &RoundKernel<true>,
       .supported_forms = "'TRUNCATE(<NUMERIC>[, <INTEGER>])'",
       .doc = {"TRUNCATE(x[, digits = 0])", "Cuts digits off.", "TRUNCATE(1.987, 1) => 1.9"}},
      {.name = "ABS",
       .group = kGroup,
       .resolve = &ResolveSameNumber,
       .min_arguments = 1,
       .max_arguments = 1,
       .kernel = &AbsKernel,
       .supported_forms = "'ABS(<NUMERIC>)'\n'ABS(<INTERVAL>)'",
       .doc = {"ABS(x)", "The number without its sign.", "ABS(-5) => 5"}},
      {.name = "SIGN",
       .group = kGroup,
       .resolve = &ResolveSign,
       .min_arguments = 1,
       .max_arguments = 1,
       .kernel = &SignKernel,
       .supported_forms = "'SIGN(<NUMERIC>)'",
       .doc = {"SIGN(x)", "-1, 0 or 1.", "SIGN(-3) => -1"}},
      {.name = "MOD",
       .group = kGroup,
       .resolve = &ResolveSameNumber,
       .min_arguments = 2,
       .max_arguments = 2,
       .kernel = &AbsKernel,  // Never called: the builder makes the operator % of it.
       .supported_forms = "'MOD(<EXACT_NUMERIC>, <EXACT_NUMERIC>)'",
       .doc = {"MOD(a, b)", "The rest of a division, with the sign of a.", "MOD(-7, 3) => -1"}},
  };
  return kFunctions;
}

}  // namespace sluice::expr
