// Dates and times from text, by the rules of CAST.
#include "types/calendar.h"
#include "types/value_text.h"

namespace sluice {

namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string_view TrimBlanks(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.front()) <= ' ') text.remove_prefix(1);
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

/// Reads 1 to `max_digits` digits at `*at`; false when there is none.
bool ReadDigits(std::string_view text, size_t* at, int max_digits, int32_t* value) {
  int32_t result = 0;
  int count = 0;
  while (count < max_digits && *at < text.size() && IsDigit(text[*at])) {
    result = result * 10 + (text[*at] - '0');
    ++*at;
    ++count;
  }
  *value = result;
  return count > 0;
}

bool ReadCharacter(std::string_view text, size_t* at, char wanted) {
  if (*at >= text.size() || text[*at] != wanted) return false;
  ++*at;
  return true;
}

/// A part of a date or time: digits only, blanks around them allowed.
bool ParsePart(std::string_view text, int32_t* value) {
  text = TrimBlanks(text);
  size_t at = 0;
  return ReadDigits(text, &at, 9, value) && at == text.size();
}

bool ValidDate(int32_t year, int32_t month, int32_t day) {
  return year >= 0 && year <= 9999 && month >= 1 && month <= 12 && day >= 1 &&
         day <= DaysInMonth(year, month);
}

/// Up to nine digits of a fraction as nanoseconds; digits beyond are skipped.
int32_t ReadFraction(std::string_view text, size_t* at) {
  int32_t nanos = 0;
  int count = 0;
  for (; *at < text.size() && IsDigit(text[*at]); ++*at, ++count) {
    if (count < 9) nanos = nanos * 10 + (text[*at] - '0');
  }
  for (; count < 9; ++count) nanos *= 10;
  return nanos;
}

}  // namespace

TextError ParseDateText(std::string_view text, int32_t* days) {
  text = TrimBlanks(text);
  if (text.empty()) return TextError::kInvalid;
  text = text.substr(0, text.find(' '));
  int32_t parts[3] = {0, 1, 1};
  size_t begin = 0;
  for (int i = 0; i < 3; ++i) {
    const size_t end = i == 2 ? std::string_view::npos : text.find('-', begin);
    if (!ParsePart(text.substr(begin, end == std::string_view::npos ? end : end - begin),
                   &parts[i])) {
      return TextError::kInvalid;
    }
    if (end == std::string_view::npos) break;
    begin = end + 1;
  }
  if (!ValidDate(parts[0], parts[1], parts[2])) return TextError::kInvalid;
  *days = static_cast<int32_t>(DaysFromCivil(parts[0], parts[1], parts[2]));
  return TextError::kNone;
}

TextError ParseTimeText(std::string_view text, int32_t* millis_of_day) {
  text = TrimBlanks(text);
  size_t at = 0;
  int32_t parts[3] = {0, 0, 0};
  int32_t nanos = 0;
  for (int i = 0; i < 3; ++i) {
    if (!ReadDigits(text, &at, 2, &parts[i])) return TextError::kInvalid;
    if (at == text.size()) break;
    if (i == 2) {
      if (!ReadCharacter(text, &at, '.')) return TextError::kInvalid;
      nanos = ReadFraction(text, &at);
      break;
    }
    if (!ReadCharacter(text, &at, ':')) return TextError::kInvalid;
  }
  if (at != text.size() || parts[0] > 23 || parts[1] > 59 || parts[2] > 59) {
    return TextError::kInvalid;
  }
  *millis_of_day = ((parts[0] * 60 + parts[1]) * 60 + parts[2]) * 1000 + nanos / 1000000;
  return TextError::kNone;
}

namespace {

/// The common form "yyyy-MM-dd HH:mm:ss" without branches per digit; false when it is another.
bool ReadPlainTimestamp(std::string_view text, int64_t* epoch_seconds) {
  const char* p = text.data();
  uint32_t wrong = 0;
  const auto two = [p, &wrong](int at) {
    const auto high = static_cast<uint32_t>(p[at] - '0');
    const auto low = static_cast<uint32_t>(p[at + 1] - '0');
    wrong |= static_cast<uint32_t>(high > 9) | static_cast<uint32_t>(low > 9);
    return static_cast<int32_t>(high * 10 + low);
  };
  const int32_t year = two(0) * 100 + two(2);
  const int32_t month = two(5);
  const int32_t day = two(8);
  const int32_t hour = two(11);
  const int32_t minute = two(14);
  const int32_t second = two(17);
  if (wrong != 0 || p[4] != '-' || p[7] != '-' || p[10] != ' ' || p[13] != ':' || p[16] != ':') {
    return false;
  }
  if (month < 1 || month > 12 || day < 1 || day > DaysInMonth(year, month) || hour > 23 ||
      minute > 59 || second > 59) {
    return false;
  }
  *epoch_seconds =
      DaysFromCivil(year, month, day) * kSecondsPerDay + hour * 3600 + minute * 60 + second;
  return true;
}

TextError ReadTimeOfDay(std::string_view text, size_t* at, int64_t* seconds, int32_t* nanos) {
  int32_t hour = 0;
  int32_t minute = 0;
  int32_t second = 0;
  if (!ReadDigits(text, at, 2, &hour) || !ReadCharacter(text, at, ':') ||
      !ReadDigits(text, at, 2, &minute) || !ReadCharacter(text, at, ':') ||
      !ReadDigits(text, at, 2, &second) || hour > 23 || minute > 59 || second > 59) {
    return TextError::kInvalid;
  }
  *seconds += hour * 3600 + minute * 60 + second;
  if (*at == text.size()) return TextError::kNone;
  const size_t dot = *at;
  if (!ReadCharacter(text, at, '.')) return TextError::kInvalid;
  *nanos = ReadFraction(text, at);
  const size_t digits = *at - dot - 1;
  if (digits < 1 || digits > 9 || *at != text.size()) {
    *at = dot;
    return TextError::kInvalid;
  }
  return TextError::kNone;
}

TextError ReadTimestamp(std::string_view text, size_t* at, int64_t* seconds, int32_t* nanos) {
  int32_t year = 0;
  int32_t month = 0;
  int32_t day = 0;
  if (!ReadDigits(text, at, 4, &year) || *at != 4 || !ReadCharacter(text, at, '-') ||
      !ReadDigits(text, at, 2, &month) || !ReadCharacter(text, at, '-') ||
      !ReadDigits(text, at, 2, &day)) {
    return TextError::kInvalid;
  }
  if (!ValidDate(year, month, day)) return TextError::kInvalid;
  *seconds = DaysFromCivil(year, month, day) * kSecondsPerDay;
  if (*at == text.size()) return TextError::kNone;
  if (text[*at] != ' ') return TextError::kInvalid;
  ++*at;
  const size_t before = *at - 1;
  const TextError error = ReadTimeOfDay(text, at, seconds, nanos);
  if (error != TextError::kNone) *at = before;
  return error;
}

}  // namespace

TextError ParseTimestampText(std::string_view text, int64_t* epoch_seconds, int32_t* nanos,
                             size_t* stop) {
  *nanos = 0;
  if (text.size() == 19 && ReadPlainTimestamp(text, epoch_seconds)) return TextError::kNone;
  size_t at = 0;
  const TextError error = ReadTimestamp(text, &at, epoch_seconds, nanos);
  if (stop != nullptr) *stop = at;
  return error;
}

}  // namespace sluice
