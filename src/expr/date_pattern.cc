#include "expr/date_pattern.h"

#include <algorithm>
#include <cstdlib>

#include "common/text.h"
#include "types/calendar.h"
#include "types/text_writer.h"

namespace sluice::expr {

const std::string_view kMonthNames[12] = {"January",   "February", "March",    "April",
                                          "May",       "June",     "July",     "August",
                                          "September", "October",  "November", "December"};
const std::string_view kWeekdayNames[7] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                           "Friday", "Saturday", "Sunday"};

namespace {

constexpr std::string_view kTimestampLetters =
    "GyuYMLdDHhKkmsSaEecwWQqnAN"
    "XxZVzO";
constexpr std::string_view kCalendarLetters = "GyYMLwWDdFEuaHkKhmsSzZX";

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsZoneLetter(char c) { return std::string_view("XxZVzO").find(c) != std::string_view::npos; }

/// How long a letter's text stays the same.
int64_t UnchangedSeconds(char letter, PatternStyle style) {
  switch (letter) {
    case 'a':
    case 'H':
    case 'h':
    case 'K':
    case 'k':
      return 3600;
    case 'm':
      return 60;
    case 's':
      return 1;
    case 'S':
    case 'n':
    case 'N':
    case 'A':
      return 0;
    default:
      (void)style;
      return kSecondsPerDay;
  }
}

Status BadPattern(std::string_view pattern, const std::string& why) {
  return Status::DataError(
      "The pattern '" + Printable(pattern) + "' cannot be used: " + why +
      ". Letters are those of Java's date patterns, such as yyyy-MM-dd HH:mm:ss; "
      "other letters stand in quotes.");
}

/// Number of letters from which Java refuses a field.
bool TooMany(char letter, int count) {
  switch (letter) {
    case 'd':
    case 'H':
    case 'h':
    case 'K':
    case 'k':
    case 'm':
    case 's':
    case 'w':
      return count > 2;
    case 'a':
    case 'W':
      return count > 1;
    case 'D':
      return count > 3;
    case 'S':
      return count > 9;
    case 'E':
    case 'M':
    case 'L':
    case 'e':
    case 'c':
    case 'Q':
    case 'q':
    case 'X':
    case 'x':
    case 'Z':
      return count > 5;
    default:
      return count > 19;
  }
}

}  // namespace

Result<DatePattern> DatePattern::Compile(std::string_view pattern, PatternStyle style) {
  DatePattern compiled;
  compiled.style_ = style;
  compiled.unchanged_seconds_ = kSecondsPerDay;
  const std::string_view letters =
      style == PatternStyle::kTimestamp ? kTimestampLetters : kCalendarLetters;
  const auto literal = [&compiled]() -> std::string& {
    if (compiled.tokens_.empty() || compiled.tokens_.back().letter != 0) {
      compiled.tokens_.push_back({0, 0, {}});
    }
    return compiled.tokens_.back().text;
  };
  int open = 0;
  for (size_t at = 0; at < pattern.size();) {
    const char c = pattern[at];
    if (c == '\'') {
      size_t end = at + 1;
      if (end < pattern.size() && pattern[end] == '\'') {
        literal() += '\'';
        at += 2;
        continue;
      }
      std::string text;
      for (; end < pattern.size(); ++end) {
        if (pattern[end] != '\'') {
          text += pattern[end];
        } else if (end + 1 < pattern.size() && pattern[end + 1] == '\'') {
          text += '\'';
          ++end;
        } else {
          break;
        }
      }
      if (end == pattern.size()) return BadPattern(pattern, "a quote is not closed");
      literal() += text;
      at = end + 1;
    } else if (IsLetter(c)) {
      size_t end = at;
      while (end < pattern.size() && pattern[end] == c) ++end;
      const auto count = static_cast<int>(end - at);
      if (letters.find(c) == std::string_view::npos) {
        return BadPattern(pattern, "Unknown pattern letter: " + std::string(1, c));
      }
      if (style == PatternStyle::kTimestamp && TooMany(c, count)) {
        return BadPattern(pattern, "Too many pattern letters: " + std::string(1, c));
      }
      compiled.unchanged_seconds_ =
          std::min(compiled.unchanged_seconds_, UnchangedSeconds(c, style));
      compiled.needs_zone_ = compiled.needs_zone_ || IsZoneLetter(c);
      compiled.tokens_.push_back({c, count, {}});
      at = end;
    } else if (style == PatternStyle::kTimestamp && (c == '[' || c == ']')) {
      open += c == '[' ? 1 : -1;
      if (open < 0) return BadPattern(pattern, "a ']' has no '['");
      compiled.tokens_.push_back({c, 0, {}});
      ++at;
    } else if (style == PatternStyle::kTimestamp && (c == '{' || c == '}' || c == '#')) {
      return BadPattern(pattern,
                        "Pattern includes reserved character: '" + std::string(1, c) + "'");
    } else {
      literal() += c;
      ++at;
    }
  }
  compiled.FindShortcuts();
  return compiled;
}

