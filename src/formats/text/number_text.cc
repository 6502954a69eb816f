#include "formats/text/number_text.h"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "formats/text/swar.h"

namespace sluice::formats::text {
namespace {

char* Put(std::string_view text, char* out) {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

char* PutZeros(int count, char* out) {
  if (count > 0) {
    std::memset(out, '0', static_cast<size_t>(count));
    out += count;
  }
  return out;
}

/// Writes digits d1d2…dn meaning d1.d2…dn * 10^exponent in the form of Java's Double.toString.
char* PutJavaForm(const char* digits, int count, int exponent, char* out) {
  if (exponent >= -3 && exponent < 7) {
    if (exponent < 0) {
      out = PutZeros(-exponent - 1, Put("0.", out));
      return Put({digits, static_cast<size_t>(count)}, out);
    }
    const int whole = exponent + 1;
    if (count <= whole) {
      out = PutZeros(whole - count, Put({digits, static_cast<size_t>(count)}, out));
      return Put(".0", out);
    }
    out = Put({digits, static_cast<size_t>(whole)}, out);
    *out++ = '.';
    return Put({digits + whole, static_cast<size_t>(count - whole)}, out);
  }
  *out++ = digits[0];
  *out++ = '.';
  out = count > 1 ? Put({digits + 1, static_cast<size_t>(count - 1)}, out) : Put("0", out);
  *out++ = 'E';
  return std::to_chars(out, out + 8, exponent).ptr;
}

/// Digits and exponent from to_chars' "d.ddde±xx". Returns the digit count.
template <typename T>
int ShortestDigits(T magnitude, char* digits, int* exponent) {
  char text[40];
  const char* end =
      std::to_chars(text, text + sizeof(text), magnitude, std::chars_format::scientific).ptr;
  const char* mark =
      static_cast<const char*>(std::memchr(text, 'e', static_cast<size_t>(end - text)));
  std::from_chars(mark[1] == '+' ? mark + 2 : mark + 1, end, *exponent);
  int count = 0;
  for (const char* p = text; p < mark; ++p) {
    if (*p != '.') digits[count++] = *p;
  }
  return count;
}

/// Java shows at least two digits and picks the pair nearest to the value. That differs from the
/// shortest single digit only where values are sparse: 4.9E-324, 1.4E-45.
template <typename T>
void WidenSingleDigit(T magnitude, char* digits, int* count, int* exponent) {
  if (*count != 1 || magnitude >= std::numeric_limits<T>::min()) return;
  char text[40];
  std::snprintf(text, sizeof(text), "%.1e", static_cast<double>(magnitude));
  if (text[2] == '0') return;
  digits[0] = text[0];
  digits[1] = text[2];
  *count = 2;
  *exponent = std::atoi(text + 4);
}

template <typename T>
char* WriteFloating(T value, char* out) {
  if (std::isnan(value)) return Put("NaN", out);
  if (std::signbit(value)) *out++ = '-';
  if (std::isinf(value)) return Put("Infinity", out);
  const T magnitude = std::abs(value);
  if (magnitude == 0) return Put("0.0", out);
  char digits[32];
  int exponent = 0;
  int count = ShortestDigits(magnitude, digits, &exponent);
  WidenSingleDigit(magnitude, digits, &count, &exponent);
  return PutJavaForm(digits, count, exponent, out);
}

constexpr std::array<std::array<char, 2>, 100> kTwoDigits = [] {
  std::array<std::array<char, 2>, 100> texts{};
  for (size_t i = 0; i < 100; ++i)
    texts[i] = {static_cast<char>('0' + i / 10), static_cast<char>('0' + i % 10)};
  return texts;
}();

/// Values that are a whole number of 1/10^k, k <= 4, the bulk of prices and measures. i / 10^k with
/// i < 2^53 is the double nearest to that decimal, and decimals of at most 15 digits are all
/// different doubles: so these digits, without trailing zeros, are the shortest. False: not such a
/// value.
template <unsigned k>
bool WriteAsDecimal(double value, char** out) {
  constexpr double kPower = kPowersOfTen[k];
  constexpr uint64_t kWhole = kIntegerPowers[k];
  const double magnitude = std::abs(value);
  const auto whole = static_cast<uint64_t>(magnitude * kPower + 0.5);
  if (static_cast<double>(whole) / kPower != magnitude) return false;
  char* to = *out;
  if (value < 0) *to++ = '-';
  to = WriteUnsigned(whole / kWhole, to);
  *to++ = '.';
  if constexpr (k == 2) {
    const auto cents = static_cast<size_t>(whole % kWhole);
    std::memcpy(to, kTwoDigits[cents].data(), 2);
    *out = to + (cents % 10 == 0 ? 1 : 2);
    return true;
  }
  const uint64_t digits = DigitBytes(static_cast<uint32_t>(whole % kWhole)) >> (8 * (8 - k));
  StoreWord(digits | kZeros, to);
  // Behind the last digit that is not zero, but one stays.
  const int kept = digits == 0 ? 1 : 8 - std::countl_zero(digits) / 8;
  *out = to + kept;
  return true;
}

char* WriteShortDecimal(double value, char* out) {
  const double magnitude = std::abs(value);
  if (!(magnitude >= 1e-3 && magnitude < 1e7)) return nullptr;
  return WriteAsDecimal<2>(value, &out) || WriteAsDecimal<4>(value, &out) ? out : nullptr;
}

/// Decimal digits of the magnitude, most significant first. Returns their count, 1 for zero.
int MagnitudeDigits(const arrow::Decimal128& value, char* digits, bool* negative) {
  *negative = value.high_bits() < 0;
  auto magnitude =
      (static_cast<unsigned __int128>(static_cast<uint64_t>(value.high_bits())) << 64) |
      value.low_bits();
  if (*negative) magnitude = ~magnitude + 1;
  constexpr uint64_t kChunk = 10'000'000'000'000'000'000u;  // 10^19, the largest power in 64 bits.
  if ((magnitude >> 64) == 0 && static_cast<uint64_t>(magnitude) < kChunk) {
    return static_cast<int>(WriteUnsigned(static_cast<uint64_t>(magnitude), digits) - digits);
  }
  const unsigned __int128 quotient = magnitude / kChunk;
  auto low = static_cast<uint64_t>(magnitude % kChunk);
  char* end = digits;
  if (quotient >= kChunk) {  // At most one digit more: 2^127 has 39.
    end = std::to_chars(end, end + 20, static_cast<uint64_t>(quotient / kChunk)).ptr;
    auto middle = static_cast<uint64_t>(quotient % kChunk);
    for (int i = 18; i >= 0; --i, middle /= 10) end[i] = static_cast<char>('0' + middle % 10);
    end += 19;
  } else {
    end = std::to_chars(end, end + 20, static_cast<uint64_t>(quotient)).ptr;
  }
  for (int i = 18; i >= 0; --i, low /= 10) end[i] = static_cast<char>('0' + low % 10);
  return static_cast<int>(end + 19 - digits);
}

/// Digits with the point `scale` from the right: "0.05", "12.50".
char* PutPlain(const char* digits, int count, int scale, char* out) {
  const auto size = static_cast<size_t>(count);
  if (count <= 16 && scale > 0 &&
      scale < count) {  // Copies of fixed length: both texts have room for more.
    const auto whole = static_cast<size_t>(count - scale);
    std::memcpy(out, digits, 16);
    out[whole] = '.';
    std::memcpy(out + whole + 1, digits + whole, 16);
    return out + size + 1;
  }
  if (scale <= 0) return PutZeros(-scale, Put({digits, size}, out));
  if (count <= scale) {
    out = PutZeros(scale - count, Put("0.", out));
    return Put({digits, size}, out);
  }
  const auto whole = static_cast<size_t>(count - scale);
  out = Put({digits, whole}, out);
  *out++ = '.';
  return Put({digits + whole, size - whole}, out);
}

}  // namespace

char* WriteLongUnsigned(uint64_t value, char* out) {
  constexpr uint64_t kEight = 100'000'000;
  const uint64_t high = value / kEight;
  if (high < 100) {  // Nine or ten digits, as keys and times in seconds have.
    const size_t skipped = high < 10 ? 1 : 0;
    std::memcpy(out, kTwoDigits[high].data() + skipped, 1);
    out[1 - skipped] = kTwoDigits[high][1];
    out += 2 - skipped;
  } else {
    out = high >= kEight ? WriteLongUnsigned(high, out)
                         : WriteUpToEightDigits(static_cast<uint32_t>(high), out);
  }
  StoreWord(DigitBytes(static_cast<uint32_t>(value % kEight)) | kZeros, out);
  return out + 8;
}

char* WriteDouble(double value, char* out) {
  if (char* end = WriteShortDecimal(value, out)) return end;
  return WriteFloating(value, out);
}

char* WriteFloat(float value, char* out) { return WriteFloating(value, out); }

namespace {

/// Decimals of up to 8 fraction digits whose digits fit 64 bits: no text in between. Null for
/// others, and for those that need an exponent.
char* WriteShortDecimal(const arrow::Decimal128& unscaled, int scale, bool plain, char* out) {
  const auto low = static_cast<int64_t>(unscaled.low_bits());
  if (unscaled.high_bits() != low >> 63 || scale < 1 || scale > 8) return nullptr;
  const uint64_t magnitude = low < 0 ? ~static_cast<uint64_t>(low) + 1 : static_cast<uint64_t>(low);
  const uint64_t power = kIntegerPowers[static_cast<size_t>(scale)];
  // Cents are common, and a division by a constant is a multiplication.
  const uint64_t whole = scale == 2 ? magnitude / 100 : magnitude / power;
  const auto fraction = static_cast<uint32_t>(magnitude - whole * power);
  if (!plain && (fraction == 0 || (whole == 0 && scale > 6))) return nullptr;
  *out = '-';
  out += low < 0 ? 1 : 0;
  out = WriteUnsigned(whole, out);
  *out++ = '.';
  if (scale == 2) {
    std::memcpy(out, kTwoDigits[fraction].data(), 2);
    return out + (plain || fraction % 10 != 0 ? 2 : 1);
  }
  const uint64_t digits = DigitBytes(fraction) >> (8 * (8 - scale));
  StoreWord(digits | kZeros, out);
  return out + (plain ? scale : 8 - std::countl_zero(digits) / 8);
}

}  // namespace

char* WriteDecimal(const arrow::Decimal128& unscaled, int scale, bool plain, char* out) {
  if (char* end = WriteShortDecimal(unscaled, scale, plain, out)) return end;
  char digits[48];
  bool negative = false;
  int count = MagnitudeDigits(unscaled, digits, &negative);
  if (negative) *out++ = '-';
  if (plain) return PutPlain(digits, count, scale, out);
  if (count == 1 && digits[0] == '0') return Put("0", out);
  while (count > 1 && digits[count - 1] == '0') {
    --count;
    --scale;
  }
  const int exponent = count - 1 - scale;
  if (scale >= 0 && exponent >= -6) return PutPlain(digits, count, scale, out);
  *out++ = digits[0];
  if (count > 1) {
    *out++ = '.';
    out = Put({digits + 1, static_cast<size_t>(count - 1)}, out);
  }
  *out++ = 'E';
  if (exponent >= 0) *out++ = '+';
  return std::to_chars(out, out + 8, exponent).ptr;
}

bool ParseInteger(std::string_view text, int64_t min, int64_t max, int64_t* value) {
  const char* p = text.data();
  const char* end = p + text.size();
  const bool negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) ++p;
  if (p == end) return false;
  uint64_t number = 0;
  while (end - p >= 8 && number < 1'000'000'000) {
    const uint64_t word = LoadWord(p);
    if (!AllDigits(word)) break;
    number = number * 100'000'000 + EightDigits(word);
    p += 8;
  }
  for (; p < end; ++p) {
    if (!IsDigit(*p)) return false;
    if (number > (std::numeric_limits<uint64_t>::max() - 9) / 10) return false;
    number = number * 10 + static_cast<uint64_t>(*p - '0');
  }
  if (negative) {
    if (number > uint64_t{1} << 63) return false;
    *value = static_cast<int64_t>(~number + 1);
  } else {
    if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return false;
    *value = static_cast<int64_t>(number);
  }
  return *value >= min && *value <= max;
}

namespace {

/// Sign, digits with a point, exponent, a suffix f, F, d or D, or the words NaN and Infinity.
template <typename T>
bool ParseFloating(std::string_view text, T* value) {
  bool negative = false;
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text == "NaN") {
    *value = std::numeric_limits<T>::quiet_NaN();
    return true;
  }
  if (text == "Infinity") {
    *value = negative ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity();
    return true;
  }
  if (!text.empty()) {
    const char last = text.back() | 0x20;
    if (last == 'f' || last == 'd') text.remove_suffix(1);
  }
  if (text.empty() || !(IsDigit(text.front()) || text.front() == '.'))
    return false;  // No "inf", no second sign.
  T number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (stop != end) return false;
  if (error == std::errc::result_out_of_range) {
    // from_chars does not say on which side. A negative exponent or only zeros before it means too
    // small.
    const size_t mark = text.find_first_of("eE");
    const bool tiny = mark != std::string_view::npos ? text[mark + 1] == '-'
                                                     : text.front() == '0' || text.front() == '.';
    number = tiny ? T{0} : std::numeric_limits<T>::infinity();
  } else if (error != std::errc()) {
    return false;
  }
  *value = negative ? -number : number;
  return true;
}

}  // namespace

