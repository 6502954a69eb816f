#include "expr/decimal_math.h"

#include <algorithm>

#include <arrow/util/decimal.h>

#include "expr/cast_internal.h"

namespace sluice::expr {

namespace {

using arrow::Decimal256;
using internal::PowerOfTen;
using internal::Rescale;

Decimal256 Widen(__int128 value) {
  return Decimal256(
      arrow::Decimal128(static_cast<int64_t>(value >> 64), static_cast<uint64_t>(value)));
}

/// 10^exponent for 0 to 76.
Decimal256 WidePower(int exponent) {
  return Decimal256(Widen(PowerOfTen(std::min(exponent, 38))) *
                    Widen(PowerOfTen(std::max(0, exponent - 38))));
}

/// A 256-bit number as a decimal of `result`, HALF_UP.
std::optional<__int128> Narrow(const Decimal256& value, int scale, DecimalShape result) {
  Decimal256 scaled = value;
  if (scale > result.scale) {
    scaled = Decimal256(value.ReduceScaleBy(scale - result.scale, /*round=*/true));
  } else if (scale < result.scale) {
    scaled = value * WidePower(result.scale - scale);
  }
  if (!scaled.FitsInPrecision(result.precision)) return std::nullopt;
  const auto& words = scaled.little_endian_array();
  return static_cast<__int128>(words[1]) << 64 | words[0];
}

/// `a` divided by `b`, rounded half away from zero.
__int128 DivideRounded(__int128 a, __int128 b) {
  const __int128 quotient = a / b;
  const __int128 rest = a % b;
  const unsigned __int128 rest_size = rest < 0 ? -static_cast<unsigned __int128>(rest) : rest;
  const unsigned __int128 half = b < 0 ? -static_cast<unsigned __int128>(b) : b;
  if (rest_size < half - rest_size) return quotient;
  return (a < 0) == (b < 0) ? quotient + 1 : quotient - 1;
}

}  // namespace

std::optional<__int128> DecimalAdd(__int128 a, int a_scale, __int128 b, int b_scale,
                                   DecimalShape result) {
  const int scale = std::max(a_scale, b_scale);
  __int128 left = 0;
  __int128 right = 0;
  __int128 sum = 0;
  if (!__builtin_mul_overflow(a, PowerOfTen(scale - a_scale), &left) &&
      !__builtin_mul_overflow(b, PowerOfTen(scale - b_scale), &right) &&
      !__builtin_add_overflow(left, right, &sum)) [[likely]] {
    return Rescale(sum, scale, result.scale, result.precision);
  }
  const Decimal256 wide =
      Widen(a) * WidePower(scale - a_scale) + Widen(b) * WidePower(scale - b_scale);
  return Narrow(wide, scale, result);
}

std::optional<__int128> DecimalMultiply(__int128 a, int a_scale, __int128 b, int b_scale,
                                        DecimalShape result) {
  const int scale = a_scale + b_scale;
  __int128 product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) [[likely]] {
    return Rescale(product, scale, result.scale, result.precision);
  }
  return Narrow(Widen(a) * Widen(b), scale, result);
}

std::optional<__int128> DecimalDivide(__int128 a, int a_scale, __int128 b, int b_scale,
                                      DecimalShape result) {
  // a / 10^a_scale / (b / 10^b_scale) * 10^result_scale.
  const int shift = result.scale - a_scale + b_scale;
  __int128 scaled = 0;
  if (shift >= 0 && shift <= 38 && !__builtin_mul_overflow(a, PowerOfTen(shift), &scaled))
      [[likely]] {
    return Rescale(DivideRounded(scaled, b), result.scale, result.scale, result.precision);
  }
  Decimal256 dividend = Widen(a);
  Decimal256 divisor = Widen(b);
  if (shift >= 0) {
    // One digit more than wanted would round twice; the dividend of at most 38 + 38 digits fits in
    // 256 bits.
    if (a != 0 && shift > 38) return std::nullopt;
    dividend = dividend * WidePower(shift);
  } else {
    divisor = divisor * WidePower(-shift);
  }
  const auto divided = dividend.Divide(divisor);
  if (!divided.ok()) return std::nullopt;
  Decimal256 quotient(divided->first);
  Decimal256 rest(divided->second);
  const bool negative = (a < 0) != (b < 0);
  if (Decimal256::Abs(rest) + Decimal256::Abs(rest) >= Decimal256::Abs(divisor)) {
    quotient += Decimal256(negative ? -1 : 1);
  }
  return Narrow(quotient, result.scale, result);
}

std::optional<__int128> DecimalModulo(__int128 a, int a_scale, __int128 b, int b_scale,
                                      DecimalShape result) {
  const int scale = std::max(a_scale, b_scale);
  __int128 left = 0;
  __int128 right = 0;
  if (!__builtin_mul_overflow(a, PowerOfTen(scale - a_scale), &left) &&
      !__builtin_mul_overflow(b, PowerOfTen(scale - b_scale), &right)) [[likely]] {
    return Rescale(left % right, scale, result.scale, result.precision);
  }
  const auto divided = Decimal256(Widen(a) * WidePower(scale - a_scale))
                           .Divide(Decimal256(Widen(b) * WidePower(scale - b_scale)));
  if (!divided.ok()) return std::nullopt;
  return Narrow(Decimal256(divided->second), scale, result);
}

}  // namespace sluice::expr
