#include "expr/letter_case.h"

#include <clocale>
#include <cwctype>
#include <utility>

#include <wctype.h>

#include "expr/utf8.h"

namespace sluice::expr {

namespace {

/// Character properties come from the C library's Unicode locale, whatever the process's own locale
/// is. Null where the system has none: then only ASCII has case.
locale_t UnicodeLocale() {
  static const locale_t kLocale = [] {
    for (const char* name : {"C.UTF-8", "C.utf8", "en_US.UTF-8"}) {
      if (const locale_t found = newlocale(LC_CTYPE_MASK, name, nullptr)) return found;
    }
    return static_cast<locale_t>(nullptr);
  }();
  return kLocale;
}

/// Letters whose upper case is more than one letter (Unicode SpecialCasing.txt, unconditional ones
/// in use).
constexpr std::pair<char32_t, std::string_view> kLongUpper[] = {
    {0x00DF, "SS"},
    {0x0149, "\u02BCN"},
    {0x01F0, "J\u030C"},
    {0x0390, "\u0399\u0308\u0301"},
    {0x03B0, "\u03A5\u0308\u0301"},
    {0x0587, "\u0535\u0552"},
    {0xFB00, "FF"},
    {0xFB01, "FI"},
    {0xFB02, "FL"},
    {0xFB03, "FFI"},
    {0xFB04, "FFL"},
    {0xFB05, "ST"},
    {0xFB06, "ST"},
};

char32_t SimpleUpper(char32_t code) {
  if (code < 0x80) return code >= 'a' && code <= 'z' ? code - 32 : code;
  const locale_t locale = UnicodeLocale();
  return locale == nullptr ? code
                           : static_cast<char32_t>(towupper_l(static_cast<wint_t>(code), locale));
}

char32_t SimpleLower(char32_t code) {
  if (code < 0x80) return code >= 'A' && code <= 'Z' ? code + 32 : code;
  const locale_t locale = UnicodeLocale();
  return locale == nullptr ? code
                           : static_cast<char32_t>(towlower_l(static_cast<wint_t>(code), locale));
}

constexpr char32_t kCapitalSigma = 0x03A3;
constexpr char32_t kFinalSigma = 0x03C2;
constexpr char32_t kCapitalIWithDot = 0x0130;

}  // namespace

bool IsLetter(char32_t code) {
  if (code < 0x80) return (code | 32) >= 'a' && (code | 32) <= 'z';
  const locale_t locale = UnicodeLocale();
  return locale != nullptr && iswalpha_l(static_cast<wint_t>(code), locale) != 0;
}

bool IsDigitCodePoint(char32_t code) {
  if (code < 0x80) return code >= '0' && code <= '9';
  // Decimal digits of the scripts in common use come in runs of ten.
  static constexpr char32_t kZeros[] = {0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6,
                                        0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66, 0x0E50, 0x0ED0,
                                        0x0F20, 0x1040, 0x17E0, 0x1810, 0xFF10};
  for (const char32_t zero : kZeros) {
    if (code >= zero && code < zero + 10) return true;
  }
  return false;
}

void AppendUpper(std::string_view text, std::string* out) {
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const char32_t code = utf8::Decode(text, &at);
    if (code == 0xFFFD) {
      out->append(text.substr(begin, at - begin));
      continue;
    }
    bool done = false;
    for (const auto& [letter, upper] : kLongUpper) {
      if (code == letter) {
        out->append(upper);
        done = true;
      }
    }
    if (!done) utf8::Append(SimpleUpper(code), out);
  }
}

void AppendLower(std::string_view text, std::string* out) {
  bool after_letter = false;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = at;
    const char32_t code = utf8::Decode(text, &at);
    if (code == 0xFFFD) {
      out->append(text.substr(begin, at - begin));
    } else if (code == kCapitalIWithDot) {
      out->append("i\u0307");
    } else if (code == kCapitalSigma && after_letter) {
      size_t next = at;
      const bool before_letter = at < text.size() && IsLetter(utf8::Decode(text, &next));
      utf8::Append(before_letter ? SimpleLower(code) : kFinalSigma, out);
    } else {
      utf8::Append(SimpleLower(code), out);
    }
    after_letter = IsLetter(code);
  }
}

}  // namespace sluice::expr