bool ParseDouble(std::string_view text, double* value) {
  // Digits and a point only, up to 18 of them: no need for the general reader.
  const char* p = text.data();
  const char* end = p + text.size();
  const bool negative = p < end && *p == '-';
  if (negative) ++p;
  if (end - p <= 19 && p < end) {
    uint64_t mantissa = 0;
    const char* point = nullptr;
    const char* first = p;
    for (; p < end; ++p) {
      if (IsDigit(*p)) {
        mantissa = mantissa * 10 + static_cast<uint64_t>(*p - '0');
      } else if (*p == '.' && point == nullptr) {
        point = p;
      } else {
        return ParseFloating(text, value);
      }
    }
    const int fraction = point == nullptr ? 0 : static_cast<int>(end - point - 1);
    const bool has_digit = end - first > (point == nullptr ? 0 : 1);
    if (has_digit && DoubleFromParts(mantissa, fraction, negative, value)) return true;
  }
  return ParseFloating(text, value);
}

bool ParseFloat(std::string_view text, float* value) { return ParseFloating(text, value); }

namespace {

/// The parts of a BigDecimal's text: digits (point removed, at most `kKept`), and where the point
/// stands.
struct DecimalParts {
  bool negative = false;
  int64_t point = 0;       // Digits before the point, exponent added.
  std::string_view whole;  // Digits before and after the point in the text.
  std::string_view fraction;
};

bool SplitDecimal(std::string_view text, DecimalParts* parts) {
  size_t i = 0;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) parts->negative = text[i++] == '-';
  const size_t whole = i;
  while (i < text.size() && IsDigit(text[i])) ++i;
  parts->whole = text.substr(whole, i - whole);
  if (i < text.size() && text[i] == '.') {
    const size_t fraction = ++i;
    while (i < text.size() && IsDigit(text[i])) ++i;
    parts->fraction = text.substr(fraction, i - fraction);
  }
  if (parts->whole.empty() && parts->fraction.empty()) return false;
  int64_t exponent = 0;
  if (i < text.size()) {
    if ((text[i] | 0x20) != 'e') return false;
    ++i;
    const bool minus = i < text.size() && text[i] == '-';
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    if (i == text.size() || text.size() - i > 10) return false;
    for (; i < text.size(); ++i) {
      if (!IsDigit(text[i])) return false;
      exponent = exponent * 10 + (text[i] - '0');
    }
    if (minus) exponent = -exponent;
  }
  while (!parts->whole.empty() && parts->whole.front() == '0') parts->whole.remove_prefix(1);
  parts->point = static_cast<int64_t>(parts->whole.size()) + exponent;
  return true;
}

