// Literals of expressions.
#include <algorithm>
#include <charconv>
#include <limits>

#include <arrow/api.h>

#include "common/text.h"
#include "expr/builder.h"
#include "types/calendar.h"
#include "types/value_text.h"

namespace sluice::expr {

namespace {

ExprPtr Literal(std::shared_ptr<arrow::Scalar> value, const SqlType& type) {
  return std::make_shared<LiteralExpr>(std::move(value), type);
}

}  // namespace

ExprPtr MakeColumn(int index, SqlType type) {
  return std::make_shared<ColumnExpr>(index, std::move(type));
}

ExprPtr MakeNull(SqlType type) {
  type = type.WithNullable(true);
  return Literal(arrow::MakeNullScalar(type.ToArrow()), type);
}

ExprPtr MakeBoolean(bool value) {
  return Literal(std::make_shared<arrow::BooleanScalar>(value), SqlType::Boolean().NotNull());
}
ExprPtr MakeTinyint(int8_t value) {
  return Literal(std::make_shared<arrow::Int8Scalar>(value), SqlType::Tinyint().NotNull());
}
ExprPtr MakeSmallint(int16_t value) {
  return Literal(std::make_shared<arrow::Int16Scalar>(value), SqlType::Smallint().NotNull());
}
ExprPtr MakeInt(int32_t value) {
  return Literal(std::make_shared<arrow::Int32Scalar>(value), SqlType::Int().NotNull());
}
ExprPtr MakeBigint(int64_t value) {
  return Literal(std::make_shared<arrow::Int64Scalar>(value), SqlType::Bigint().NotNull());
}
ExprPtr MakeDouble(double value) {
  return Literal(std::make_shared<arrow::DoubleScalar>(value), SqlType::Double().NotNull());
}

ExprPtr MakeString(std::string_view value) {
  const auto length = static_cast<int32_t>(CodePointCount(value));
  return Literal(std::make_shared<arrow::StringScalar>(std::string(value)),
                 SqlType::Char(length).NotNull());
}

ExprPtr MakeSymbol(std::string_view word) { return MakeString(word); }

ExprPtr MakeBinary(std::string_view bytes) {
  return Literal(
      std::make_shared<arrow::BinaryScalar>(arrow::Buffer::FromString(std::string(bytes))),
      SqlType::Binary(static_cast<int32_t>(bytes.size())).NotNull());
}

namespace {

Status OutOfRange(std::string_view text) {
  return Status::Validation("Numeric literal '" + std::string(text) + "' out of range");
}

bool AllDigits(std::string_view text) {
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

/// DECIMAL with precision and scale as written: all digits count, a leading lone 0 too.
Result<ExprPtr> DecimalLiteral(std::string_view text, bool negative, bool any_size) {
  const size_t point = text.find('.');
  const std::string_view integral = text.substr(0, point);
  const std::string_view fraction =
      point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  if (!AllDigits(integral) || !AllDigits(fraction) || integral.size() + fraction.size() == 0) {
    return Status::Validation("'" + std::string(text) + "' is not a decimal number");
  }
  const auto precision = static_cast<int>(integral.size() + fraction.size());
  const auto scale = static_cast<int>(fraction.size());
  if (precision > 38) return OutOfRange(text);
  arrow::Decimal128 value;
  if (ParseDecimalText(text, precision, scale, &value) != TextError::kNone) return OutOfRange(text);
  const bool fits = value.high_bits() == 0 && static_cast<int64_t>(value.low_bits()) >= 0;
  if (!fits && !any_size) return OutOfRange(text);
  if (negative) value.Negate();
  const SqlType type = SqlType::Decimal(precision, scale).NotNull();
  return Literal(std::make_shared<arrow::Decimal128Scalar>(value, type.ToArrow()), type);
}

}  // namespace

Result<ExprPtr> MakeNumber(std::string_view text, bool negative) {
  if (text.find_first_of("eE") != std::string_view::npos) {
    double value = 0;
    if (ParseDoubleText(text, &value) != TextError::kNone) {
      return Status::Validation("'" + std::string(text) + "' is not a number");
    }
    return MakeDouble(negative ? -value : value);
  }
  const size_t point = text.find('.');
  if (point != std::string_view::npos && point + 1 < text.size()) {
    return DecimalLiteral(text, negative, false);
  }
  const std::string_view digits = text.substr(0, point);
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  constexpr uint64_t kSmallest = uint64_t{1} << 63;
  if (end != digits.data() + digits.size() || error != std::errc()) return OutOfRange(text);
  if (value > kSmallest || (value == kSmallest && !negative)) return OutOfRange(text);
  const auto number = static_cast<int64_t>(negative ? 0 - value : value);
  if (number >= std::numeric_limits<int32_t>::min() &&
      number <= std::numeric_limits<int32_t>::max()) {
    return MakeInt(static_cast<int32_t>(number));
  }
  return MakeBigint(number);
}

Result<ExprPtr> MakeDecimal(std::string_view text) {
  text = TrimAscii(text);
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  return DecimalLiteral(text, negative, true);
}

namespace {

Status IllegalLiteral(std::string_view kind, std::string_view text, std::string_view format) {
  return Status::Validation("Illegal " + std::string(kind) + " literal '" + Printable(text) +
                            "': not in format '" + std::string(format) + "'");
}

/// The digits of the fraction as written: the precision of the literal.
int FractionDigits(std::string_view text) {
  const size_t point = text.find('.');
  return point == std::string_view::npos ? 0 : static_cast<int>(text.size() - point - 1);
}

bool IsFullDate(std::string_view text) {
  return text.size() >= 8 && std::count(text.begin(), text.end(), '-') == 2 &&
         text.find(' ') == std::string_view::npos && text.front() != '-';
}

Result<ExprPtr> TimestampLiteral(std::string_view text, std::string_view kind, bool local,
                                 const TimeZone& zone) {
  text = TrimAscii(text);
  int64_t seconds = 0;
  int32_t nanos = 0;
  const int precision = FractionDigits(text);
  if (ParseTimestampText(text, &seconds, &nanos) != TextError::kNone || precision > 9) {
    return IllegalLiteral(kind, text, "yyyy-MM-dd HH:mm:ss");
  }
  const SqlType type =
      (local ? SqlType::TimestampLtz(precision) : SqlType::Timestamp(precision)).NotNull();
  if (local) seconds = zone.LocalToInstantSeconds(seconds);
  int64_t value = 0;
  if (!JoinTimestamp(seconds, nanos, precision, &value)) {
    return Status::Validation(std::string(kind) + " literal '" + std::string(text) +
                              "' does not fit " + type.ToString() +
                              ": nanosecond precision reaches from 1677 to 2262");
  }
  return Literal(std::make_shared<arrow::TimestampScalar>(value, type.ToArrow()), type);
}

}  // namespace

Result<ExprPtr> MakeDate(std::string_view text) {
  int32_t days = 0;
  if (!IsFullDate(TrimAscii(text)) || ParseDateText(text, &days) != TextError::kNone) {
    return IllegalLiteral("DATE", text, "yyyy-MM-dd");
  }
  return Literal(std::make_shared<arrow::Date32Scalar>(days), SqlType::Date().NotNull());
}

Result<ExprPtr> MakeTime(std::string_view text) {
  int32_t millis = 0;
  if (std::count(text.begin(), text.end(), ':') != 2 ||
      ParseTimeText(text, &millis) != TextError::kNone || FractionDigits(text) > 9) {
    return IllegalLiteral("TIME", text, "HH:mm:ss");
  }
  return Literal(std::make_shared<arrow::Time32Scalar>(millis, arrow::TimeUnit::MILLI),
                 SqlType::Time(FractionDigits(TrimAscii(text))).NotNull());
}

Result<ExprPtr> MakeTimestamp(std::string_view text) {
  return TimestampLiteral(text, "TIMESTAMP", false, TimeZone());
}

Result<ExprPtr> MakeTimestampLtz(std::string_view text, const TimeZone& session_zone) {
  return TimestampLiteral(text, "TIMESTAMP WITH LOCAL TIME ZONE", true, session_zone);
}

ExprPtr MakeYearMonthInterval(int32_t months) {
  return Literal(std::make_shared<arrow::MonthIntervalScalar>(months),
                 SqlType::IntervalYearMonth().NotNull());
}

ExprPtr MakeDayTimeInterval(int64_t millis) {
  return Literal(std::make_shared<arrow::DurationScalar>(millis, arrow::TimeUnit::MILLI),
                 SqlType::IntervalDayTime().NotNull());
}

}  // namespace sluice::expr
