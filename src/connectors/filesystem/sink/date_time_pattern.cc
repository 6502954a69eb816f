#include "connectors/filesystem/sink/date_time_pattern.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "common/text.h"
#include "types/calendar.h"

namespace sluice::connectors::filesystem {
namespace {

constexpr std::string_view kLetters = "uyMLdDHkhKmsSAnNa";
constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

Status Bad(std::string_view pattern, std::string_view reason) {
  return Status::InvalidArgument("'" + std::string(pattern) +
                                 "' is no date-time pattern: " + std::string(reason) +
                                 " Write it like 'yyyy-MM-dd HH:mm:ss' or 'yyyyMMdd'.");
}

/// Reads between `min` and `max` digits.
std::optional<int64_t> TakeDigits(std::string_view text, size_t* at, int min, int max) {
  int64_t value = 0;
  int count = 0;
  while (count < max && *at < text.size() && IsDigit(text[*at])) {
    value = value * 10 + (text[*at] - '0');
    ++*at;
    ++count;
  }
  if (count < min) return std::nullopt;
  return value;
}

}  // namespace

struct DateTimePattern::Fields {
  std::optional<int64_t> year, month, day, day_of_year, hour, hour12, minute, second, nanos;
  std::optional<int64_t> millis_of_day, nanos_of_day, afternoon;

