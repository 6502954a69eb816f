// Reading texts by a date pattern.
#include <algorithm>
#include <cstring>

#include "common/text.h"
#include "expr/date_pattern.h"
#include "types/calendar.h"

namespace sluice::expr {

namespace {

using Token = DatePattern::Token;

struct Fields {
  std::optional<int64_t> year;
  std::optional<int64_t> month;
  std::optional<int64_t> day;
  std::optional<int64_t> day_of_year;
  std::optional<int64_t> hour;       // 0 to 23.
  std::optional<int64_t> half_hour;  // 0 to 11.
  std::optional<int64_t> afternoon;  // 0 or 1.
  std::optional<int64_t> minute;
  std::optional<int64_t> second;
  std::optional<int64_t> nanos;
  std::optional<int64_t> nanos_of_day;
  std::optional<int32_t> offset;
  std::optional<TimeZone> zone;
};

constexpr int64_t kMaxMillis = 1000000000000;  // More would overflow as nanoseconds.

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsNumeric(const Token& token, PatternStyle style) {
  switch (token.letter) {
    case 'y':
    case 'u':
    case 'Y':
    case 'd':
    case 'D':
    case 'H':
    case 'h':
    case 'K':
    case 'k':
    case 'm':
    case 's':
    case 'S':
    case 'n':
    case 'N':
    case 'A':
    case 'w':
    case 'W':
    case 'F':
      return true;
    case 'M':
    case 'L':
      return token.count <= 2;
    case 'e':
    case 'c':
    case 'Q':
    case 'q':
      return style == PatternStyle::kTimestamp && token.count <= 2;
    default:
      return false;
  }
}

class Reader {
 public:
  Reader(const std::vector<Token>& tokens, PatternStyle style, std::string_view text)
      : tokens_(tokens), style_(style), text_(text) {}

  bool Read(Fields* fields) {
    size_t at = 0;
    if (!ReadTokens(0, tokens_.size(), &at, fields)) return false;
    // SimpleDateFormat stops where its pattern ends.
    return style_ == PatternStyle::kCalendar || at == text_.size();
  }

 private:
  bool ReadTokens(size_t begin, size_t end, size_t* at, Fields* fields) {
    for (size_t i = begin; i < end; ++i) {
      const Token& token = tokens_[i];
      if (token.letter == '[') {
        const size_t close = Closing(i, end);
        Fields tried = *fields;
        size_t moved = *at;
        if (ReadTokens(i + 1, close, &moved, &tried)) {
          *fields = tried;
          *at = moved;
        }
        i = close;
      } else if (token.letter == 0) {
        if (text_.compare(*at, token.text.size(), token.text) != 0) return false;
        *at += token.text.size();
      } else if (!ReadField(i, end, at, fields)) {
        return false;
      }
    }
    return true;
  }

  size_t Closing(size_t open, size_t end) const {
    int depth = 0;
    for (size_t i = open; i < end; ++i) {
      if (tokens_[i].letter == '[') ++depth;
      if (tokens_[i].letter == ']' && --depth == 0) return i;
    }
    return end;
  }

  bool ReadField(size_t index, size_t end, size_t* at, Fields* fields) {
    const Token& token = tokens_[index];
    if (IsNumeric(token, style_)) {
      int64_t value = 0;
      const size_t begin = *at;
      if (!ReadNumber(index, end, at, &value)) return false;
      return Store(token, value, static_cast<int>(*at - begin), fields);
    }
    switch (token.letter) {
      case 'M':
      case 'L':
        return ReadName(kMonthNames, 12, token.count, at, &fields->month);
      case 'E':
      case 'e':
      case 'c': {
        std::optional<int64_t> ignored;
        return ReadName(kWeekdayNames, 7, token.count, at, &ignored);
      }
      case 'a':
        return ReadHalf(at, fields);
      case 'G':
        return ReadWord("AD", at);
      default:
        return ReadZone(token, at, fields);
    }
  }