arrow::Decimal128 ToDecimal(unsigned __int128 magnitude, bool negative) {
  if (negative) magnitude = ~magnitude + 1;
  return arrow::Decimal128(static_cast<int64_t>(static_cast<uint64_t>(magnitude >> 64)),
                           static_cast<uint64_t>(magnitude));
}

/// At most 38 digits arrive here, so the products stay within 128 bits.
unsigned __int128 PowerOfTen(int exponent) {
  unsigned __int128 power = kIntegerPowers[static_cast<size_t>(exponent > 19 ? 19 : exponent)];
  if (exponent > 19) power *= kIntegerPowers[static_cast<size_t>(exponent - 19)];
  return power;
}

DecimalOutcome FinishDecimal(const DecimalParts& parts, int precision, int scale,
                             arrow::Decimal128* value) {
  const size_t digit_count = parts.whole.size() + parts.fraction.size();
  const auto digit = [&](size_t i) {
    return i < parts.whole.size() ? parts.whole[i] : parts.fraction[i - parts.whole.size()];
  };
  size_t first = 0;  // Leading zeros say nothing: "0.0001" has one digit.
  while (first < digit_count && digit(first) == '0') ++first;
  *value = arrow::Decimal128(0);
  if (first == digit_count) return DecimalOutcome::kOk;
  const int64_t kept = parts.point - static_cast<int64_t>(first) +
                       scale;  // Digits of the unscaled result before rounding.
  if (kept > precision) return DecimalOutcome::kTooLarge;
  if (kept < 0) return DecimalOutcome::kOk;
  unsigned __int128 magnitude = 0;
  for (int64_t i = 0; i < kept; ++i) {
    const size_t at = first + static_cast<size_t>(i);
    magnitude = magnitude * 10 + static_cast<unsigned>(at < digit_count ? digit(at) - '0' : 0);
  }
  const size_t next = first + static_cast<size_t>(kept);
  if (next < digit_count && digit(next) >= '5') ++magnitude;
  if (magnitude >= PowerOfTen(precision)) return DecimalOutcome::kTooLarge;
  *value = ToDecimal(magnitude, parts.negative);
  return DecimalOutcome::kOk;
}

}  // namespace

