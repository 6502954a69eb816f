// Casts among numbers and BOOLEAN. Integers wrap, floating numbers saturate, decimals that do not
// fit are NULL (sql.md §5.5).
#include <cmath>
#include <limits>

#include "expr/cast_internal.h"
#include "types/value_text.h"

namespace sluice::expr::internal {

__int128 PowerOfTen(int exponent) {
  static const auto kPowers = [] {
    std::array<__int128, 39> powers{};
    powers[0] = 1;
    for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
    return powers;
  }();
  return kPowers[static_cast<size_t>(exponent)];
}

namespace {

bool Fits(__int128 value, int precision) {
  const __int128 limit = PowerOfTen(precision);
  return value < limit && value > -limit;
}

}  // namespace

std::optional<__int128> Rescale(__int128 value, int from_scale, int to_scale, int precision) {
  if (to_scale < from_scale) {
    const int drop = from_scale - to_scale;
    if (drop > 38) return 0;
    const __int128 divisor = PowerOfTen(drop);
    const __int128 rest = value % divisor;
    value /= divisor;
    if (rest >= divisor - rest) ++value;  // HALF_UP: away from zero.
    if (-rest >= divisor + rest) --value;
  } else if (to_scale > from_scale) {
    if (value != 0 && to_scale - from_scale > 38) return std::nullopt;
    if (__builtin_mul_overflow(value, PowerOfTen(std::min(38, to_scale - from_scale)), &value)) {
      return std::nullopt;
    }
  }
  if (!Fits(value, precision)) return std::nullopt;
  return value;
}

double DecimalToDouble(__int128 value, int scale) {
  constexpr int64_t kExact = int64_t{1} << 53;
  static constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  // Both numbers are exact, so one division rounds once.
  if (value > -kExact && value < kExact && scale <= 22) {
    return static_cast<double>(static_cast<int64_t>(value)) / kPowers[scale];
  }
  std::string text;
  AppendDecimalText(
      arrow::Decimal128(static_cast<int64_t>(value >> 64), static_cast<uint64_t>(value)), scale,
      &text);
  double result = 0;
  (void)ParseDoubleText(text, &result);
  return result;
}

namespace {

/// Java's narrowing of a floating number: NaN is 0, values outside go to the nearest long or int,
/// narrower types wrap from int.
template <typename To, typename From>
To FromFloating(From value) {
  using Wide = std::conditional_t<sizeof(To) == 8, int64_t, int32_t>;
  if (std::isnan(value)) return 0;
  constexpr auto kMin = static_cast<From>(std::numeric_limits<Wide>::min());
  constexpr From kMax = -kMin;  // One above the largest, and exact in both floating types.
  if (value < kMin) return static_cast<To>(std::numeric_limits<Wide>::min());
  if (value >= kMax) return static_cast<To>(std::numeric_limits<Wide>::max());
  return static_cast<To>(static_cast<Wide>(value));
}

template <typename To, typename From>
To ConvertNumber(From value) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return FromFloating<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

std::optional<__int128> DecimalFromFloating(double value, bool is_float, int precision, int scale) {
  if (!std::isfinite(value)) return std::nullopt;
  std::string text;
  if (is_float) {
    AppendFloatText(static_cast<float>(value), &text);
  } else {
    AppendDoubleText(value, &text);
  }
  arrow::Decimal128 decimal;
  if (ParseDecimalText(text, precision, scale, &decimal) != TextError::kNone) return std::nullopt;
  return static_cast<__int128>(decimal.high_bits()) << 64 | decimal.low_bits();
}

Result<ArrayPtr> ToDecimal(const CastJob& job) {
  const KernelCall call = job.call();
  const int precision = job.to.precision();
  const int scale = job.to.scale();
  if (job.from.kind() == TypeKind::kDecimal) {
    const int from_scale = job.from.scale();
    return MapValues<__int128>(
        call, [=](__int128 value) { return Rescale(value, from_scale, scale, precision); },
        DecimalOperand(job.argument()));
  }
  if (job.from.kind() == TypeKind::kBoolean) {
    return MapValues<__int128>(
        call, [=](bool value) { return Rescale(value ? 1 : 0, 0, scale, precision); },
        BooleanOperand(job.argument()));
  }
  return VisitNumber(job.from.kind(), [&](auto zero) -> Result<ArrayPtr> {
    using From = decltype(zero);
    return MapValues<__int128>(
        call,
        [=](From value) -> std::optional<__int128> {
          if constexpr (std::is_floating_point_v<From>) {
            return DecimalFromFloating(value, std::is_same_v<From, float>, precision, scale);
          } else {
            return Rescale(value, 0, scale, precision);
          }
        },
        NumberOperand<From>(job.argument()));
  });
}

Result<ArrayPtr> FromDecimal(const CastJob& job) {
  const KernelCall call = job.call();
  const int scale = job.from.scale();
  const DecimalOperand input(job.argument());
  if (job.to.kind() == TypeKind::kBoolean) {
    return MapValues<bool>(
        call, [](__int128 value) { return value != 0; }, input);
  }
  return VisitNumber(job.to.kind(), [&](auto zero) -> Result<ArrayPtr> {
    using To = decltype(zero);
    return MapValues<To>(
        call,
        [=](__int128 value) -> To {
          if constexpr (std::is_floating_point_v<To>) {
            return static_cast<To>(DecimalToDouble(value, scale));
          } else {
            return static_cast<To>(value / PowerOfTen(scale));
          }
        },
        input);
  });
}

}  // namespace

Result<ArrayPtr> CastNumberToNumber(const CastJob& job) {
  const KernelCall call = job.call();
  if (job.to.kind() == TypeKind::kDecimal) return ToDecimal(job);
  if (job.from.kind() == TypeKind::kDecimal) return FromDecimal(job);
  if (job.from.kind() == TypeKind::kBoolean) {
    return VisitNumber(job.to.kind(), [&](auto zero) -> Result<ArrayPtr> {
      using To = decltype(zero);
      return MapValues<To>(
          call, [](bool value) { return static_cast<To>(value ? 1 : 0); },
          BooleanOperand(job.argument()));
    });
  }
  if (job.to.kind() == TypeKind::kBoolean) {
    return VisitNumber(job.from.kind(), [&](auto zero) -> Result<ArrayPtr> {
      using From = decltype(zero);
      return MapValues<bool>(
          call, [](From value) { return value != 0; }, NumberOperand<From>(job.argument()));
    });
  }
  return VisitNumber(job.from.kind(), [&](auto from_zero) -> Result<ArrayPtr> {
    using From = decltype(from_zero);
    return VisitNumber(job.to.kind(), [&](auto to_zero) -> Result<ArrayPtr> {
      using To = decltype(to_zero);
      return MapValues<To>(
          call, [](From value) { return ConvertNumber<To>(value); },
          NumberOperand<From>(job.argument()));
    });
  });
}

}  // namespace sluice::expr::internal
