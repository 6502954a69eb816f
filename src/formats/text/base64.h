// Base64 with the standard alphabet and padding, on one line (RFC 4648 section 4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::formats::text {

constexpr size_t Base64Size(size_t bytes) { return (bytes + 2) / 3 * 4; }

/// Writes Base64Size(bytes.size()) characters and returns the end.
char* WriteBase64(std::string_view bytes, char* out);

/// Upper bound of the bytes that `text` holds.
constexpr size_t Base64DecodedBound(size_t text) { return text / 4 * 3; }

/// Decodes into `out`, which has room for Base64DecodedBound. False for missing padding, blanks or
/// other characters.
bool ParseBase64(std::string_view text, char* out, size_t* size);

}  // namespace sluice::formats::text
