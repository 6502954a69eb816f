#include "formats/text/scalar_text.h"

#include <limits>

#include "common/base64.h"
#include "common/text.h"

namespace sluice::formats::text {
namespace {

constexpr int64_t kNoMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kNoMax = std::numeric_limits<int64_t>::max();

template <typename T>
bool AppendInteger(const ScalarRules& rules, std::string_view text, ColumnBuilder& column) {
  int64_t value = 0;
  if (!ParseInteger(TrimJava(text), rules.min, rules.max, &value)) return false;
  column.Append(static_cast<T>(value));
  return true;
}

bool AppendDecimal(const ScalarRules& rules, std::string_view text, ColumnBuilder& column) {
  arrow::Decimal128 value;
  switch (ParseDecimal(TrimJava(text), rules.precision, rules.scale, &value)) {
    case DecimalOutcome::kOk:
      column.Append(value);
      return true;
    case DecimalOutcome::kTooLarge:
      column.AppendNull();
      return true;
    case DecimalOutcome::kInvalid:
      return false;
  }
  return false;
}

bool AppendBinary(std::string_view text, ColumnBuilder& column) {
  column.Reserve(1);
  column.ReserveBytes(static_cast<int64_t>(Base64DecodedBound(text.size())));
  size_t size = 0;
  if (!ParseBase64(text, column.bytes_end(), &size)) return false;
  column.CommitBytes(static_cast<int64_t>(size));
  return true;
}

const char* TemporalReason(const ScalarRules& rules, std::string_view text) {
  int32_t narrow = 0;
  int64_t wide = 0;
  switch (rules.kind) {
    case TypeKind::kDate:
      return ParseDate(text, rules.lenient_date, &narrow);
    case TypeKind::kTime:
      return ParseTime(text, rules.time, &narrow);
    default:
      return ParseTimestamp(TrimJava(text), rules.timestamp, &wide);
  }
}

}  // namespace

ScalarRules MakeScalarRules(const SqlType& type, Dialect dialect, TimestampStyle style) {
  ScalarRules rules;
  rules.kind = type.kind();
  rules.precision = type.precision();
  rules.scale = type.scale();
  rules.lenient_date = dialect == Dialect::kCsv;
  rules.time = {dialect == Dialect::kJson, dialect == Dialect::kJson, type.precision()};
  rules.timestamp =
      MakeTimestampRules(style, type.kind() == TypeKind::kTimestampLtz, type.precision());
  rules.min = kNoMin;
  rules.max = kNoMax;
  if (type.kind() == TypeKind::kTinyint) {
    rules.min = INT8_MIN;
    rules.max = INT8_MAX;
  } else if (type.kind() == TypeKind::kSmallint) {
    rules.min = INT16_MIN;
    rules.max = INT16_MAX;
  } else if (type.kind() == TypeKind::kInt || type.kind() == TypeKind::kIntervalYearMonth) {
    rules.min = INT32_MIN;
    rules.max = INT32_MAX;
  }
  return rules;
}

bool AppendScalar(const ScalarRules& rules, std::string_view text, ColumnBuilder& column) {
  int32_t narrow = 0;
  int64_t wide = 0;
  double number = 0;
  float single = 0;
  switch (rules.kind) {
    case TypeKind::kBoolean:
      column.Append<uint8_t>(EqualsIgnoreCaseAscii(TrimJava(text), "true") ? 1 : 0);
      return true;
    case TypeKind::kTinyint:
      return AppendInteger<int8_t>(rules, text, column);
    case TypeKind::kSmallint:
      return AppendInteger<int16_t>(rules, text, column);
    case TypeKind::kInt:
    case TypeKind::kIntervalYearMonth:
      return AppendInteger<int32_t>(rules, text, column);
    case TypeKind::kBigint:
    case TypeKind::kIntervalDayTime:
      return AppendInteger<int64_t>(rules, text, column);
    case TypeKind::kFloat:
      if (!ParseFloat(TrimJava(text), &single)) return false;
      column.Append(single);
      return true;
    case TypeKind::kDouble:
      if (!ParseDouble(TrimJava(text), &number)) return false;
      column.Append(number);
      return true;
    case TypeKind::kDecimal:
      return AppendDecimal(rules, text, column);
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      column.AppendBytes(text);
      return true;
    case TypeKind::kBinary:
    case TypeKind::kVarbinary:
      return AppendBinary(text, column);
    case TypeKind::kDate:
      if (ParseDate(text, rules.lenient_date, &narrow) != nullptr) return false;
      column.Append(narrow);
      return true;
    case TypeKind::kTime:
      if (ParseTime(text, rules.time, &narrow) != nullptr) return false;
      column.Append(narrow);
      return true;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      if (ParseTimestamp(TrimJava(text), rules.timestamp, &wide) != nullptr) return false;
      column.Append(wide);
      return true;
    default:
      return false;
  }
}

std::string DescribeBadScalar(const ScalarRules& rules, std::string_view text) {
  const std::string shown = "\"" + Printable(text) + "\"";
  switch (rules.kind) {
    case TypeKind::kTinyint:
    case TypeKind::kSmallint: {
      int64_t value = 0;
      if (ParseInteger(TrimJava(text), kNoMin, kNoMax, &value)) {
        return "Value out of range. Value:" + shown + " Radix:10";
      }
      return "For input string: " + shown;
    }
    case TypeKind::kInt:
    case TypeKind::kBigint:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
    case TypeKind::kIntervalYearMonth:
    case TypeKind::kIntervalDayTime:
      return "For input string: " + shown;
    case TypeKind::kDecimal:
      return "For input string: " + shown + ": it is no decimal number";
    case TypeKind::kBinary:
    case TypeKind::kVarbinary:
      return "Text " + shown + " is not Base64 with padding";
    case TypeKind::kDate:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: {
      const char* reason = TemporalReason(rules, text);
      return "Text " + shown +
             " could not be parsed: " + (reason == nullptr ? "it is out of range" : reason);
    }
    default:
      return "Text " + shown + " is not usable here";
  }
}

}  // namespace sluice::formats::text