  static bool Set(std::optional<int64_t>* field, int64_t value) {
    if (field->has_value() && **field != value) return false;
    *field = value;
    return true;
  }
  std::optional<int64_t> Date() const;
  std::optional<int64_t> MillisOfDay() const;
};

Result<DateTimePattern> DateTimePattern::Make(std::string_view pattern) {
  DateTimePattern result;
  std::vector<size_t> open;
  std::string seen;
  const auto add_text = [&result](std::string_view text) {
    auto& items = result.items_;
    if (items.empty() || items.back().letter != 0) items.emplace_back();
    items.back().text.append(text);
  };
  for (size_t i = 0; i < pattern.size();) {
    const char c = pattern[i];
    if (c == '\'') {
      const size_t close = pattern.find('\'', i + 1);
      if (close == std::string_view::npos) return Bad(pattern, "A quote is not closed.");
      add_text(close == i + 1 ? "'" : pattern.substr(i + 1, close - i - 1));
      i = close + 1;
    } else if (c == '[') {
      open.push_back(result.items_.size());
      result.items_.push_back({.letter = '['});
      ++i;
    } else if (c == ']') {
      if (open.empty()) return Bad(pattern, "A ']' has no '['.");
      result.items_[open.back()].partner = result.items_.size();
      open.pop_back();
      result.items_.push_back({.letter = ']'});
      ++i;
    } else if (std::isalpha(static_cast<unsigned char>(c))) {
      if (kLetters.find(c) == std::string_view::npos) {
        return Bad(pattern, std::string("The letter '") + c + "' is not offered.");
      }
      size_t end = i;
      while (end < pattern.size() && pattern[end] == c) ++end;
      result.items_.push_back({.letter = c, .width = static_cast<int>(end - i)});
      seen += c;
      i = end;
    } else if (c == '{' || c == '}' || c == '#') {
      return Bad(pattern, std::string("The character '") + c + "' is reserved.");
    } else {
      add_text(pattern.substr(i, 1));
      ++i;
    }
  }
  if (!open.empty()) return Bad(pattern, "A '[' is not closed.");
  const bool has_year = seen.find_first_of("uy") != std::string::npos;
  const bool has_day =
      seen.find('D') != std::string::npos ||
      (seen.find_first_of("ML") != std::string::npos && seen.find('d') != std::string::npos);
  if (!has_year || !has_day) return Bad(pattern, "It gives no year, month and day.");
  for (size_t i = 0; i + 1 < result.items_.size(); ++i) {
    const char next = result.items_[i + 1].letter;
    result.items_[i].adjacent = next != 0 && next != '[' && next != ']' && next != 'a';
  }
  return result;
}

bool DateTimePattern::MayHold(char c) const {
  return IsDigit(c) || std::any_of(items_.begin(), items_.end(), [c](const Item& item) {
           if (item.letter == 0) return item.text.find(c) != std::string::npos;
           const bool month_name = (item.letter == 'M' || item.letter == 'L') && item.width >= 3;
           return (item.letter == 'a' || month_name) && std::isalpha(static_cast<unsigned char>(c));
         });
}

bool DateTimePattern::MatchItem(const Item& item, std::string_view text, size_t* at,
                                Fields* fields) const {
  if (item.letter == 0) {
    if (text.substr(*at, item.text.size()) != item.text) return false;
    *at += item.text.size();
    return true;
  }
  if (item.letter == 'a') {
    const std::string half = ToUpperAscii(text.substr(*at, 2));
    if (half != "AM" && half != "PM") return false;
    *at += 2;
    return Fields::Set(&fields->afternoon, half == "PM" ? 1 : 0);
  }
  if ((item.letter == 'M' || item.letter == 'L') && item.width >= 3) {
    for (size_t month = 0; month < kMonths.size(); ++month) {
      const std::string_view name = item.width == 3 ? kMonths[month].substr(0, 3) : kMonths[month];
      if (text.substr(*at, name.size()) != name) continue;
      *at += name.size();
      return Fields::Set(&fields->month, static_cast<int64_t>(month) + 1);
    }
    return false;
  }
  // Java: one letter takes as many digits as there are (19), two and more exactly that many, four
  // and more of a year at least that many; before another number exactly the width.
  const bool is_year = item.letter == 'u' || item.letter == 'y';
  int max = item.width;
  if (!item.adjacent && (item.width == 1 || (is_year && item.width >= 4))) max = 10;
  const size_t begin = *at;
  std::optional<int64_t> value = TakeDigits(text, at, item.width, max);
  if (!value) return false;
  switch (item.letter) {
    case 'u':
    case 'y':
      if (item.width == 2) *value += 2000;
      return Fields::Set(&fields->year, *value);
    case 'M':
    case 'L':
      return Fields::Set(&fields->month, *value);
    case 'd':
      return Fields::Set(&fields->day, *value);
    case 'D':
      return Fields::Set(&fields->day_of_year, *value);
    case 'H':
      return *value <= 23 && Fields::Set(&fields->hour, *value);
    case 'k':
      return *value >= 1 && *value <= 24 && Fields::Set(&fields->hour, *value % 24);
    case 'h':
      return *value >= 1 && *value <= 12 && Fields::Set(&fields->hour12, *value % 12);
    case 'K':
      return *value <= 11 && Fields::Set(&fields->hour12, *value);
    case 'm':
      return *value <= 59 && Fields::Set(&fields->minute, *value);
    case 's':
      return *value <= 59 && Fields::Set(&fields->second, *value);
    case 'S': {
      int64_t nanos = *value;
      for (size_t digits = *at - begin; digits < 9; ++digits) nanos *= 10;
      return *at - begin <= 9 && Fields::Set(&fields->nanos, nanos);
    }
    case 'n':
      return *value <= 999'999'999 && Fields::Set(&fields->nanos, *value);
    case 'A':
      return *value < kMillisPerDay && Fields::Set(&fields->millis_of_day, *value);
    case 'N':
      return *value < kMillisPerDay * 1'000'000 && Fields::Set(&fields->nanos_of_day, *value);
    default:
      return false;
  }
}

bool DateTimePattern::Match(size_t item, size_t end, std::string_view text, size_t* at,
                            Fields* fields) const {
  for (; item < end; ++item) {
    if (items_[item].letter == '[') {
      // A part that does not match leaves no trace.
      size_t inner_at = *at;
      Fields inner = *fields;
      if (Match(item + 1, items_[item].partner, text, &inner_at, &inner)) {
        *at = inner_at;
        *fields = inner;
      }
      item = items_[item].partner;
      continue;
    }
    if (!MatchItem(items_[item], text, at, fields)) return false;
  }
  return true;
}

std::optional<int64_t> DateTimePattern::Fields::Date() const {
  if (!year) return std::nullopt;
  if (month && day) {
    if (*month < 1 || *month > 12) return std::nullopt;
    const auto month_number = static_cast<int32_t>(*month);
    if (*day < 1 || *day > DaysInMonth(*year, month_number)) return std::nullopt;
    return DaysFromCivil(*year, month_number, static_cast<int32_t>(*day));
  }
  if (!day_of_year || *day_of_year < 1 || *day_of_year > (IsLeapYear(*year) ? 366 : 365)) {
    return std::nullopt;
  }
  return DaysFromCivil(*year, 1, 1) + *day_of_year - 1;
}

std::optional<int64_t> DateTimePattern::Fields::MillisOfDay() const {
  if (millis_of_day) return millis_of_day;
  if (nanos_of_day) return *nanos_of_day / 1'000'000;
  std::optional<int64_t> of_day = hour;
  if (hour12 && afternoon) of_day = *hour12 + 12 * *afternoon;
  if (!of_day) return std::nullopt;  // Minutes without an hour are no time: the date alone counts.
  return ((*of_day * 60 + minute.value_or(0)) * 60 + second.value_or(0)) * 1000 +
         nanos.value_or(0) / 1'000'000;
}

std::optional<int64_t> DateTimePattern::ParseLocalMillis(std::string_view text) const {
  size_t at = 0;
  Fields fields;
  if (!Match(0, items_.size(), text, &at, &fields) || at != text.size()) return std::nullopt;
  const std::optional<int64_t> days = fields.Date();
  // Beyond this the milliseconds would not fit.
  constexpr int64_t kMaxDays = 100'000'000'000;
  if (!days || *days > kMaxDays || *days < -kMaxDays) return std::nullopt;
  return *days * kMillisPerDay + fields.MillisOfDay().value_or(0);
}

}  // namespace sluice::connectors::filesystem
