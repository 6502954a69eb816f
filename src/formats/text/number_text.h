// Numbers as Java writes and reads them, the form that csv and json share (formats.md §0.5).
// Writers put characters at a pointer with room for kMaxNumberChars and return the end; readers
// take the whole text or fail.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

#include <arrow/util/decimal.h>

#include "formats/text/swar.h"

namespace sluice::formats::text {

/// Room that any number needs: DECIMAL(38,38) with sign, "0." and digits is the longest.
constexpr int kMaxNumberChars = 64;

/// `value` below 10^8.
inline char* WriteUpToEightDigits(uint32_t value, char* out) {
  const uint64_t digits = DigitBytes(value);
  // The last digit stays, whatever it is.
  const int leading = std::countr_zero(digits | uint64_t{1} << 56) / 8;
  StoreWord((digits | kZeros) >> (8 * leading), out);
  return out + 8 - leading;
}
char* WriteLongUnsigned(uint64_t value, char* out);
inline char* WriteUnsigned(uint64_t value, char* out) {
  if (value >= 100'000'000) return WriteLongUnsigned(value, out);
  return WriteUpToEightDigits(static_cast<uint32_t>(value), out);
}
inline char* WriteInteger(int64_t value, char* out) {
  if (value < 0) *out++ = '-';
  return WriteUnsigned(value < 0 ? ~static_cast<uint64_t>(value) + 1 : static_cast<uint64_t>(value),
                       out);
}
/// Shortest digits that read back to the same value, in Java's form: "1.0E7", "0.001", "NaN".
char* WriteDouble(double value, char* out);
char* WriteFloat(float value, char* out);
/// `plain`: all `scale` digits ("100.00"). Otherwise without trailing zeros as Java's BigDecimal
/// ("1E+2").
char* WriteDecimal(const arrow::Decimal128& unscaled, int scale, bool plain, char* out);

/// Cuts what Java's String.trim cuts: characters up to U+0020.
inline std::string_view TrimJava(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

/// Sign and decimal digits within [min, max]; nothing around them.
bool ParseInteger(std::string_view text, int64_t min, int64_t max, int64_t* value);
/// Java's Double.parseDouble without hexadecimal forms; nothing around. Values too large become
/// infinite.
bool ParseDouble(std::string_view text, double* value);
bool ParseFloat(std::string_view text, float* value);

enum class DecimalOutcome : uint8_t { kOk, kTooLarge, kInvalid };
/// BigDecimal's text, also "1e3"; rounded HALF_UP to `scale`. kTooLarge: more than `precision`
/// digits, which reads as NULL.
DecimalOutcome ParseDecimal(std::string_view text, int precision, int scale,
                            arrow::Decimal128* value);

inline constexpr std::array<double, 23> kPowersOfTen = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
inline constexpr std::array<uint64_t, 20> kIntegerPowers = [] {
  std::array<uint64_t, 20> powers{};
  uint64_t power = 1;
  for (uint64_t& entry : powers) {
    entry = power;
    power *= 10;
  }
  return powers;
}();

/// mantissa / 10^fraction_digits. Returns false when only the full text tells the nearest double.
inline bool DoubleFromParts(uint64_t mantissa, int fraction_digits, bool negative, double* value) {
  // Clinger's fast path: both operands exact, one correctly rounded operation.
  if (mantissa > uint64_t{1} << 53 || fraction_digits > 22) return false;
  const double number =
      static_cast<double>(mantissa) / kPowersOfTen[static_cast<size_t>(fraction_digits)];
  *value = negative ? -number : number;
  return true;
}

/// mantissa / 10^fraction_digits as the unscaled value of DECIMAL(precision, scale). False when it
/// has more digits than that or needs rounding.
bool DecimalFromParts(uint64_t mantissa, int fraction_digits, bool negative, int precision,
                      int scale, arrow::Decimal128* value);

/// Digits with at most one point as mantissa / 10^fraction_digits, for at most 8 digits before the
/// point and 7 behind. Reads 8 bytes before `end` and before the point: 16 bytes before `end` must
/// be readable. False: not of that form.
__attribute__((always_inline)) inline bool ReadFixedPoint(const char* begin, const char* end,
                                                          uint64_t* mantissa,
                                                          int* fraction_digits) {
  const auto size = static_cast<unsigned>(end - begin);
  if (size - 1 >= 16) return false;
  const uint64_t last = LoadWord(end - 8);
  const uint64_t distance = last ^ 0x2E2E2E2E2E2E2E2E;
  uint64_t points = (distance - 0x0101010101010101) & ~distance & 0x8080808080808080;
  if (size < 8) points &= ~uint64_t{0} << (8 * (8 - size));
  if (points == 0) {
    if (size > 8) return false;
    const uint64_t word = LastDigits(end, size);
    *mantissa = EightDigits(word);
    *fraction_digits = 0;
    return AllDigits(word);
  }
  const auto point = static_cast<unsigned>(std::countr_zero(points)) / 8;
  const unsigned fraction = 7 - point;
  if (size <= 9) {  // All digits fit a word once those before the point have moved up to its place.
    const uint64_t upto = ~uint64_t{0} >> (8 * fraction);
    const uint64_t joined = (LoadWord(end - 9) & upto) | (last & ~upto);
    const unsigned unused = 9 - size;  // Of the eight places; the point counts in `size`.
    const uint64_t keep = ~uint64_t{0} << (8 * unused % 64);
    const uint64_t word = (joined & keep) | (kZeros & ~keep);
    *mantissa = EightDigits(word);
    *fraction_digits = static_cast<int>(fraction);
    return AllDigits(word) && fraction > 0 && size - fraction > 1;
  }
  const unsigned whole = size - fraction - 1;
  if (fraction == 0 || whole - 1 >= 8) return false;
  const uint64_t high = LastDigits(end - fraction - 1, whole);
  const uint64_t low = LastDigits(end, fraction);
  *mantissa = uint64_t{EightDigits(high)} * kIntegerPowers[fraction] + EightDigits(low);
  *fraction_digits = static_cast<int>(fraction);
  return AllDigits(high) && AllDigits(low);
}

}  // namespace sluice::formats::text
