// Base64 with the standard alphabet and padding, on one line (RFC 4648 section 4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

constexpr size_t Base64Size(size_t bytes) { return (bytes + 2) / 3 * 4; }

/// Writes Base64Size(bytes.size()) characters and returns the end.
char* WriteBase64(std::string_view bytes, char* out);

inline void AppendBase64(std::string_view bytes, std::string* out) {
  const size_t before = out->size();
  out->resize(before + Base64Size(bytes.size()));
  WriteBase64(bytes, out->data() + before);
}

inline std::string EncodeBase64(std::string_view bytes) {
  std::string text;
  AppendBase64(bytes, &text);
  return text;
}

/// Upper bound of the bytes that `text` holds.
constexpr size_t Base64DecodedBound(size_t text) { return text / 4 * 3; }

/// Decodes into `out`, which has room for Base64DecodedBound. False for missing padding, blanks or
/// other characters.
bool ParseBase64(std::string_view text, char* out, size_t* size);

/// As java.util.Base64's basic coder reads: padding may be missing, but must not be wrong. False
/// when the text is not Base64; `out` may then hold a part.
bool AppendFromBase64(std::string_view text, std::string* out);

}  // namespace sluice
