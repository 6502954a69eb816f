#include "expr/base64.h"

#include <array>
#include <cstdint>

namespace sluice::expr {

namespace {

constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<int8_t, 256> MakeValues() {
  std::array<int8_t, 256> values{};
  for (int8_t& value : values) value = -1;
  for (int8_t i = 0; i < 64; ++i) values[static_cast<unsigned char>(kAlphabet[i])] = i;
  return values;
}
constexpr std::array<int8_t, 256> kValues = MakeValues();

}  // namespace

void AppendBase64(std::string_view bytes, std::string* out) {
  size_t i = 0;
  const auto byte = [&bytes](size_t at) {
    return static_cast<uint32_t>(static_cast<unsigned char>(bytes[at]));
  };
  for (; i + 3 <= bytes.size(); i += 3) {
    const uint32_t group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (int shift = 18; shift >= 0; shift -= 6) out->push_back(kAlphabet[group >> shift & 63]);
  }
  if (i == bytes.size()) return;
  const bool two = i + 2 == bytes.size();
  const uint32_t group = byte(i) << 16 | (two ? byte(i + 1) << 8 : 0);
  out->push_back(kAlphabet[group >> 18 & 63]);
  out->push_back(kAlphabet[group >> 12 & 63]);
  out->push_back(two ? kAlphabet[group >> 6 & 63] : '=');
  out->push_back('=');
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
    const int8_t value = kValues[static_cast<unsigned char>(c)];
    if (value < 0) return false;
    group = group << 6 | static_cast<uint32_t>(value);
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out->push_back(static_cast<char>(group >> bits & 0xFF));
    }
  }
  return true;
}

}  // namespace sluice::expr
