// Code points of UTF-8. Bytes that are not UTF-8 count as one code point each where they stand
// alone, and are copied as they are.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sluice::expr::utf8 {

inline bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

inline bool IsAscii(std::string_view text) {
  uint64_t seen = 0;
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, text.data() + i, 8);
    seen |= word;
  }
  for (; i < text.size(); ++i) seen |= static_cast<unsigned char>(text[i]);
  return (seen & 0x8080808080808080u) == 0;
}

inline int64_t Count(std::string_view text) {
  int64_t count = 0;
  for (const char c : text) count += IsContinuation(c) ? 0 : 1;
  return count;
}

/// Byte length of the code point that begins at `at`.
inline size_t LengthAt(std::string_view text, size_t at) {
  size_t end = at + 1;
  while (end < text.size() && IsContinuation(text[end])) ++end;
  return end - at;
}

/// Byte position of code point `index` (from 0), the size of the text when there are fewer.
inline size_t Offset(std::string_view text, int64_t index) {
  size_t at = 0;
  while (index > 0 && at < text.size()) {
    ++at;
    while (at < text.size() && IsContinuation(text[at])) ++at;
    --index;
  }
  return at;
}

/// Decodes the code point at `*at` and moves behind it; U+FFFD for bytes that are not UTF-8, one
/// for as many of them as Java takes for one: forms longer than needed, halves of surrogate pairs
/// and what lies above U+10FFFF are none.
inline char32_t Decode(std::string_view text, size_t* at) {
  constexpr char32_t kReplacement = 0xFFFD;
  const auto first = static_cast<unsigned char>(text[(*at)++]);
  if (first < 0x80) return first;
  if (first < 0xC2 || first > 0xF4) return kReplacement;
  const int more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
  char32_t code = first & (0x3F >> more);
  for (int i = 0; i < more; ++i) {
    if (*at >= text.size() || !IsContinuation(text[*at])) return kReplacement;
    const auto next = static_cast<unsigned char>(text[*at]);
    if (i == 0 && ((first == 0xE0 && next < 0xA0) || (first == 0xF0 && next < 0x90) ||
                   (first == 0xF4 && next >= 0x90))) {
      return kReplacement;
    }
    ++*at;
    code = code << 6 | (next & 0x3F);
  }
  return code >= 0xD800 && code < 0xE000 ? kReplacement : code;
}

/// Writes a code point and returns the number of bytes (at most 4).
inline int Encode(char32_t code, char* out) {
  if (code < 0x80) {
    out[0] = static_cast<char>(code);
    return 1;
  }
  if (code < 0x800) {
    out[0] = static_cast<char>(0xC0 | code >> 6);
    out[1] = static_cast<char>(0x80 | (code & 0x3F));
    return 2;
  }
  if (code < 0x10000) {
    out[0] = static_cast<char>(0xE0 | code >> 12);
    out[1] = static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out[2] = static_cast<char>(0x80 | (code & 0x3F));
    return 3;
  }
  out[0] = static_cast<char>(0xF0 | code >> 18);
  out[1] = static_cast<char>(0x80 | (code >> 12 & 0x3F));
  out[2] = static_cast<char>(0x80 | (code >> 6 & 0x3F));
  out[3] = static_cast<char>(0x80 | (code & 0x3F));
  return 4;
}

inline void Append(char32_t code, std::string* out) {
  char bytes[4];
  out->append(bytes, static_cast<size_t>(Encode(code, bytes)));
}

}  // namespace sluice::expr::utf8
