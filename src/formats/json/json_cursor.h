// Walks over one JSON text: blanks, strings, numbers, whole values to skip. Checks the grammar as
// it goes; knows no columns.
//
// The text is UTF-8 (checked by the caller for many records at once), the byte at its end is a line
// end, and kPadding bytes from there may be read: words are loaded without looking for the end
// first.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "formats/text/swar.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace sluice::formats::json {

constexpr size_t kPadding = 64;

/// A number as it stands in the text.
struct NumberToken {
  std::string_view text;
  bool has_exponent = false;
};

class JsonCursor {
 public:
  void Start(std::string_view text, int max_depth) {
    begin_ = p_ = text.data();
    end_ = p_ + text.size();
    depth_left_ = max_depth;
    error_ = nullptr;
  }

  const char* position() const { return p_; }
  size_t rest() const { return static_cast<size_t>(end_ - p_); }
  bool at_end() const { return p_ >= end_; }
  char peek() const { return *p_; }
  void Advance(size_t bytes) { p_ += bytes; }
  /// To another place of the same level.
  void GoTo(const char* position) { p_ = position; }

  void SkipBlanks() {
    if (static_cast<unsigned char>(*p_) > ' ') [[likely]]
      return;
    while (p_ < end_ && (*p_ == ' ' || *p_ == '\t' || *p_ == '\n' || *p_ == '\r')) ++p_;
  }
  /// Takes `c` if it is next.
  bool Take(char c) {
    if (*p_ != c || p_ >= end_) return false;
    ++p_;
    return true;
  }
  /// Takes a word such as "null" if it is next.
  bool TakeWord(std::string_view word) {
    if (rest() < word.size() || std::memcmp(p_, word.data(), word.size()) != 0) return false;
    p_ += word.size();
    return true;
  }

  /// Each level of objects and arrays is entered and left.
  bool Enter() { return --depth_left_ >= 0 || Fail(kTooDeep); }
  void Leave() { ++depth_left_; }

  /// On the opening quote: the characters up to the closing one, escapes resolved into an inner
  /// buffer where there are any.
  bool ReadString(std::string_view* text, bool* had_escapes);
  /// The same into `out`, which has room for rest() bytes and 16 more; `end`: behind the last
  /// character.
  bool CopyString(char* out, char** end);
  /// On a digit or minus.
  bool ReadNumber(NumberToken* number);
  /// Any value.
  bool SkipValue();

  /// Notes why the text is no JSON, once. Returns false.
  bool Fail(const char* error);
  bool FailUnexpected() { return Fail(kUnexpected); }
  const char* error() const { return error_; }
  /// "Unexpected character ('x' (code 120)) at byte 12.".
  std::string DescribeError() const;
  bool failed_on_depth() const { return error_ == kTooDeep; }

 private:
  static constexpr char kTooDeep[] = "The record is nested too deeply";
  static constexpr char kUnexpected[] = "Unexpected character";
  static constexpr char kOpenString[] = "A string is not closed";
  static constexpr char kBadEscape[] = "A string has an escape that JSON does not know";
  static constexpr char kBadNumber[] = "A number is not written as JSON asks";

  /// Offset of the first quote or backslash from p_, which may lie beyond the end.
  size_t FindStringStop() const;
  bool SkipString();
  bool SkipKey();
  /// On a backslash: writes the character it stands for.
  bool ReadEscape(char** out);
  bool ReadHex(const char* at, uint32_t* unit) const;

  const char* begin_ = nullptr;
  const char* p_ = nullptr;
  const char* end_ = nullptr;
  int depth_left_ = 0;
  const char* error_ = nullptr;
  const char* error_at_ = nullptr;
  std::string scratch_;
  std::vector<bool> open_objects_;  // Of SkipValue: true object, false array.
};

inline size_t JsonCursor::FindStringStop() const {
  const char* p = p_;
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  for (; p < end_; p += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
    const int mask = _mm_movemask_epi8(
        _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
    if (mask != 0)
      return static_cast<size_t>(p - p_) +
             static_cast<size_t>(__builtin_ctz(static_cast<unsigned>(mask)));
  }
#else
  for (; p < end_; ++p) {
    if (*p == '"' || *p == '\\') break;
  }
#endif
  return static_cast<size_t>(p - p_);
}

inline bool JsonCursor::CopyString(char* out, char** end) {
  ++p_;
  while (true) {
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"');
    const __m128i backslash = _mm_set1_epi8('\\');
    int mask = 0;
    while (p_ < end_) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p_));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
      mask = _mm_movemask_epi8(
          _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, backslash)));
      if (mask != 0) break;
      p_ += 16;
      out += 16;
    }
    if (mask == 0) return Fail(kOpenString);
    const int stop = __builtin_ctz(static_cast<unsigned>(mask));
    p_ += stop;
    out += stop;
#else
    while (p_ < end_ && *p_ != '"' && *p_ != '\\') *out++ = *p_++;
#endif
    if (p_ >= end_) return Fail(kOpenString);
    if (*p_ == '"') {
      ++p_;
      *end = out;
      return true;
    }
    if (!ReadEscape(&out)) return false;
  }
}

inline bool JsonCursor::ReadString(std::string_view* text, bool* had_escapes) {
  const char* first = p_ + 1;
  ++p_;
  const size_t stop = FindStringStop();
  if (stop >= rest()) return Fail(kOpenString);
  if (p_[stop] == '"') [[likely]] {
    *text = {first, stop};
    *had_escapes = false;
    p_ += stop + 1;
    return true;
  }
  --p_;
  *had_escapes = true;
  if (scratch_.size() < rest() + 32) scratch_.resize(rest() + 32);
  char* end = nullptr;
  if (!CopyString(scratch_.data(), &end)) return false;
  *text = {scratch_.data(), static_cast<size_t>(end - scratch_.data())};
  return true;
}

}  // namespace sluice::formats::json
