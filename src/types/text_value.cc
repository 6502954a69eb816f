// The value of a text as a scalar of any type, and the words of a failed cast.
#include <limits>

#include <arrow/api.h>

#include "common/text.h"
#include "types/calendar.h"
#include "types/value_text.h"

namespace sluice {

Status TextErrorStatus(const SqlType& type, std::string_view text, TextError error) {
  const std::string shown = "'" + Printable(text) + "'";
  if (type.kind() == TypeKind::kBoolean) {
    return Status::DataError("Cannot parse " + shown + " as BOOLEAN.");
  }
  if (type.is_timestamp()) {
    int64_t seconds = 0;
    int32_t nanos = 0;
    size_t stop = 0;
    std::string message = "Text " + shown + " could not be parsed";
    if (ParseTimestampText(text, &seconds, &nanos, &stop) != TextError::kNone) {
      message += stop >= 8 && stop < text.size() ? ", unparsed text found at index " : " at index ";
      message += std::to_string(stop);
    }
    return Status::DataError(message +
                             ". Expected yyyy-MM-dd HH:mm:ss[.fraction]; TRY_CAST gives NULL, "
                             "TO_TIMESTAMP reads other forms.");
  }
  std::string message = "For input string: " + shown + ".";
  if (type.is_numeric()) {
    switch (error) {
      case TextError::kEmpty:
        message += " Input is empty.";
        break;
      case TextError::kOverflow:
        message += " Overflow.";
        break;
      default:
        message += " Invalid character found.";
    }
  }
  return Status::DataError(message + " It is not a " + type.WithNullable(true).ToString() +
                           "; TRY_CAST gives NULL.");
}

namespace {

using ScalarPtr = std::shared_ptr<arrow::Scalar>;

template <typename ScalarType>
Result<ScalarPtr> IntegerFromText(const SqlType& type, std::string_view text) {
  using Value = typename ScalarType::ValueType;
  int64_t value = 0;
  const TextError error = ParseIntegerText(text, std::numeric_limits<Value>::min(),
                                           std::numeric_limits<Value>::max(), &value);
  if (error != TextError::kNone) return TextErrorStatus(type, text, error);
  return std::make_shared<ScalarType>(static_cast<Value>(value));
}

/// The first `count` code points.
std::string_view CutCodePoints(std::string_view text, int32_t count) {
  if (text.size() <= static_cast<size_t>(count)) return text;
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80 && count-- == 0) break;
  }
  return text.substr(0, at);
}

Result<ScalarPtr> TextFromText(const SqlType& type, std::string_view text) {
  std::string value(CutCodePoints(text, type.length()));
  if (type.kind() == TypeKind::kChar) {
    const size_t count = CodePointCount(value);
    if (count < static_cast<size_t>(type.length())) {
      value.append(static_cast<size_t>(type.length()) - count, ' ');
    }
  }
  return std::make_shared<arrow::StringScalar>(std::move(value));
}

Result<ScalarPtr> BinaryFromText(const SqlType& type, std::string_view text) {
  std::string value(text.substr(0, static_cast<size_t>(type.length())));
  if (type.kind() == TypeKind::kBinary) value.resize(static_cast<size_t>(type.length()), '\0');
  return std::make_shared<arrow::BinaryScalar>(arrow::Buffer::FromString(std::move(value)));
}

Result<ScalarPtr> TimestampFromText(const SqlType& type, std::string_view text,
                                    const TimeZone& zone) {
  int64_t seconds = 0;
  int32_t nanos = 0;
  const TextError error = ParseTimestampText(text, &seconds, &nanos);
  if (error != TextError::kNone) return TextErrorStatus(type, text, error);
  if (type.kind() == TypeKind::kTimestampLtz) seconds = zone.LocalToInstantSeconds(seconds);
  int64_t value = 0;
  if (!JoinTimestamp(seconds, nanos, type.precision(), &value)) {
    return Status::DataError("'" + std::string(text) + "' does not fit " +
                             type.WithNullable(true).ToString() +
                             ": nanosecond precision reaches from 1677 to 2262.");
  }
  return std::make_shared<arrow::TimestampScalar>(value, type.ToArrow());
}

}  // namespace

Result<ScalarPtr> ValueFromText(const SqlType& type, std::string_view text, const TimeZone& zone) {
  TextError error = TextError::kNone;
  switch (type.kind()) {
    case TypeKind::kBoolean: {
      bool value = false;
      error = ParseBooleanText(text, &value);
      if (error == TextError::kNone) return std::make_shared<arrow::BooleanScalar>(value);
      break;
    }
    case TypeKind::kTinyint:
      return IntegerFromText<arrow::Int8Scalar>(type, text);
    case TypeKind::kSmallint:
      return IntegerFromText<arrow::Int16Scalar>(type, text);
    case TypeKind::kInt:
      return IntegerFromText<arrow::Int32Scalar>(type, text);
    case TypeKind::kBigint:
      return IntegerFromText<arrow::Int64Scalar>(type, text);
    case TypeKind::kFloat: {
      float value = 0;
      error = ParseFloatText(text, &value);
      if (error == TextError::kNone) return std::make_shared<arrow::FloatScalar>(value);
      break;
    }
    case TypeKind::kDouble: {
      double value = 0;
      error = ParseDoubleText(text, &value);
      if (error == TextError::kNone) return std::make_shared<arrow::DoubleScalar>(value);
      break;
    }
    case TypeKind::kDecimal: {
      arrow::Decimal128 value;
      error = ParseDecimalText(text, type.precision(), type.scale(), &value);
      if (error == TextError::kOverflow) return arrow::MakeNullScalar(type.ToArrow());
      if (error == TextError::kNone) {
        return std::make_shared<arrow::Decimal128Scalar>(value, type.ToArrow());
      }
      break;
    }
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return TextFromText(type, text);
    case TypeKind::kBinary:
    case TypeKind::kVarbinary:
      return BinaryFromText(type, text);
    case TypeKind::kDate: {
      int32_t days = 0;
      error = ParseDateText(text, &days);
      if (error == TextError::kNone) return std::make_shared<arrow::Date32Scalar>(days);
      break;
    }
    case TypeKind::kTime: {
      int32_t millis = 0;
      error = ParseTimeText(text, &millis);
      if (error == TextError::kNone) {
        return std::make_shared<arrow::Time32Scalar>(millis, arrow::TimeUnit::MILLI);
      }
      break;
    }
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return TimestampFromText(type, text, zone);
    default:
      return Status::Unsupported("Text cannot be read as " + type.ToString() + ".");
  }
  return TextErrorStatus(type, text, error);
}

}  // namespace sluice