void DatePattern::FindShortcuts() {
  int fractions = 0;
  bool other = false;
  size_t size = 0;
  bool fixed = true;
  for (const Token& token : tokens_) {
    const bool milliseconds = style_ == PatternStyle::kCalendar;
    if (token.letter == 'S' && !(milliseconds && token.count != 3)) {
      ++fractions;
      fraction_digits_ = token.count;
    } else if (UnchangedSeconds(token.letter, style_) == 0) {
      other = true;
    }
    const bool two_digits =
        token.count == 2 && std::string_view("MdHms").find(token.letter) != std::string_view::npos;
    const bool year = token.letter == 'y' && token.count == 4;
    const bool fraction = token.letter == 'S' && style_ == PatternStyle::kTimestamp;
    fixed = fixed && (token.letter == 0 || two_digits || year || fraction);
    size += token.letter == 0 ? token.text.size() : static_cast<size_t>(token.count);
  }
  if (fractions != 1 || other) fraction_digits_ = 0;
  // SimpleDateFormat reads a number on to its last digit, unless the next one follows at once.
  if (fixed && style_ == PatternStyle::kTimestamp) fixed_size_ = size;
}

namespace {

void AppendPadded(int64_t value, int width, std::string* out) {
  char buffer[text::kMaxIntegerBytes];
  if (value < 0) {
    out->push_back('-');
    value = -value;
  }
  const char* end = text::WriteInteger(buffer, value);
  const auto length = static_cast<int>(end - buffer);
  if (length < width) out->append(static_cast<size_t>(width - length), '0');
  out->append(buffer, static_cast<size_t>(length));
}

/// Weeks as in the United States, the locale of the peer: they begin on Sunday, and the first holds
/// January 1.
struct LocalWeek {
  int64_t year;
  int32_t week;
};
int64_t SundayBefore(int64_t day) { return day - IsoDayOfWeek(day) % 7; }
LocalWeek LocalWeekOf(int64_t day) {
  const int64_t saturday = SundayBefore(day) + 6;
  // The week belongs to the year of its last day.
  const int64_t year = CivilFromDays(saturday).year;
  const int64_t first = SundayBefore(DaysFromCivil(year, 1, 1));
  return {year, static_cast<int32_t>((day - first) / 7) + 1};
}
int32_t WeekOfMonth(int64_t day, const CivilDate& date) {
  const int64_t first = SundayBefore(DaysFromCivil(date.year, date.month, 1));
  return static_cast<int32_t>((day - first) / 7) + 1;
}

void AppendYear(int64_t year, int count, PatternStyle style, std::string* out) {
  if (count == 2) {
    AppendPadded(FloorMod(year, 100), 2, out);
    return;
  }
  if (style == PatternStyle::kTimestamp && count >= 4 && year > 9999) out->push_back('+');
  AppendPadded(year, count, out);
}

void AppendName(std::string_view name, int count, std::string* out) {
  if (count == 5) {
    out->push_back(name[0]);
  } else {
    out->append(count == 4 ? name : name.substr(0, 3));
  }
}

void AppendOffset(int32_t offset, bool colon, bool minutes_always, std::string* out) {
  out->push_back(offset < 0 ? '-' : '+');
  offset = std::abs(offset);
  AppendPadded(offset / 3600, 2, out);
  const int32_t minutes = offset / 60 % 60;
  if (!minutes_always && minutes == 0) return;
  if (colon) out->push_back(':');
  AppendPadded(minutes, 2, out);
}

void AppendZone(char letter, int count, const WallTime& time, std::string* out) {
  const int32_t offset = time.offset_seconds;
  switch (letter) {
    case 'X':
    case 'x':
      if (letter == 'X' && offset == 0) {
        out->push_back('Z');
      } else {
        AppendOffset(offset, count == 3 || count == 5, count > 1, out);
      }
      return;
    case 'Z':
      if (count == 5) return AppendZone('X', 3, time, out);
      if (count == 4) {
        out->append("GMT");
        if (offset != 0) AppendOffset(offset, true, true, out);
        return;
      }
      return AppendOffset(offset, false, true, out);
    case 'V':
      out->append(time.zone->name());
      return;
    default:  // z, O: a name that reads back everywhere.
      if (time.zone->is_utc()) {
        out->append(letter == 'z' ? "UTC" : "GMT");
        return;
      }
      out->append("GMT");
      AppendOffset(offset, true, true, out);
  }
}

class Printer {
 public:
  Printer(const WallTime& time, PatternStyle style, std::string* out)
      : time_(time), style_(style), out_(out), date_(CivilFromDays(time.day)) {}