  /// Digits of a number: exact for SimpleDateFormat fields that touch the next number and for fixed
  /// widths of DateTimeFormatter.
  bool ReadNumber(size_t index, size_t end, size_t* at, int64_t* value) const {
    const Token& token = tokens_[index];
    size_t min = 1;
    size_t max = 18;
    bool negative = false;
    size_t from = *at;
    if (style_ == PatternStyle::kCalendar) {
      while (from < text_.size() && (text_[from] == ' ' || text_[from] == '\t')) ++from;
      const bool touches = index + 1 < end && IsNumeric(tokens_[index + 1], style_);
      if (touches) max = static_cast<size_t>(token.count);
      if (from < text_.size() && text_[from] == '-') {
        negative = true;
        ++from;
      }
    } else {
      Widths(token, &min, &max);
      if (min != max) max = std::min(max, RunAfterReserve(index, end, from));
    }
    size_t to = from;
    int64_t result = 0;
    while (to < text_.size() && to - from < max && IsDigit(text_[to])) {
      result = result * 10 + (text_[to++] - '0');
    }
    if (to - from < min) return false;
    *value = negative ? -result : result;
    *at = to;
    return true;
  }

  static void Widths(const Token& token, size_t* min, size_t* max) {
    const auto count = static_cast<size_t>(token.count);
    const bool year = token.letter == 'y' || token.letter == 'u' || token.letter == 'Y';
    if (year) {
      if (count == 1) return;
      *min = *max = count;  // Without a sign longer years are not read.
    } else if (token.letter == 'S' || count >= 2) {
      *min = *max = count;
      if (token.letter == 'D' && count == 2) *max = 3;
    }
  }

  /// Digits a field of open width may take when fields of fixed width follow it without a gap.
  size_t RunAfterReserve(size_t index, size_t end, size_t from) const {
    size_t run = 0;
    while (from + run < text_.size() && IsDigit(text_[from + run])) ++run;
    size_t reserved = 0;
    for (size_t i = index + 1; i < end && IsNumeric(tokens_[i], style_); ++i) {
      size_t min = 1;
      size_t max = 18;
      Widths(tokens_[i], &min, &max);
      if (min != max) break;
      reserved += min;
    }
    return run > reserved ? run - reserved : 1;
  }

  bool Store(const Token& token, int64_t value, int digits, Fields* fields) const {
    const bool lenient = style_ == PatternStyle::kCalendar;
    switch (token.letter) {
      case 'y':
        fields->year =
            token.count <= 2 && digits == 2 && value >= 0 ? TwoDigitYear(value, lenient) : value;
        return true;
      case 'u':
        if (lenient) return true;
        fields->year = token.count == 2 ? 2000 + value : value;
        return true;
      case 'M':
      case 'L':
        fields->month = value;
        return lenient || (value >= 1 && value <= 12);
      case 'd':
        fields->day = value;
        return lenient || (value >= 1 && value <= 31);
      case 'D':
        fields->day_of_year = value;
        return lenient || (value >= 1 && value <= 366);
      case 'H':
        fields->hour = value;
        return lenient || value <= 23;
      case 'k':
        fields->hour = value == 24 ? 0 : value;
        return lenient || (value >= 1 && value <= 24);
      case 'K':
        fields->half_hour = value;
        return lenient || value <= 11;
      case 'h':
        fields->half_hour = value == 12 ? 0 : value;
        return lenient || (value >= 1 && value <= 12);
      case 'm':
        fields->minute = value;
        return lenient || value <= 59;
      case 's':
        fields->second = value;
        return lenient || value <= 59;
      case 'S':
        if (lenient) {
          if (value > kMaxMillis || value < -kMaxMillis) return false;
          fields->nanos = value * 1000000;
        } else {
          for (int i = digits; i < 9; ++i) value *= 10;
          fields->nanos = value;
        }
        return true;
      case 'n':
        fields->nanos = value;
        return value <= 999999999;
      case 'N':
        fields->nanos_of_day = value;
        return true;
      case 'A':
        if (value >= kMillisPerDay) return false;
        fields->nanos_of_day = value * 1000000;
        return true;
      default:
        return true;  // Weeks, quarters and the like do not decide the date.
    }
  }

