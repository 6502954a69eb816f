// Numbers as Java writes and reads them, the form that csv and json share (formats.md §0.5). Writers put characters at a
// pointer with room for kMaxNumberChars and return the end; readers take the whole text or fail.
#pragma once

#include <cstdint>
#include <string_view>

#include <arrow/util/decimal.h>

namespace sluice::formats::text {

/// Room that any number needs: DECIMAL(38,38) with sign, "0." and digits is the longest.
constexpr int kMaxNumberChars = 64;

char* WriteInteger(int64_t value, char* out);
/// Shortest digits that read back to the same value, in Java's form: "1.0E7", "0.001", "NaN".
char* WriteDouble(double value, char* out);
char* WriteFloat(float value, char* out);
/// `plain`: all `scale` digits ("100.00"). Otherwise without trailing zeros as Java's BigDecimal ("1E+2").
char* WriteDecimal(const arrow::Decimal128& unscaled, int scale, bool plain, char* out);

/// Cuts what Java's String.trim cuts: characters up to U+0020.
inline std::string_view TrimJava(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

/// Sign and decimal digits within [min, max]; nothing around them.
bool ParseInteger(std::string_view text, int64_t min, int64_t max, int64_t* value);
/// Java's Double.parseDouble without hexadecimal forms; nothing around. Values too large become infinite.
bool ParseDouble(std::string_view text, double* value);
bool ParseFloat(std::string_view text, float* value);

enum class DecimalOutcome : uint8_t { kOk, kTooLarge, kInvalid };
/// BigDecimal's text, also "1e3"; rounded HALF_UP to `scale`. kTooLarge: more than `precision` digits, which reads as NULL.
DecimalOutcome ParseDecimal(std::string_view text, int precision, int scale, arrow::Decimal128* value);

/// A finite decimal literal already split up: mantissa * 10^exponent. Returns false when only the full text tells.
bool DoubleFromParts(uint64_t mantissa, int exponent, bool negative, double* value);

}  // namespace sluice::formats::text
