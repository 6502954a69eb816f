#include "formats/json/json_cursor.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/text.h"

namespace sluice::formats::json {
namespace {

bool IsHighSurrogate(uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool IsLowSurrogate(uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

char* PutUtf8(uint32_t code_point, char* out) {
  if (code_point < 0x80) {
    *out++ = static_cast<char>(code_point);
  } else if (code_point < 0x800) {
    *out++ = static_cast<char>(0xC0 | code_point >> 6);
    *out++ = static_cast<char>(0x80 | (code_point & 63));
  } else if (code_point < 0x10000) {
    *out++ = static_cast<char>(0xE0 | code_point >> 12);
    *out++ = static_cast<char>(0x80 | (code_point >> 6 & 63));
    *out++ = static_cast<char>(0x80 | (code_point & 63));
  } else {
    *out++ = static_cast<char>(0xF0 | code_point >> 18);
    *out++ = static_cast<char>(0x80 | (code_point >> 12 & 63));
    *out++ = static_cast<char>(0x80 | (code_point >> 6 & 63));
    *out++ = static_cast<char>(0x80 | (code_point & 63));
  }
  return out;
}

}  // namespace

bool JsonCursor::Fail(const char* error) {
  if (error_ == nullptr) {
    error_ = error;
    error_at_ = p_;
  }
  return false;
}

std::string JsonCursor::DescribeError() const {
  // Strings are looked through in wide steps, which may go past the end.
  const auto offset = std::min(error_at_, end_) - begin_;
  if (error_at_ >= end_)
    return fmt::format("{}: the record ends too early, at byte {}.", error_, offset);
  if (error_ == kUnexpected) {
    return fmt::format("{} ('{}' (code {})) at byte {}.", error_, Printable({error_at_, 1}),
                       static_cast<unsigned char>(*error_at_), offset);
  }
  return fmt::format("{}, at byte {}.", error_, offset);
}

bool JsonCursor::ReadNumber(NumberToken* number) {
  // The line end behind the text stops every loop.
  const char* p = p_;
  if (*p == '-') ++p;
  const char* whole = p;
  while (text::IsDigit(*p)) ++p;
  if (p == whole || (*whole == '0' && p - whole > 1)) return Fail(kBadNumber);
  if (*p == '.') {
    const char* fraction = ++p;
    while (text::IsDigit(*p)) ++p;
    if (p == fraction) return Fail(kBadNumber);
  }
  number->has_exponent = (*p | 0x20) == 'e';
  if (number->has_exponent) {
    ++p;
    if (*p == '-' || *p == '+') ++p;
    if (!text::IsDigit(*p)) return Fail(kBadNumber);
    while (text::IsDigit(*p)) ++p;
  }
  number->text = {p_, static_cast<size_t>(p - p_)};
  p_ = p;
  return true;
}

bool JsonCursor::ReadHex(const char* at, uint32_t* unit) const {
  if (end_ - at < 4) return false;
  uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = at[i];
    const char lower = static_cast<char>(c | 0x20);
    if (text::IsDigit(c)) {
      value = value * 16 + static_cast<uint32_t>(c - '0');
    } else if (lower >= 'a' && lower <= 'f') {
      value = value * 16 + static_cast<uint32_t>(lower - 'a' + 10);
    } else {
      return false;
    }
  }
  *unit = value;
  return true;
}

bool JsonCursor::ReadEscape(char** out) {
  if (rest() < 2) return Fail(kOpenString);
  static constexpr std::string_view kNames = "\"\\/bfnrt";
  static constexpr std::string_view kCharacters = "\"\\/\b\f\n\r\t";
  const char name = p_[1];
  if (const size_t at = kNames.find(name); at != std::string_view::npos) {
    *(*out)++ = kCharacters[at];
    p_ += 2;
    return true;
  }
  uint32_t unit = 0;
  if (name != 'u' || !ReadHex(p_ + 2, &unit)) return Fail(kBadEscape);
  p_ += 6;
  if (IsHighSurrogate(unit)) {
    uint32_t low = 0;
    if (rest() >= 6 && p_[0] == '\\' && p_[1] == 'u' && ReadHex(p_ + 2, &low) &&
        IsLowSurrogate(low)) {
      p_ += 6;
      unit = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
    } else {
      unit = 0xFFFD;  // Half a character has no UTF-8.
    }
  } else if (IsLowSurrogate(unit)) {
    unit = 0xFFFD;
  }
  *out = PutUtf8(unit, *out);
  return true;
}

bool JsonCursor::SkipString() {
  ++p_;
  while (true) {
    p_ += FindStringStop();
    if (p_ >= end_) return Fail(kOpenString);
    if (*p_ == '"') {
      ++p_;
      return true;
    }
    char ignored[8];
    char* out = ignored;
    if (!ReadEscape(&out)) return false;
  }
}

bool JsonCursor::SkipKey() {
  SkipBlanks();
  if (*p_ != '"' || at_end()) return FailUnexpected();
  if (!SkipString()) return false;
  SkipBlanks();
  return Take(':') || FailUnexpected();
}

bool JsonCursor::SkipValue() {
  open_objects_.clear();
  while (true) {
    SkipBlanks();
    if (at_end()) return FailUnexpected();
    const char c = *p_;
    NumberToken number;
    if (c == '"') {
      if (!SkipString()) return false;
    } else if (c == '{' || c == '[') {
      if (!Enter()) return false;
      ++p_;
      SkipBlanks();
      if (!Take(c == '{' ? '}' : ']')) {
        open_objects_.push_back(c == '{');
        if (c == '{' && !SkipKey()) return false;
        continue;
      }
      Leave();
    } else if (c == '-' || text::IsDigit(c)) {
      if (!ReadNumber(&number)) return false;
    } else if (!TakeWord("true") && !TakeWord("false") && !TakeWord("null")) {
      return FailUnexpected();
    }
    // A value has ended: go on in the innermost object or array, and leave those that end here.
    while (true) {
      if (open_objects_.empty()) return true;
      SkipBlanks();
      const bool object = open_objects_.back();
      if (Take(',')) {
        if (object && !SkipKey()) return false;
        break;
      }
      if (!Take(object ? '}' : ']')) return FailUnexpected();
      open_objects_.pop_back();
      Leave();
    }
  }
}

}  // namespace sluice::formats::json