  /// SimpleDateFormat's window reaches 80 years back and 20 forward; it is fixed here so that a
  /// text always means the same.
  static int64_t TwoDigitYear(int64_t value, bool lenient) {
    constexpr int64_t kLastYearOfWindow = 45;
    return lenient && value > kLastYearOfWindow ? 1900 + value : 2000 + value;
  }

  bool ReadName(const std::string_view* names, int name_count, int letters, size_t* at,
                std::optional<int64_t>* value) const {
    const bool lenient = style_ == PatternStyle::kCalendar;
    const std::string_view rest = text_.substr(*at);
    for (int i = 0; i < name_count; ++i) {
      for (const std::string_view name : {names[i], names[i].substr(0, 3)}) {
        const bool full = name.size() == names[i].size();
        if (!lenient && full != (letters == 4) && names[i].size() != 3) continue;
        const bool same = lenient ? EqualsIgnoreCaseAscii(rest.substr(0, name.size()), name)
                                  : rest.starts_with(name);
        if (!same) continue;
        *value = i + 1;
        *at += name.size();
        return true;
      }
    }
    return false;
  }

  bool ReadHalf(size_t* at, Fields* fields) const {
    const std::string_view word = text_.substr(*at, 2);
    const bool lenient = style_ == PatternStyle::kCalendar;
    const bool am = lenient ? EqualsIgnoreCaseAscii(word, "AM") : word == "AM";
    const bool pm = lenient ? EqualsIgnoreCaseAscii(word, "PM") : word == "PM";
    if (!am && !pm) return false;
    fields->afternoon = pm ? 1 : 0;
    *at += 2;
    return true;
  }

  bool ReadWord(std::string_view word, size_t* at) const {
    if (text_.compare(*at, word.size(), word) != 0) return false;
    *at += word.size();
    return true;
  }

  /// "Z", "+08", "+0800", "+08:00", and for names whatever TimeZone::Find knows.
  bool ReadZone(const Token& token, size_t* at, Fields* fields) const {
    const std::string_view rest = text_.substr(*at);
    if (rest.empty()) return false;
    if (rest[0] == 'Z' && token.letter != 'V' && token.letter != 'x') {
      fields->offset = 0;
      ++*at;
      return true;
    }
    size_t end = 0;
    const auto in_name = [&rest, &end] {
      const char c = rest[end];
      return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/' ||
             c == '_' || c == '-' || c == '+' || c == ':';
    };
    while (end < rest.size() && in_name()) ++end;
    const Result<TimeZone> zone = TimeZone::Find(rest.substr(0, end));
    if (!zone.ok()) return false;
    if (rest[0] == '+' || rest[0] == '-') {
      fields->offset = zone->OffsetSecondsAt(0);
    } else {
      fields->zone = *zone;
    }
    *at += end;
    return true;
  }

