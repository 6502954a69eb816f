// Small helpers for ASCII and UTF-8 text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Cuts blanks, tabs, CR, LF and FF at both ends.
std::string_view TrimAscii(std::string_view text);
std::string ToLowerAscii(std::string_view text);
std::string ToUpperAscii(std::string_view text);
bool EqualsIgnoreCaseAscii(std::string_view a, std::string_view b);
/// Splits at every `separator`; "" gives one empty element.
std::vector<std::string_view> Split(std::string_view text, char separator);
std::string Join(const std::vector<std::string>& parts, std::string_view separator);
/// A decimal integer with optional sign and nothing else; nullopt when it does not fit in 64 bits.
std::optional<int64_t> ParseInt64(std::string_view text);
/// True when `bytes` is well-formed UTF-8 (no surrogates, no overlong forms).
bool IsValidUtf8(std::string_view bytes);
/// Number of code points of well-formed UTF-8; bytes that are not UTF-8 count one each.
size_t CodePointCount(std::string_view text);
/// At most `max_bytes` of `text` made printable for a message: control characters escaped, cut at a
/// code point, "…" added.
std::string Printable(std::string_view text, size_t max_bytes = 120);
/// "12,345,678" for people.
std::string WithThousands(int64_t number);

}  // namespace sluice
