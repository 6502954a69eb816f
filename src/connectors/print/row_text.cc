#include "connectors/print/row_text.h"

#include <cstdio>
#include <cstdlib>

#include <arrow/array/array_binary.h>
#include <arrow/array/array_decimal.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>

#include "types/calendar.h"
#include "types/map_keys.h"
#include "types/value_text.h"

namespace sluice::connectors {
namespace {

template <typename ArrayType>
const ArrayType& As(const arrow::Array& values) {
  return static_cast<const ArrayType&>(values);
}

void AppendTwoDigits(int64_t number, std::string* out) {
  *out += static_cast<char>('0' + number / 10);
  *out += static_cast<char>('0' + number % 10);
}

/// Java writes 3, 6 or 9 digits of a fraction, as few as hold it, and nothing for zero.
void AppendFraction(int32_t nanos, std::string* out) {
  if (nanos == 0) return;
  char digits[16];
  std::snprintf(digits, sizeof(digits), "%09d", nanos);
  const size_t count = nanos % 1'000'000 == 0 ? 3 : nanos % 1'000 == 0 ? 6 : 9;
  *out += '.';
  out->append(digits, count);
}

/// LocalTime.toString: seconds are left out when they and the fraction are zero.
void AppendTimeOfDay(int64_t second_of_day, int32_t nanos, bool seconds_always, std::string* out) {
  AppendTwoDigits(second_of_day / 3600, out);
  *out += ':';
  AppendTwoDigits(second_of_day / 60 % 60, out);
  const int64_t second = second_of_day % 60;
  if (second == 0 && nanos == 0 && !seconds_always) return;
  *out += ':';
  AppendTwoDigits(second, out);
  AppendFraction(nanos, out);
}

/// LocalDate.toString: four digits, a plus sign above 9999.
void AppendDate(int64_t days, std::string* out) {
  const CivilDate date = CivilFromDays(days);
  char text[40];
  const char* sign = date.year < 0 ? "-" : date.year > 9999 ? "+" : "";
  std::snprintf(text, sizeof(text), "%s%04lld-%02d-%02d", sign, std::llabs(date.year), date.month,
                date.day);
  *out += text;
}

void AppendTimestamp(const SqlType& type, int64_t value, std::string* out) {
  int64_t seconds = 0;
  int32_t nanos = 0;
  SplitTimestamp(value, TimestampUnitsPerSecond(type.precision()), &seconds, &nanos);
  AppendDate(FloorDiv(seconds, kSecondsPerDay), out);
  *out += 'T';
  const bool instant = type.kind() == TypeKind::kTimestampLtz;  // Instant.toString, in UTC.
  AppendTimeOfDay(FloorMod(seconds, kSecondsPerDay), nanos, instant, out);
  if (instant) *out += 'Z';
}

/// BigDecimal.toString: scientific when the first digit lies behind the sixth decimal place.
void AppendDecimal(const SqlType& type, const arrow::Decimal128& unscaled, std::string* out) {
  const std::string digits = arrow::Decimal128(arrow::Decimal128::Abs(unscaled)).ToIntegerString();
  const int64_t adjusted = static_cast<int64_t>(digits.size()) - 1 - type.scale();
  if (adjusted >= -6) {
    AppendDecimalText(unscaled, type.scale(), out);
    return;
  }
  if (unscaled.IsNegative()) *out += '-';
  *out += digits[0];
  if (digits.size() > 1) *out += "." + digits.substr(1);
  *out += "E" + std::to_string(adjusted);
}

void AppendBytes(std::string_view bytes, std::string* out) {
  *out += '[';
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) *out += ", ";
    *out += std::to_string(static_cast<int>(static_cast<signed char>(bytes[i])));
  }
  *out += ']';
}

/// Period.toString of whole years and months.
void AppendPeriod(int32_t months, std::string* out) {
  *out += 'P';
  if (months == 0) *out += "0D";
  if (months / 12 != 0) *out += std::to_string(months / 12) + "Y";
  if (months % 12 != 0) *out += std::to_string(months % 12) + "M";
}

/// Duration.toString: "PT25H", "PT-0.5S".
void AppendDuration(int64_t millis, std::string* out) {
  *out += "PT";
  if (millis == 0) *out += "0S";
  const int64_t hours = millis / 3'600'000;
  const int64_t minutes = millis / 60'000 % 60;
  const int64_t rest = millis % 60'000;
  if (hours != 0) *out += std::to_string(hours) + "H";
  if (minutes != 0) *out += std::to_string(minutes) + "M";
  if (rest == 0) return;
  if (rest < 0) *out += '-';
  *out += std::to_string(std::abs(rest) / 1000);
  if (rest % 1000 != 0) {
    char digits[8];
    std::snprintf(digits, sizeof(digits), "%03d", static_cast<int>(std::abs(rest) % 1000));
    std::string fraction(digits, 3);
    while (fraction.back() == '0') fraction.pop_back();
    *out += "." + fraction;
  }
  *out += 'S';
}