  const std::vector<Token>& tokens_;
  PatternStyle style_;
  std::string_view text_;
};

/// Year 1 to 9999 and every field in its range, the day cut to the month's end: DateTimeFormatter's
/// "smart" way.
bool ResolveExactly(const Fields& fields, int64_t* day) {
  const int64_t year = fields.year.value_or(1970);
  if (year < 0 || year > 9999) return false;
  if (fields.day_of_year && !fields.month) {
    if (*fields.day_of_year == 366 && !IsLeapYear(year)) return false;
    *day = DaysFromCivil(year, 1, 1) + *fields.day_of_year - 1;
    return true;
  }
  const auto month = static_cast<int32_t>(fields.month.value_or(1));
  const auto wanted = static_cast<int32_t>(fields.day.value_or(1));
  // Only a whole date is cut; a missing year cannot make a day valid.
  const int32_t last = DaysInMonth(year, month);
  *day = DaysFromCivil(year, month, std::min(wanted, last));
  return true;
}

/// Everything rolls over: month 13 is January of the next year.
int64_t ResolveLeniently(const Fields& fields) {
  const int64_t year = fields.year.value_or(1970);
  if (fields.day_of_year && !fields.month) {
    return DaysFromCivil(year, 1, 1) + *fields.day_of_year - 1;
  }
  const int64_t months = fields.month.value_or(1) - 1;
  const int64_t real_year = year + FloorDiv(months, 12);
  const auto month = static_cast<int32_t>(FloorMod(months, 12)) + 1;
  return DaysFromCivil(real_year, month, 1) + fields.day.value_or(1) - 1;
}

}  // namespace

/// Numbers of known widths at known places: most patterns in use, read without looking for ends.
/// False: the long way decides.
bool DatePattern::ParseFixed(std::string_view text, ParsedTime* time) const {
  int32_t year = 1970;
  int32_t month = 1;
  int32_t day = 1;
  int32_t hour = 0;
  int32_t minute = 0;
  int32_t second = 0;
  int32_t nanos = 0;
  const char* at = text.data();
  for (const Token& token : tokens_) {
    if (token.letter == 0) {
      if (std::memcmp(at, token.text.data(), token.text.size()) != 0) return false;
      at += token.text.size();
      continue;
    }
    int32_t value = 0;
    for (int i = 0; i < token.count; ++i, ++at) {
      if (!IsDigit(*at)) return false;
      value = value * 10 + (*at - '0');
    }
    switch (token.letter) {
      case 'y':
        year = value;
        break;
      case 'M':
        month = value;
        break;
      case 'd':
        day = value;
        break;
      case 'H':
        hour = value;
        break;
      case 'm':
        minute = value;
        break;
      case 's':
        second = value;
        break;
      default:
        for (int i = token.count; i < 9; ++i) value *= 10;
        nanos = value;
    }
  }
  if (month < 1 || month > 12 || day < 1 || day > DaysInMonth(year, month) || hour > 23 ||
      minute > 59 || second > 59) {
    return false;
  }
  time->epoch_seconds =
      DaysFromCivil(year, month, day) * kSecondsPerDay + hour * 3600 + minute * 60 + second;
  time->nanos = nanos;
  time->offset_seconds.reset();
  time->zone.reset();
  return true;
}

bool DatePattern::Parse(std::string_view text, ParsedTime* time) const {
  if (fixed_size_ > 0 && text.size() == fixed_size_ && ParseFixed(text, time)) return true;
  Fields fields;
  if (!Reader(tokens_, style_, text).Read(&fields)) return false;
  int64_t day = 0;
  constexpr int64_t kLimit = 1000000000;  // Larger numbers would overflow what follows.
  for (const auto& field :
       {fields.year, fields.month, fields.day, fields.hour, fields.minute, fields.second}) {
    if (field && (*field > kLimit || *field < -kLimit)) return false;
  }
  if (style_ == PatternStyle::kTimestamp) {
    if (!ResolveExactly(fields, &day)) return false;
  } else {
    day = ResolveLeniently(fields);
  }
  int64_t hour = fields.hour.value_or(0);
  const bool halves = fields.half_hour && (fields.afternoon || style_ == PatternStyle::kCalendar);
  if (!fields.hour && halves) hour = *fields.half_hour + 12 * fields.afternoon.value_or(0);
  int64_t seconds = hour * 3600 + fields.minute.value_or(0) * 60 + fields.second.value_or(0);
  int64_t nanos = fields.nanos.value_or(0);
  if (fields.nanos_of_day) {
    seconds = *fields.nanos_of_day / 1000000000;
    nanos = *fields.nanos_of_day % 1000000000;
  }
  time->epoch_seconds = day * kSecondsPerDay + seconds + FloorDiv(nanos, 1000000000);
  time->nanos = static_cast<int32_t>(FloorMod(nanos, 1000000000));
  time->offset_seconds = fields.offset;
  time->zone = fields.zone;
  return true;
}

}  // namespace sluice::expr
