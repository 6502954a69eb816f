#include "sql/syntax/literal.h"

#include <array>
#include <charconv>
#include <optional>
#include <span>

#include "sql/syntax/unparse.h"

namespace sluice::sql {
namespace {

// Reads up to `most` digits (at least one) from the front of `text`.
std::optional<int> TakeNumber(std::string_view* text, size_t most) {
  size_t size = 0;
  while (size < text->size() && size < most && (*text)[size] >= '0' && (*text)[size] <= '9') ++size;
  if (size == 0) return std::nullopt;
  int value = 0;
  std::from_chars(text->data(), text->data() + size, value);
  text->remove_prefix(size);
  return value;
}

bool TakeChar(std::string_view* text, char c) {
  if (text->empty() || text->front() != c) return false;
  text->remove_prefix(1);
  return true;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

void AppendPadded(int value, size_t width, std::string* out) {
  const std::string digits = std::to_string(value);
  if (digits.size() < width) out->append(width - digits.size(), '0');
  out->append(digits);
}

int DaysInMonth(int year, int month) {
  constexpr std::array<int, 12> kDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && leap ? 29 : kDays[static_cast<size_t>(month - 1)];
}

bool TakeDate(std::string_view* text, std::string* normal) {
  const auto year = TakeNumber(text, 4);
  if (!year || !TakeChar(text, '-')) return false;
  const auto month = TakeNumber(text, 2);
  if (!month || !TakeChar(text, '-')) return false;
  const auto day = TakeNumber(text, 2);
  if (!day || *year < 1 || *month < 1 || *month > 12 || *day < 1) return false;
  if (*day > DaysInMonth(*year, *month)) return false;
  AppendPadded(*year, 4, normal);
  normal->push_back('-');
  AppendPadded(*month, 2, normal);
  normal->push_back('-');
  AppendPadded(*day, 2, normal);
  return true;
}

bool TakeTime(std::string_view* text, std::string* normal) {
  const auto hour = TakeNumber(text, 2);
  if (!hour || !TakeChar(text, ':')) return false;
  const auto minute = TakeNumber(text, 2);
  if (!minute || !TakeChar(text, ':')) return false;
  const auto second = TakeNumber(text, 2);
  if (!second || *hour > 23 || *minute > 59 || *second > 59) return false;
  AppendPadded(*hour, 2, normal);
  normal->push_back(':');
  AppendPadded(*minute, 2, normal);
  normal->push_back(':');
  AppendPadded(*second, 2, normal);
  if (!TakeChar(text, '.')) return true;
  size_t digits = 0;
  while (digits < text->size() && (*text)[digits] >= '0' && (*text)[digits] <= '9') ++digits;
  if (digits > 9) return false;
  if (digits > 0) normal->append(".").append(text->substr(0, digits));
  text->remove_prefix(digits);
  return true;
}

constexpr int64_t kSecond = 1'000'000'000;

// Nanoseconds of a unit that has a fixed length, else 0.
int64_t UnitNanos(TimeUnit unit) {
  switch (unit) {
    case TimeUnit::kWeek:
      return 7 * 86400 * kSecond;
    case TimeUnit::kDay:
      return 86400 * kSecond;
    case TimeUnit::kHour:
      return 3600 * kSecond;
    case TimeUnit::kMinute:
      return 60 * kSecond;
    case TimeUnit::kSecond:
      return kSecond;
    default:
      return 0;
  }
}

int64_t UnitMonths(TimeUnit unit) {
  return unit == TimeUnit::kYear ? 12 : unit == TimeUnit::kQuarter ? 3 : 1;
}

// The units from `start` to `end`, largest first.
std::vector<TimeUnit> Fields(const IntervalQualifier& qualifier) {
  if (!qualifier.end) return {qualifier.start};
  constexpr std::array kOrder{TimeUnit::kYear, TimeUnit::kMonth,  TimeUnit::kDay,
                              TimeUnit::kHour, TimeUnit::kMinute, TimeUnit::kSecond};
  std::vector<TimeUnit> fields;
  for (TimeUnit unit : kOrder) {
    if (unit >= qualifier.start && unit <= *qualifier.end) fields.push_back(unit);
  }
  return fields;
}

class IntervalReader {
 public:
  explicit IntervalReader(const LiteralExpr& literal)
      : literal_(literal), rest_(Trim(literal.text)) {}

  Result<IntervalValue> Read() {
    const IntervalQualifier& qualifier = literal_.interval;
    value_.is_months = IsMonthUnit(qualifier.start);
    bool negative = literal_.negative;
    if (TakeChar(&rest_, '-')) {
      negative = !negative;
    } else {
      TakeChar(&rest_, '+');
    }
    const std::vector<TimeUnit> fields = Fields(qualifier);
    for (size_t i = 0; i < fields.size(); ++i) {
      if (i > 0 && !TakeChar(&rest_, Separator(fields[i]))) return Illegal();
      SLUICE_RETURN_NOT_OK(ReadField(fields[i], i == 0));
    }
    if (!rest_.empty()) return Illegal();
    if (negative) {
      value_.months = -value_.months;
      value_.nanos = -value_.nanos;
    }
    return value_;
  }

 private:
  static char Separator(TimeUnit unit) {
    return unit == TimeUnit::kMonth ? '-' : unit == TimeUnit::kHour ? ' ' : ':';
  }

  Status Illegal() const {
    return Status::Validation("Illegal interval literal format '" + literal_.text +
                                  "' for INTERVAL " + ToSql(literal_.interval),
                              literal_.range.begin);
  }
  Status TooLarge() const {
    return Status::Validation("The interval '" + literal_.text + "' " + ToSql(literal_.interval) +
                                  " is too large: at most about 292 years in days and smaller "
                                  "units, 178 million years in months",
                              literal_.range.begin);
  }

  Status CheckRange(TimeUnit unit, int64_t number, size_t digits, bool leading) const {
    if (!leading) {
      const int64_t limit = unit == TimeUnit::kMonth ? 11 : unit == TimeUnit::kHour ? 23 : 59;
      return number <= limit ? Status::OK() : Illegal();
    }
    // A bare number and a SECOND may be longer: the peer leaves no way to write INTERVAL '100'
    // SECOND.
    const int precision = literal_.interval.leading_precision.value_or(
        literal_.bare_number || unit == TimeUnit::kSecond ? 10 : 2);
    if (digits <= static_cast<size_t>(precision)) return {};
    const std::string name(TimeUnitText(unit));
    return Status::Validation("Interval field value " + std::to_string(number) +
                                  " exceeds precision of " + name + "(" +
                                  std::to_string(precision) + ") field. Write " + name + "(" +
                                  std::to_string(digits) + ") after the text.",
                              literal_.range.begin);
  }

  Status ReadField(TimeUnit unit, bool leading) {
    size_t digits = 0;
    while (digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9') ++digits;
    int64_t number = 0;
    const auto parsed = std::from_chars(rest_.data(), rest_.data() + digits, number);
    const bool only_fraction = unit == TimeUnit::kSecond && digits == 0 && rest_.starts_with('.');
    if (digits == 0 && !only_fraction) return Illegal();
    if (digits > 0 && parsed.ec != std::errc()) return TooLarge();
    size_t leading_digits = digits;
    while (leading_digits > 1 && rest_[digits - leading_digits] == '0') --leading_digits;
    rest_.remove_prefix(digits);
    SLUICE_RETURN_NOT_OK(CheckRange(unit, number, leading_digits, leading));
    if (value_.is_months) return AddTo(&value_.months, number, UnitMonths(unit));
    SLUICE_RETURN_NOT_OK(AddTo(&value_.nanos, number, UnitNanos(unit)));
    return unit == TimeUnit::kSecond ? ReadFraction() : Status::OK();
  }

  Status ReadFraction() {
    if (!TakeChar(&rest_, '.')) return {};
    int64_t weight = kSecond;
    int64_t fraction = 0;
    while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      weight /= 10;
      fraction += (rest_.front() - '0') * weight;
      rest_.remove_prefix(1);
    }
    return weight == kSecond ? Illegal() : AddTo(&value_.nanos, fraction, 1);
  }

  Status AddTo(int64_t* sum, int64_t number, int64_t unit) const {
    int64_t product = 0;
    if (__builtin_mul_overflow(number, unit, &product) ||
        __builtin_add_overflow(*sum, product, sum)) {
      return TooLarge();
    }
    return {};
  }

  const LiteralExpr& literal_;
  std::string_view rest_;
  IntervalValue value_;
};

}  // namespace

bool IsMonthUnit(TimeUnit unit) {
  return unit == TimeUnit::kYear || unit == TimeUnit::kQuarter || unit == TimeUnit::kMonth;
}

Result<ExactNumber> ReadExactNumber(const LiteralExpr& literal) {
  SLUICE_CHECK(literal.literal_kind == LiteralKind::kInteger ||
                   literal.literal_kind == LiteralKind::kDecimal,
               "not an exact number");
  ExactNumber number;
  number.is_integer = literal.literal_kind == LiteralKind::kInteger;
  std::string_view text = literal.text;
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const int64_t sign = negative ? -1 : 1;
  bool after_point = false;
  for (char c : text) {
    if (c == '.') {
      after_point = true;
      continue;
    }
    ++number.precision;
    number.scale += after_point ? 1 : 0;
    if (__builtin_mul_overflow(number.unscaled, int64_t{10}, &number.unscaled) ||
        __builtin_add_overflow(number.unscaled, sign * (c - '0'), &number.unscaled)) {
      return Status::Validation("Numeric literal '" + literal.text + "' out of range",
                                literal.range.begin);
    }
  }
  return number;
}

Result<IntervalValue> ReadInterval(const LiteralExpr& literal) {
  SLUICE_CHECK(literal.literal_kind == LiteralKind::kInterval, "not an interval literal");
  return IntervalReader(literal).Read();
}

bool NormalizeDate(std::string_view text, std::string* normal) {
  normal->clear();
  text = Trim(text);
  return TakeDate(&text, normal) && text.empty();
}

bool NormalizeTime(std::string_view text, std::string* normal) {
  normal->clear();
  text = Trim(text);
  return TakeTime(&text, normal) && text.empty();
}

bool NormalizeTimestamp(std::string_view text, std::string* normal) {
  normal->clear();
  text = Trim(text);
  if (!TakeDate(&text, normal)) return false;
  normal->push_back(' ');
  if (text.empty()) {
    normal->append("00:00:00");
    return true;
  }
  return TakeChar(&text, ' ') && TakeTime(&text, normal) && text.empty();
}

}  // namespace sluice::sql
