// Text in another character set than UTF-8, for raw. Names as Java and iconv know them.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/result.h"

namespace sluice::formats::raw {

class Charset {
 public:
  /// Fails with "Unsupported 'raw.charset' name: FOO-8.".
  static Result<std::unique_ptr<Charset>> Find(const std::string& name, const std::string& prefix);
  ~Charset();
  Charset(const Charset&) = delete;
  Charset& operator=(const Charset&) = delete;

  bool is_utf8() const { return utf8_; }
  /// A line feed is the byte 0A and nothing else contains that byte: fit for files of lines.
  bool fits_lines() const { return fits_lines_; }
  const std::string& name() const { return name_; }

  /// Appends UTF-8. False when `bytes` are not of this set; with `replace` such bytes become
  /// U+FFFD.
  bool Decode(std::string_view bytes, bool replace, std::string* out);
  /// Appends the bytes of UTF-8 `text`. False when the set does not have all its characters; with
  /// `replace` those become '?'.
  bool Encode(std::string_view text, bool replace, std::string* out);

 private:
  Charset() = default;
  bool DecodeUtf16(std::string_view bytes, bool replace, std::string* out);

  std::string name_;
  bool utf8_ = false;
  bool utf16_ = false;  // "UTF-16": the mark at the front decides; written big-endian with a mark,
                        // as Java does.
  bool fits_lines_ = true;
  void* to_utf8_ = nullptr;  // iconv_t.
  void* from_utf8_ = nullptr;
  void* little_endian_ = nullptr;  // Only for "UTF-16".
};

}  // namespace sluice::formats::raw