void AppendList(const SqlType& type, const arrow::ListArray& lists, int64_t row, std::string* out) {
  *out += '[';
  const int64_t begin = lists.value_offset(row);
  const int64_t end = begin + lists.value_length(row);
  for (int64_t i = begin; i < end; ++i) {
    if (i > begin) *out += ", ";
    AppendPrintedValue(type.element(), *lists.values(), i, out);
  }
  *out += ']';
}

void AppendMap(const SqlType& type, const arrow::MapArray& maps, int64_t row, std::string* out) {
  const SqlType value_type = type.kind() == TypeKind::kMultiset ? SqlType::Int() : type.value();
  *out += '{';
  const int64_t begin = maps.value_offset(row);
  const int64_t end = begin + maps.value_length(row);
  for (int64_t i = begin; i < end; ++i) {
    if (i > begin) *out += ", ";
    if (IsNullMapKey(maps, i)) {
      *out += "null";
    } else {
      AppendPrintedValue(type.key(), *maps.keys(), i, out);
    }
    *out += '=';
    AppendPrintedValue(value_type, *maps.items(), i, out);
  }
  *out += '}';
}

void AppendStruct(const SqlType& type, const arrow::StructArray& rows, int64_t row,
                  std::string* out) {
  *out += "+I[";  // A nested row has a kind of its own, always an insert.
  for (size_t i = 0; i < type.fields().size(); ++i) {
    if (i > 0) *out += ", ";
    AppendPrintedValue(type.fields()[i].type, *rows.field(static_cast<int>(i)), row, out);
  }
  *out += ']';
}

}  // namespace

void AppendPrintedValue(const SqlType& type, const arrow::Array& values, int64_t row,
                        std::string* out) {
  if (values.IsNull(row)) {
    *out += "null";
    return;
  }
  switch (type.kind()) {
    case TypeKind::kNull:
      *out += "null";
      return;
    case TypeKind::kBoolean:
      *out += As<arrow::BooleanArray>(values).Value(row) ? "true" : "false";
      return;
    case TypeKind::kTinyint:
      *out += std::to_string(As<arrow::Int8Array>(values).Value(row));
      return;
    case TypeKind::kSmallint:
      *out += std::to_string(As<arrow::Int16Array>(values).Value(row));
      return;
    case TypeKind::kInt:
      *out += std::to_string(As<arrow::Int32Array>(values).Value(row));
      return;
    case TypeKind::kBigint:
      *out += std::to_string(As<arrow::Int64Array>(values).Value(row));
      return;
    case TypeKind::kFloat:
      return AppendFloatText(As<arrow::FloatArray>(values).Value(row), out);
    case TypeKind::kDouble:
      return AppendDoubleText(As<arrow::DoubleArray>(values).Value(row), out);
    case TypeKind::kDecimal:
      return AppendDecimal(
          type, arrow::Decimal128(As<arrow::Decimal128Array>(values).GetValue(row)), out);
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      *out += As<arrow::StringArray>(values).GetView(row);
      return;
    case TypeKind::kBinary:
    case TypeKind::kVarbinary:
      return AppendBytes(As<arrow::BinaryArray>(values).GetView(row), out);
    case TypeKind::kDate:
      return AppendDate(As<arrow::Date32Array>(values).Value(row), out);
    case TypeKind::kTime: {
      const int32_t millis = As<arrow::Time32Array>(values).Value(row);
      return AppendTimeOfDay(millis / 1000, millis % 1000 * 1'000'000, false, out);
    }
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return AppendTimestamp(type, As<arrow::TimestampArray>(values).Value(row), out);
    case TypeKind::kIntervalYearMonth:
      return AppendPeriod(As<arrow::MonthIntervalArray>(values).Value(row), out);
    case TypeKind::kIntervalDayTime:
      return AppendDuration(As<arrow::DurationArray>(values).Value(row), out);
    case TypeKind::kArray:
      return AppendList(type, As<arrow::ListArray>(values), row, out);
    case TypeKind::kMap:
    case TypeKind::kMultiset:
      return AppendMap(type, As<arrow::MapArray>(values), row, out);
    case TypeKind::kRow:
      return AppendStruct(type, As<arrow::StructArray>(values), row, out);
  }
}

void AppendRowText(const Schema& schema, const Batch& batch, int64_t row, std::string* out) {
  *out += RowKindText(batch.row_kind(row));
  *out += '[';
  for (int i = 0; i < schema.column_count(); ++i) {
    if (i > 0) *out += ", ";
    AppendPrintedValue(schema.column(i).type, *batch.rows()->column(i), row, out);
  }
  *out += ']';
}

}  // namespace sluice::connectors