bool DecimalFromParts(uint64_t mantissa, int fraction_digits, bool negative, int precision,
                      int scale, arrow::Decimal128* value) {
  const int shift = scale - fraction_digits;
  if (shift < 0 || shift > 18) return false;
  const unsigned __int128 magnitude =
      static_cast<unsigned __int128>(mantissa) * kIntegerPowers[static_cast<size_t>(shift)];
  if (magnitude >= PowerOfTen(precision)) return false;
  *value = ToDecimal(magnitude, negative);
  return true;
}

DecimalOutcome ParseDecimal(std::string_view text, int precision, int scale,
                            arrow::Decimal128* value) {
  // Up to 18 digits with no more fraction digits than the column: 64-bit arithmetic, then one
  // multiplication.
  const char* p = text.data();
  const char* end = p + text.size();
  const bool negative = p < end && *p == '-';
  if (negative) ++p;
  if (end - p <= 19 && p < end) {
    uint64_t mantissa = 0;
    const char* point = nullptr;
    const char* first = p;
    for (; p < end; ++p) {
      if (IsDigit(*p)) {
        mantissa = mantissa * 10 + static_cast<uint64_t>(*p - '0');
      } else if (*p == '.' && point == nullptr) {
        point = p;
      } else {
        break;
      }
    }
    const int fraction = point == nullptr ? 0 : static_cast<int>(end - point - 1);
    const int64_t digit_count = end - first - (point == nullptr ? 0 : 1);
    if (p == end && digit_count > 0 && digit_count <= 18 &&
        DecimalFromParts(mantissa, fraction, negative, precision, scale, value)) {
      return DecimalOutcome::kOk;
    }
  }
  DecimalParts parts;
  if (!SplitDecimal(text, &parts)) return DecimalOutcome::kInvalid;
  return FinishDecimal(parts, precision, scale, value);
}

}  // namespace sluice::formats::text
