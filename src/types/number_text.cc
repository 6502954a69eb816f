// Texts of numbers as Java prints them.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "types/value_text.h"

namespace sluice {

namespace {

/// Decimal digits without trailing zeros and the power of ten of the first: 1234.5 is "12345", 3.
struct Digits {
  char text[24];
  int count = 0;
  int exponent = 0;
};

/// Shortest digits that read back as `value`, from to_chars' "d.ddde+xx".
template <typename T>
Digits ShortestDigits(T value) {
  char buffer[48];
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific);
  (void)error;
  Digits digits;
  const char* at = buffer;
  for (; at != end && *at != 'e'; ++at) {
    if (*at != '.') digits.text[digits.count++] = *at;
  }
  ++at;
  if (*at == '+') ++at;
  std::from_chars(at, end, digits.exponent);
  return digits;
}

template <typename T>
Digits TwoDigits(T value) {
  char buffer[48];
  const auto [end, error] =
      std::to_chars(buffer, buffer + sizeof(buffer), value, std::chars_format::scientific, 1);
  (void)error;
  Digits digits{{buffer[0], buffer[2]}, buffer[2] == '0' ? 1 : 2, 0};
  const char* exponent =
      std::find(static_cast<const char*>(buffer), static_cast<const char*>(end), 'e') + 1;
  std::from_chars(exponent, end, digits.exponent);
  return digits;
}

/// Java 17, which the peer runs on, prints whole numbers beyond the precision of the type with more
/// digits than the shortest text: all digits of the number but those below the weight of its last
/// bit (123456789 as FLOAT is 1.23456792E8).
template <typename T>
bool WholeDigits(T value, Digits* digits) {
  constexpr int kSignificantBits = std::is_same_v<T, float> ? 24 : 53;
  const int binary_exponent = std::ilogb(value);
  if (binary_exponent <= kSignificantBits || binary_exponent > 62) return false;
  auto whole = static_cast<uint64_t>(value);
  const int insignificant_bits = binary_exponent - kSignificantBits - 1;
  int dropped = 0;
  if (insignificant_bits > 1) {
    dropped = static_cast<int>(insignificant_bits * 0.30102999566398119521);
    uint64_t power = 1;
    for (int i = 0; i < dropped; ++i) power *= 10;
    const uint64_t rest = whole % power;
    whole /= power;
    if (dropped > 0 && rest >= power / 2) ++whole;
  }
  const auto [end, error] = std::to_chars(digits->text, digits->text + sizeof(digits->text), whole);
  (void)error;
  digits->count = static_cast<int>(end - digits->text);
  digits->exponent = digits->count - 1 + dropped;
  while (digits->count > 1 && digits->text[digits->count - 1] == '0') --digits->count;
  return true;
}

void AppendDigits(const Digits& digits, std::string* out) {
  const int exponent = digits.exponent;
  if (exponent >= -3 && exponent < 7) {
    if (exponent < 0) {
      out->append("0.");
      out->append(static_cast<size_t>(-exponent - 1), '0');
      out->append(digits.text, static_cast<size_t>(digits.count));
      return;
    }
    const int integral = exponent + 1;
    if (digits.count <= integral) {
      out->append(digits.text, static_cast<size_t>(digits.count));
      out->append(static_cast<size_t>(integral - digits.count), '0');
      out->append(".0");
      return;
    }
    out->append(digits.text, static_cast<size_t>(integral));
    out->push_back('.');
    out->append(digits.text + integral, static_cast<size_t>(digits.count - integral));
    return;
  }
  out->push_back(digits.text[0]);
  out->push_back('.');
  if (digits.count == 1) {
    out->push_back('0');
  } else {
    out->append(digits.text + 1, static_cast<size_t>(digits.count - 1));
  }
  out->push_back('E');
  char buffer[8];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), exponent);
  (void)error;
  out->append(buffer, static_cast<size_t>(end - buffer));
}

template <typename T>
void AppendFloating(T value, std::string* out) {
  if (std::isnan(value)) {
    out->append("NaN");
    return;
  }
  if (std::signbit(value)) out->push_back('-');
  value = std::fabs(value);
  if (std::isinf(value)) {
    out->append("Infinity");
    return;
  }
  if (value == 0) {
    out->append("0.0");
    return;
  }
  Digits digits;
  if (!WholeDigits(value, &digits)) {
    digits = ShortestDigits(value);
    // Java prints two digits at least and takes the nearest such number, which differs only
    // here: 4.9E-324.
    if (digits.count == 1 && value < std::numeric_limits<T>::min()) digits = TwoDigits(value);
  }
  AppendDigits(digits, out);
}

}  // namespace

void AppendDoubleText(double value, std::string* out) { AppendFloating(value, out); }
void AppendFloatText(float value, std::string* out) { AppendFloating(value, out); }

void AppendDecimalText(const arrow::Decimal128& unscaled, int scale, std::string* out) {
  const bool negative = unscaled.IsNegative();
  arrow::Decimal128 rest = unscaled;
  rest.Abs();
  // 10^18 at a time: a 128-bit number has at most three such pieces.
  char buffer[64];
  char* const end = buffer + sizeof(buffer);
  char* at = end;
  const auto pieces = static_cast<unsigned __int128>(static_cast<uint64_t>(rest.high_bits()))
                          << 64 |
                      rest.low_bits();
  unsigned __int128 left = pieces;
  while (left != 0) {
    constexpr uint64_t kPiece = 1000000000000000000;
    auto piece = static_cast<uint64_t>(left % kPiece);
    left /= kPiece;
    for (int i = 0; i < 18 && (piece != 0 || left != 0); ++i) {
      *--at = static_cast<char>('0' + piece % 10);
      piece /= 10;
    }
  }
  while (end - at <= scale) *--at = '0';
  if (negative) out->push_back('-');
  out->append(at, static_cast<size_t>(end - at - scale));
  if (scale > 0) {
    out->push_back('.');
    out->append(end - scale, static_cast<size_t>(scale));
  }
}

}  // namespace sluice
