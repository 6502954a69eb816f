#include "types/value_text.h"

#include <cmath>

#include <arrow/api.h>

#include "types/calendar.h"
#include "types/map_keys.h"
#include "types/text_writer.h"

namespace sluice {

int64_t TimestampUnitsPerSecond(int precision) {
  return precision <= 3 ? 1000 : precision <= 6 ? 1000000 : 1000000000;
}

void SplitTimestamp(int64_t value, int64_t units_per_second, int64_t* epoch_seconds,
                    int32_t* nanos) {
  *epoch_seconds = FloorDiv(value, units_per_second);
  *nanos = static_cast<int32_t>((value - *epoch_seconds * units_per_second) *
                                (1000000000 / units_per_second));
}

bool JoinTimestamp(int64_t epoch_seconds, int32_t nanos, int precision, int64_t* value) {
  static constexpr int32_t kCut[] = {1000000000, 100000000, 10000000, 1000000, 100000,
                                     10000,      1000,      100,      10,      1};
  const int64_t units = TimestampUnitsPerSecond(precision);
  const int64_t fraction = nanos / kCut[precision] * kCut[precision] / (1000000000 / units);
  // The seconds alone of the smallest values do not fit.
  const __int128 wide = static_cast<__int128>(epoch_seconds) * units + fraction;
  *value = static_cast<int64_t>(wide);
  return *value == wide;
}

void AppendDateText(int32_t days, std::string* out) {
  char buffer[text::kMaxDateBytes];
  out->append(buffer, static_cast<size_t>(text::WriteDate(buffer, days) - buffer));
}

void AppendTimeText(int32_t millis_of_day, int precision, std::string* out) {
  char buffer[text::kMaxTimestampBytes];
  char* at = text::WriteTimeOfDay(buffer, static_cast<uint32_t>(millis_of_day) / 1000);
  at = text::WriteFraction(at, static_cast<uint32_t>(millis_of_day) % 1000 * 1000000,
                           precision < 3 ? precision : 3);
  if (precision > 0) {
    while (at[-1] == '0' && at[-2] != '.') --at;  // As Flink prints times, unlike timestamps.
  }
  out->append(buffer, static_cast<size_t>(at - buffer));
}

void AppendTimestampText(int64_t epoch_seconds, int32_t nanos, int precision, std::string* out) {
  char buffer[text::kMaxTimestampBytes];
  const char* end =
      text::WriteTimestamp(buffer, epoch_seconds, static_cast<uint32_t>(nanos), precision);
  out->append(buffer, static_cast<size_t>(end - buffer));
}

void AppendYearMonthText(int32_t months, std::string* out) {
  const int64_t positive = months < 0 ? -static_cast<int64_t>(months) : months;
  out->push_back(months < 0 ? '-' : '+');
  out->append(std::to_string(positive / 12));
  out->push_back('-');
  char buffer[2];
  text::WriteTwoDigits(buffer, static_cast<uint32_t>(positive % 12));
  out->append(buffer, 2);
}

void AppendDayTimeText(int64_t millis, std::string* out) {
  const uint64_t positive =
      millis < 0 ? 0 - static_cast<uint64_t>(millis) : static_cast<uint64_t>(millis);
  const uint64_t days = positive / static_cast<uint64_t>(kMillisPerDay);
  const auto rest = static_cast<uint32_t>(positive % static_cast<uint64_t>(kMillisPerDay));
  out->push_back(millis < 0 ? '-' : '+');
  out->append(std::to_string(days));
  out->push_back(' ');
  char buffer[text::kMaxTimestampBytes];
  char* at = text::WriteTimeOfDay(buffer, rest / 1000);
  at = text::WriteFraction(at, rest % 1000 * 1000000, 3);
  out->append(buffer, static_cast<size_t>(at - buffer));
}

namespace {

void AppendTimestamp(const SqlType& type, int64_t value, const TimeZone& zone, std::string* out) {
  int64_t seconds = 0;
  int32_t nanos = 0;
  SplitTimestamp(value, TimestampUnitsPerSecond(type.precision()), &seconds, &nanos);
  if (type.kind() == TypeKind::kTimestampLtz) seconds += zone.OffsetSecondsAt(seconds);
  AppendTimestampText(seconds, nanos, type.precision(), out);
}

void AppendArray(const SqlType& element, const arrow::Array& values, int64_t begin, int64_t end,
                 const TimeZone& zone, std::string* out) {
  out->push_back('[');
  for (int64_t i = begin; i < end; ++i) {
    if (i > begin) out->append(", ");
    AppendValueText(element, values, i, zone, out);
  }
  out->push_back(']');
}

void AppendMap(const SqlType& type, const arrow::MapArray& map, int64_t row, const TimeZone& zone,
               std::string* out) {
  out->push_back('{');
  for (int64_t i = map.value_offset(row); i < map.value_offset(row + 1); ++i) {
    if (i > map.value_offset(row)) out->append(", ");
    if (IsNullMapKey(map, i)) {
      out->append("NULL");
    } else {
      AppendValueText(type.key(), *map.keys(), i, zone, out);
    }
    out->push_back('=');
    AppendValueText(type.value(), *map.items(), i, zone, out);
  }
  out->push_back('}');
}

void AppendRow(const SqlType& type, const arrow::StructArray& rows, int64_t row,
               const TimeZone& zone, std::string* out) {
  out->push_back('(');
  for (size_t i = 0; i < type.fields().size(); ++i) {
    if (i > 0) out->append(", ");
    // field() applies the slice of the struct.
    AppendValueText(type.fields()[i].type, *rows.field(static_cast<int>(i)), row, zone, out);
  }
  out->push_back(')');
}

template <typename ArrayType>
auto ValueAt(const arrow::Array& values, int64_t row) {
  return static_cast<const ArrayType&>(values).Value(row);
}

void AppendInteger(int64_t value, std::string* out) {
  char buffer[text::kMaxIntegerBytes];
  out->append(buffer, static_cast<size_t>(text::WriteInteger(buffer, value) - buffer));
}

}  // namespace

void AppendValueText(const SqlType& type, const arrow::Array& values, int64_t row,
                     const TimeZone& zone, std::string* out) {
  if (values.IsNull(row)) {
    out->append("NULL");
    return;
  }
  switch (type.kind()) {
    case TypeKind::kNull:
      out->append("NULL");
      return;
    case TypeKind::kBoolean:
      out->append(ValueAt<arrow::BooleanArray>(values, row) ? "TRUE" : "FALSE");
      return;
    case TypeKind::kTinyint:
      return AppendInteger(ValueAt<arrow::Int8Array>(values, row), out);
    case TypeKind::kSmallint:
      return AppendInteger(ValueAt<arrow::Int16Array>(values, row), out);
    case TypeKind::kInt:
      return AppendInteger(ValueAt<arrow::Int32Array>(values, row), out);
    case TypeKind::kBigint:
      return AppendInteger(ValueAt<arrow::Int64Array>(values, row), out);
    case TypeKind::kFloat:
      return AppendFloatText(ValueAt<arrow::FloatArray>(values, row), out);
    case TypeKind::kDouble:
      return AppendDoubleText(ValueAt<arrow::DoubleArray>(values, row), out);
    case TypeKind::kDecimal:
      return AppendDecimalText(
          arrow::Decimal128(static_cast<const arrow::Decimal128Array&>(values).GetValue(row)),
          type.scale(), out);
    case TypeKind::kChar:
    case TypeKind::kVarchar:
    case TypeKind::kBinary:
    case TypeKind::kVarbinary:
      out->append(static_cast<const arrow::BinaryArray&>(values).GetView(row));
      return;
    case TypeKind::kDate:
      return AppendDateText(ValueAt<arrow::Date32Array>(values, row), out);
    case TypeKind::kTime:
      return AppendTimeText(ValueAt<arrow::Time32Array>(values, row), type.precision(), out);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return AppendTimestamp(type, ValueAt<arrow::TimestampArray>(values, row), zone, out);
    case TypeKind::kIntervalYearMonth:
      return AppendYearMonthText(ValueAt<arrow::MonthIntervalArray>(values, row), out);
    case TypeKind::kIntervalDayTime:
      return AppendDayTimeText(ValueAt<arrow::DurationArray>(values, row), out);
    case TypeKind::kArray: {
      const auto& list = static_cast<const arrow::ListArray&>(values);
      return AppendArray(type.element(), *list.values(), list.value_offset(row),
                         list.value_offset(row + 1), zone, out);
    }
    case TypeKind::kMap:
    case TypeKind::kMultiset:
      return AppendMap(type, static_cast<const arrow::MapArray&>(values), row, zone, out);
    case TypeKind::kRow:
      return AppendRow(type, static_cast<const arrow::StructArray&>(values), row, zone, out);
  }
}

std::string ScalarText(const SqlType& type, const arrow::Scalar& value, const TimeZone& zone) {
  if (!value.is_valid) return "NULL";
  const auto array = arrow::MakeArrayFromScalar(value, 1);
  if (!array.ok()) return "?";
  std::string text;
  AppendValueText(type, **array, 0, zone, &text);
  return text;
}

}  // namespace sluice