  void Print(const DatePattern::Token& token) {
    const int count = token.count;
    switch (token.letter) {
      case 0:
        out_->append(token.text);
        return;
      case '[':
      case ']':
        return;
      case 'G':
        out_->append(date_.year > 0 ? "AD" : "BC");
        return;
      case 'y':
        return AppendYear(date_.year > 0 ? date_.year : 1 - date_.year, count, style_, out_);
      case 'Y':
        return AppendYear(LocalWeekOf(time_.day).year, count, style_, out_);
      case 'M':
      case 'L':
        if (count >= 3) return AppendName(kMonthNames[date_.month - 1], NameCount(count), out_);
        return AppendPadded(date_.month, count, out_);
      case 'd':
        return AppendPadded(date_.day, count, out_);
      case 'D':
        return AppendPadded(DayOfYear(time_.day), count, out_);
      case 'E':
        return AppendName(kWeekdayNames[IsoDayOfWeek(time_.day) - 1], NameCount(count), out_);
      case 'w':
        return AppendPadded(LocalWeekOf(time_.day).week, count, out_);
      case 'W':
        return AppendPadded(WeekOfMonth(time_.day, date_), count, out_);
      case 'u':
        if (style_ == PatternStyle::kCalendar) {
          return AppendPadded(IsoDayOfWeek(time_.day), count, out_);
        }
        return AppendYear(date_.year, count, style_, out_);
      case 'F':
        return AppendPadded((date_.day - 1) / 7 + 1, count, out_);
      case 'e':
      case 'c':
        if (count >= 3) {
          return AppendName(kWeekdayNames[IsoDayOfWeek(time_.day) - 1], count, out_);
        }
        return AppendPadded(IsoDayOfWeek(time_.day) % 7 + 1, count, out_);
      case 'Q':
      case 'q':
        return PrintQuarter(count);
      default:
        PrintTime(token.letter, count);
    }
  }

 private:
  /// SimpleDateFormat has short and full names only.
  int NameCount(int count) const {
    return style_ == PatternStyle::kCalendar && count >= 4 ? 4 : count;
  }

  void PrintQuarter(int count) {
    static constexpr std::string_view kOrdinals[] = {"1st", "2nd", "3rd", "4th"};
    const int32_t quarter = (date_.month - 1) / 3 + 1;
    if (count <= 2) return AppendPadded(quarter, count, out_);
    if (count == 4) {
      out_->append(kOrdinals[quarter - 1]);
      out_->append(" quarter");
      return;
    }
    if (count == 3) out_->push_back('Q');
    AppendPadded(quarter, 1, out_);
  }

  void PrintTime(char letter, int count) {
    const int32_t hour = time_.second_of_day / 3600;
    switch (letter) {
      case 'a':
        out_->append(hour < 12 ? "AM" : "PM");
        return;
      case 'H':
        return AppendPadded(hour, count, out_);
      case 'k':
        return AppendPadded(hour == 0 ? 24 : hour, count, out_);
      case 'K':
        return AppendPadded(hour % 12, count, out_);
      case 'h':
        return AppendPadded(hour % 12 == 0 ? 12 : hour % 12, count, out_);
      case 'm':
        return AppendPadded(time_.second_of_day / 60 % 60, count, out_);
      case 's':
        return AppendPadded(time_.second_of_day % 60, count, out_);
      case 'S': {
        if (style_ == PatternStyle::kCalendar)
          return AppendPadded(time_.nanos / 1000000, count, out_);
        char digits[16];
        text::WriteFraction(digits, static_cast<uint32_t>(time_.nanos), count);
        out_->append(digits + 1, static_cast<size_t>(count));
        return;
      }
      case 'n':
        return AppendPadded(time_.nanos, count, out_);
      case 'N':
        return AppendPadded(time_.second_of_day * int64_t{1000000000} + time_.nanos, count, out_);
      case 'A':
        return AppendPadded(time_.second_of_day * int64_t{1000} + time_.nanos / 1000000, count,
                            out_);
      default:
        AppendZone(letter, count, time_, out_);
    }
  }

  const WallTime& time_;
  PatternStyle style_;
  std::string* out_;
  CivilDate date_;
};

}  // namespace

Status DatePattern::Format(const WallTime& time, std::string* out, size_t* fraction_at) const {
  if (needs_zone_ && time.zone == nullptr) {
    return Status::DataError(
        "The pattern prints a time zone, but a TIMESTAMP has none. Use a TIMESTAMP_LTZ or leave "
        "the "
        "letter out.");
  }
  Printer printer(time, style_, out);
  for (const Token& token : tokens_) {
    if (token.letter == 'S' && fraction_at != nullptr) *fraction_at = out->size();
    printer.Print(token);
  }
  return {};
}

}  // namespace sluice::expr
