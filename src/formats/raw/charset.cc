#include "formats/raw/charset.h"

#include <errno.h>

#include <iconv.h>

#include "common/text.h"

namespace sluice::formats::raw {
namespace {

const iconv_t kNone = reinterpret_cast<iconv_t>(-1);  // NOLINT: iconv's own form of an error.

iconv_t Open(const char* to, const char* from) {
  const iconv_t handle = iconv_open(to, from);
  return handle == kNone ? nullptr : handle;
}

/// Converts all of `from`; `on_bad` appends what stands for a byte or character that cannot be
/// converted, or returns 0 to give up.
template <typename OnBad>
bool Convert(iconv_t handle, std::string_view from, std::string* out, OnBad on_bad) {
  iconv(handle, nullptr, nullptr, nullptr, nullptr);
  char* in = const_cast<char*>(from.data());
  size_t left = from.size();
  char buffer[1024];
  while (left > 0) {
    char* to = buffer;
    size_t room = sizeof(buffer);
    const size_t result = iconv(handle, &in, &left, &to, &room);
    const int error = errno;
    out->append(buffer, static_cast<size_t>(to - buffer));
    if (result != static_cast<size_t>(-1) || error == E2BIG) continue;
    const size_t skip = on_bad(std::string_view(in, left));
    if (skip == 0) return false;
    in += skip;
    left -= skip;
  }
  return true;
}

size_t Utf8Size(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

/// What of invalid UTF-8 is kept: all but the bytes that belong to no character.
void ReplaceInvalid(std::string_view bytes, std::string* out) {
  for (size_t i = 0; i < bytes.size();) {
    size_t size = Utf8Size(bytes[i]);
    while (size > 0 && !(i + size <= bytes.size() && IsValidUtf8(bytes.substr(i, size)))) --size;
    if (size == 0) {
      *out += "\xEF\xBF\xBD";
      ++i;
    } else {
      out->append(bytes.substr(i, size));
      i += size;
    }
  }
}

}  // namespace

Result<std::unique_ptr<Charset>> Charset::Find(const std::string& name, const std::string& prefix) {
  std::unique_ptr<Charset> charset(new Charset());
  const std::string upper = ToUpperAscii(name);
  charset->name_ = name;
  charset->utf8_ = upper == "UTF-8" || upper == "UTF8";
  if (charset->utf8_) return charset;
  charset->utf16_ = upper == "UTF-16";
  charset->fits_lines_ =
      !upper.starts_with("UTF-16") && !upper.starts_with("UTF-32") && !upper.starts_with("UCS");
  const char* plain = charset->utf16_ ? "UTF-16BE" : upper.c_str();
  // An empty name would mean the locale's set, and a suffix such as //TRANSLIT is no part of a
  // name.
  if (!name.empty() && name.find('/') == std::string::npos) {
    charset->to_utf8_ = Open("UTF-8", plain);
    charset->from_utf8_ = Open(plain, "UTF-8");
    if (charset->utf16_) charset->little_endian_ = Open("UTF-8", "UTF-16LE");
  }
  if (charset->to_utf8_ == nullptr || charset->from_utf8_ == nullptr) {
    return Status::InvalidArgument("Unsupported '" + prefix + "charset' name: " + name + ".");
  }
  return charset;
}

Charset::~Charset() {
  for (void* handle : {to_utf8_, from_utf8_, little_endian_}) {
    if (handle != nullptr) iconv_close(handle);
  }
}

bool Charset::Decode(std::string_view bytes, bool replace, std::string* out) {
  if (utf8_) {
    if (IsValidUtf8(bytes)) {
      out->append(bytes);
      return true;
    }
    if (replace) ReplaceInvalid(bytes, out);
    return replace;
  }
  if (utf16_) return DecodeUtf16(bytes, replace, out);
  return Convert(to_utf8_, bytes, out, [&](std::string_view) -> size_t {
    if (replace) *out += "\xEF\xBF\xBD";
    return replace ? 1 : 0;
  });
}

bool Charset::DecodeUtf16(std::string_view bytes, bool replace, std::string* out) {
  const bool little = bytes.starts_with("\xFF\xFE");
  if (little || bytes.starts_with("\xFE\xFF")) bytes.remove_prefix(2);
  return Convert(little ? little_endian_ : to_utf8_, bytes, out,
                 [&](std::string_view rest) -> size_t {
                   if (replace) *out += "\xEF\xBF\xBD";
                   return replace ? std::min<size_t>(2, rest.size()) : 0;
                 });
}

bool Charset::Encode(std::string_view text, bool replace, std::string* out) {
  if (utf8_) {
    out->append(text);
    return true;
  }
  if (utf16_) out->append("\xFE\xFF");
  return Convert(from_utf8_, text, out, [&](std::string_view rest) -> size_t {
    if (!replace) return 0;
    if (utf16_ || !fits_lines_) out->append(1, '\0');
    out->append(1, '?');
    return std::min(Utf8Size(rest.front()), rest.size());
  });
}

}  // namespace sluice::formats::raw
