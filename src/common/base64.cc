#include "common/base64.h"

#include <array>

namespace sluice {
namespace {

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kNone = 0xFF;

constexpr std::array<uint8_t, 256> MakeValues() {
  std::array<uint8_t, 256> values{};
  for (uint8_t& value : values) value = kNone;
  for (uint8_t i = 0; i < 64; ++i) values[static_cast<uint8_t>(kAlphabet[i])] = i;
  return values;
}
constexpr std::array<uint8_t, 256> kValues = MakeValues();

uint32_t Value(char c) { return kValues[static_cast<uint8_t>(c)]; }

}  // namespace

char* WriteBase64(std::string_view bytes, char* out) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<uint8_t>(bytes[i])); };
  size_t i = 0;
  for (; i + 3 <= bytes.size(); i += 3) {
    const uint32_t three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    *out++ = kAlphabet[three >> 18];
    *out++ = kAlphabet[three >> 12 & 63];
    *out++ = kAlphabet[three >> 6 & 63];
    *out++ = kAlphabet[three & 63];
  }
  const size_t rest = bytes.size() - i;
  if (rest == 0) return out;
  const uint32_t three = byte(i) << 16 | (rest == 2 ? byte(i + 1) << 8 : 0);
  *out++ = kAlphabet[three >> 18];
  *out++ = kAlphabet[three >> 12 & 63];
  *out++ = rest == 2 ? kAlphabet[three >> 6 & 63] : '=';
  *out++ = '=';
  return out;
}

bool ParseBase64(std::string_view text, char* out, size_t* size) {
  *size = 0;
  if (text.empty()) return true;
  if (text.size() % 4 != 0) return false;
  const size_t padding = text[text.size() - 1] != '=' ? 0 : text[text.size() - 2] != '=' ? 1 : 2;
  const char* begin = out;
  const size_t whole = text.size() - (padding > 0 ? 4 : 0);
  for (size_t i = 0; i < whole; i += 4) {
    const uint32_t a = Value(text[i]);
    const uint32_t b = Value(text[i + 1]);
    const uint32_t c = Value(text[i + 2]);
    const uint32_t d = Value(text[i + 3]);
    if ((a | b | c | d) == kNone)
      return false;  // Values have six bits: only kNone sets the upper two.
    const uint32_t three = a << 18 | b << 12 | c << 6 | d;
    *out++ = static_cast<char>(three >> 16);
    *out++ = static_cast<char>(three >> 8);
    *out++ = static_cast<char>(three);
  }
  if (padding > 0) {
    const uint32_t a = Value(text[whole]);
    const uint32_t b = Value(text[whole + 1]);
    const uint32_t c = padding == 1 ? Value(text[whole + 2]) : 0;
    if ((a | b | c) == kNone) return false;
    const uint32_t three = a << 18 | b << 12 | c << 6;
    *out++ = static_cast<char>(three >> 16);
    if (padding == 1) *out++ = static_cast<char>(three >> 8);
  }
  *size = static_cast<size_t>(out - begin);
  return true;
}

bool AppendFromBase64(std::string_view text, std::string* out) {
  size_t padding = 0;
  while (padding < 2 && !text.empty() && text.back() == '=') {
    text.remove_suffix(1);
    ++padding;
  }
  if (text.size() % 4 == 1 || (padding > 0 && (text.size() + padding) % 4 != 0)) return false;
  uint32_t group = 0;
  int bits = 0;
  for (const char c : text) {
    const uint32_t value = Value(c);
    if (value == kNone) return false;
    group = group << 6 | value;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out->push_back(static_cast<char>(group >> bits & 0xFF));
    }
  }
  return true;
}

}  // namespace sluice
