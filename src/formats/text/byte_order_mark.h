// The mark that some programs put before the first character of a text file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::formats::text {

/// Bytes of the UTF-8 mark at the start of a file: 3, or 0 without one. The mark is no part of the
/// first record: framing and decoding begin behind it. Anywhere else the same bytes are data.
inline size_t ByteOrderMarkBytes(std::string_view file_start) {
  constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
  return file_start.starts_with(kUtf8Mark) ? kUtf8Mark.size() : 0;
}

/// What is wrong with a file that begins with the mark of another encoding, and what to do; nullopt
/// when it does not. No UTF-8 text holds the bytes FE and FF, so nothing readable is refused.
inline std::optional<std::string> ForeignMark(std::string_view file_start) {
  using std::string_view_literals::operator""sv;
  std::string encoding;
  if (file_start.starts_with("\xFF\xFE\0\0"sv)) {
    encoding = "UTF-32LE";
  } else if (file_start.starts_with("\0\0\xFE\xFF"sv)) {
    encoding = "UTF-32BE";
  } else if (file_start.starts_with("\xFF\xFE"sv)) {
    encoding = "UTF-16LE";
  } else if (file_start.starts_with("\xFE\xFF"sv)) {
    encoding = "UTF-16BE";
  } else {
    return std::nullopt;
  }
  return "The file begins with the byte order mark of " + encoding +
         "; text is read as UTF-8 only. Convert it: iconv -f " + encoding +
         " -t UTF-8 FILE > CONVERTED.";
}

}  // namespace sluice::formats::text
