#include "expr/json_value.h"

#include <cmath>

#include <arrow/api.h>

#include "common/base64.h"
#include "expr/json_document.h"
#include "types/map_keys.h"
#include "types/value_text.h"

namespace sluice::expr {

namespace {

void AppendTime(const SqlType& type, int64_t value, std::string* out) {
  int64_t seconds = 0;
  int32_t nanos = 0;
  SplitTimestamp(value, TimestampUnitsPerSecond(type.precision()), &seconds, &nanos);
  std::string text;
  AppendTimestampText(seconds, nanos, nanos == 0 ? 0 : 9, &text);
  text[text.find(' ')] = 'T';
  if (nanos != 0) text.erase(text.find_last_not_of('0') + 1);
  if (type.kind() == TypeKind::kTimestampLtz) text += 'Z';
  out->append("\"" + text + "\"");
}

void AppendMap(const SqlType& type, const arrow::MapArray& map, int64_t row, std::string* out) {
  out->push_back('{');
  for (int64_t i = map.value_offset(row); i < map.value_offset(row + 1); ++i) {
    if (i > map.value_offset(row)) out->push_back(',');
    std::string key;
    if (IsNullMapKey(map, i)) {
      key = "null";
    } else {
      AppendValueText(type.key(), *map.keys(), i, TimeZone(), &key);
    }
    AppendJsonQuoted(key, out);
    out->push_back(':');
    AppendJsonValue(type.value(), *map.items(), i, out);
  }
  out->push_back('}');
}

}  // namespace

void AppendJsonValue(const SqlType& type, const arrow::Array& values, int64_t row,
                     std::string* out) {
  if (values.IsNull(row)) {
    out->append("null");
    return;
  }
  switch (type.kind()) {
    case TypeKind::kBoolean:
      out->append(static_cast<const arrow::BooleanArray&>(values).Value(row) ? "true" : "false");
      return;
    case TypeKind::kFloat:
    case TypeKind::kDouble: {
      std::string text;
      AppendValueText(type, values, row, TimeZone(), &text);
      const bool number = text.find_first_of("Nf") == std::string::npos;
      number ? void(out->append(text)) : AppendJsonQuoted(text, out);
      return;
    }
    case TypeKind::kTinyint:
    case TypeKind::kSmallint:
    case TypeKind::kInt:
    case TypeKind::kBigint:
    case TypeKind::kDecimal:
      return AppendValueText(type, values, row, TimeZone(), out);
    case TypeKind::kBinary:
    case TypeKind::kVarbinary:
      out->push_back('"');
      AppendBase64(static_cast<const arrow::BinaryArray&>(values).GetView(row), out);
      out->push_back('"');
      return;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return AppendTime(type, static_cast<const arrow::TimestampArray&>(values).Value(row), out);
    case TypeKind::kArray: {
      const auto& list = static_cast<const arrow::ListArray&>(values);
      out->push_back('[');
      for (int64_t i = list.value_offset(row); i < list.value_offset(row + 1); ++i) {
        if (i > list.value_offset(row)) out->push_back(',');
        AppendJsonValue(type.element(), *list.values(), i, out);
      }
      out->push_back(']');
      return;
    }
    case TypeKind::kMap:
    case TypeKind::kMultiset:
      return AppendMap(type, static_cast<const arrow::MapArray&>(values), row, out);
    case TypeKind::kRow: {
      const auto& rows = static_cast<const arrow::StructArray&>(values);
      out->push_back('{');
      for (size_t i = 0; i < type.fields().size(); ++i) {
        if (i > 0) out->push_back(',');
        AppendJsonQuoted(type.fields()[i].name, out);
        out->push_back(':');
        AppendJsonValue(type.fields()[i].type, *rows.field(static_cast<int>(i)), row, out);
      }
      out->push_back('}');
      return;
    }
    default: {
      std::string text;
      AppendValueText(type, values, row, TimeZone(), &text);
      AppendJsonQuoted(text, out);
    }
  }
}

}  // namespace sluice::expr
