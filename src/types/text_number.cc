// Numbers and booleans from text, by the rules of CAST.
#include <charconv>
#include <cmath>
#include <limits>

#include "common/text.h"
#include "types/value_text.h"

namespace sluice {

namespace {

/// Java's trim: everything up to the blank, control characters included.
std::string_view Trim(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

TextError ParseIntegerText(std::string_view text, int64_t min, int64_t max, int64_t* value) {
  text = Trim(text);
  if (text.empty()) return TextError::kEmpty;
  size_t at = 0;
  const bool negative = text[0] == '-';
  if (negative || text[0] == '+') {
    if (text.size() == 1) return TextError::kInvalid;
    ++at;
  }
  // Counted downwards: the smallest value has no positive counterpart.
  int64_t result = 0;
  for (; at < text.size() && text[at] != '.'; ++at) {
    if (!IsDigit(text[at])) return TextError::kInvalid;
    if (__builtin_mul_overflow(result, int64_t{10}, &result) ||
        __builtin_sub_overflow(result, int64_t{text[at] - '0'}, &result)) {
      return TextError::kOverflow;
    }
  }
  for (++at; at < text.size(); ++at) {
    if (!IsDigit(text[at])) return TextError::kInvalid;
  }
  if (!negative) {
    if (result == std::numeric_limits<int64_t>::min()) return TextError::kOverflow;
    result = -result;
  }
  if (result < min || result > max) return TextError::kOverflow;
  *value = result;
  return TextError::kNone;
}

namespace {

template <typename T>
TextError ParseFloating(std::string_view text, T* value) {
  text = Trim(text);
  if (text.empty()) return TextError::kEmpty;
  bool negative = false;
  if (text[0] == '-' || text[0] == '+') {
    negative = text[0] == '-';
    text.remove_prefix(1);
    if (text.empty()) return TextError::kInvalid;
  }
  if (!IsDigit(text[0]) && text[0] != '.') {
    if (text == "NaN") {
      *value = std::numeric_limits<T>::quiet_NaN();
    } else if (text == "Infinity") {
      *value = negative ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
    } else {
      return TextError::kInvalid;
    }
    return TextError::kNone;
  }
  const char last = text.back();
  if (last == 'f' || last == 'F' || last == 'd' || last == 'D') text.remove_suffix(1);
  T parsed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) {
    return TextError::kInvalid;
  }
  if (error == std::errc::result_out_of_range) {
    // from_chars leaves the value alone: Java answers 0 or Infinity, told apart by a wider type.
    parsed = static_cast<T>(std::strtold(std::string(text).c_str(), nullptr));
  }
  *value = negative ? -parsed : parsed;
  return TextError::kNone;
}

}  // namespace

TextError ParseDoubleText(std::string_view text, double* value) {
  return ParseFloating(text, value);
}
TextError ParseFloatText(std::string_view text, float* value) { return ParseFloating(text, value); }

namespace {

struct DecimalDigits {
  // All significant digits without leading zeros; more than a decimal can use are only counted.
  static constexpr int kKept = 80;
  char text[kKept];
  int kept = 0;
  int64_t point = 0;  // Digits before the decimal point.
  bool negative = false;
};

TextError ScanDecimal(std::string_view text, DecimalDigits* digits) {
  text = Trim(text);
  if (text.empty()) return TextError::kEmpty;
  size_t at = 0;
  if (text[0] == '-' || text[0] == '+') {
    digits->negative = text[0] == '-';
    ++at;
  }
  bool seen_digit = false;
  bool seen_point = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '.') {
      if (seen_point) return TextError::kInvalid;
      seen_point = true;
      continue;
    }
    if (!IsDigit(c)) break;
    seen_digit = true;
    if (digits->kept == 0 && c == '0') {
      if (seen_point) --digits->point;
      continue;
    }
    if (!seen_point) ++digits->point;
    if (digits->kept < DecimalDigits::kKept) digits->text[digits->kept++] = c;
  }
  if (!seen_digit) return TextError::kInvalid;
  if (at == text.size()) return TextError::kNone;
  if (text[at] != 'e' && text[at] != 'E') return TextError::kInvalid;
  ++at;
  if (at < text.size() && text[at] == '+') ++at;
  int32_t exponent = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), exponent);
  if (error != std::errc() || end != text.data() + text.size()) return TextError::kInvalid;
  digits->point += exponent;
  return TextError::kNone;
}

}  // namespace

TextError ParseDecimalText(std::string_view text, int precision, int scale,
                           arrow::Decimal128* value) {
  DecimalDigits digits;
  const TextError error = ScanDecimal(text, &digits);
  if (error != TextError::kNone) return error;
  const int64_t wanted = digits.point + scale;  // Digits that stay.
  if (digits.kept == 0 || wanted < 0) {
    *value = arrow::Decimal128(0);
    return TextError::kNone;
  }
  if (wanted > precision) return TextError::kOverflow;
  unsigned __int128 unscaled = 0;
  for (int64_t i = 0; i < wanted; ++i) {
    unscaled = unscaled * 10 + static_cast<unsigned>(i < digits.kept ? digits.text[i] - '0' : 0);
  }
  if (wanted < digits.kept && digits.text[wanted] >= '5') ++unscaled;
  *value = arrow::Decimal128(static_cast<int64_t>(unscaled >> 64), static_cast<uint64_t>(unscaled));
  if (!value->FitsInPrecision(precision)) return TextError::kOverflow;
  if (digits.negative) value->Negate();
  return TextError::kNone;
}

TextError ParseBooleanText(std::string_view text, bool* value) {
  static constexpr std::string_view kTrue[] = {"t", "true", "y", "yes", "1"};
  static constexpr std::string_view kFalse[] = {"f", "false", "n", "no", "0"};
  for (const std::string_view word : kTrue) {
    if (EqualsIgnoreCaseAscii(text, word)) {
      *value = true;
      return TextError::kNone;
    }
  }
  for (const std::string_view word : kFalse) {
    if (EqualsIgnoreCaseAscii(text, word)) {
      *value = false;
      return TextError::kNone;
    }
  }
  return TextError::kInvalid;
}

}  // namespace sluice
