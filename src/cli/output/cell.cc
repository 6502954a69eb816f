#include "cli/output/cell.h"

#include <cmath>

#include <arrow/array/array_binary.h>
#include <arrow/array/array_nested.h>
#include <arrow/array/array_primitive.h>

#include "common/base64.h"
#include "common/cell_width.h"
#include "types/map_keys.h"
#include "types/value_text.h"

namespace sluice::cli {
namespace {

constexpr char kHex[] = "0123456789ABCDEF";
constexpr char kLowerHex[] = "0123456789abcdef";

std::string_view BytesAt(const arrow::Array& values, int64_t row) {
  return static_cast<const arrow::BinaryArray&>(values).GetView(row);
}

void AppendNestedJson(const SqlType& type, const arrow::Array& values, int64_t row,
                      const TimeZone& zone, std::string* out) {
  if (type.kind() == TypeKind::kRow) {
    const auto& structs = static_cast<const arrow::StructArray&>(values);
    *out += '{';
    for (size_t i = 0; i < type.fields().size(); ++i) {
      if (i > 0) *out += ',';
      AppendJsonString(type.fields()[i].name, out);
      *out += ':';
      AppendJson(type.fields()[i].type, *structs.field(static_cast<int>(i)), row, zone, out);
    }
    *out += '}';
    return;
  }
  if (type.kind() == TypeKind::kArray) {
    const auto& lists = static_cast<const arrow::ListArray&>(values);
    *out += '[';
    for (int64_t i = lists.value_offset(row); i < lists.value_offset(row + 1); ++i) {
      if (i > lists.value_offset(row)) *out += ',';
      AppendJson(type.element(), *lists.values(), i, zone, out);
    }
    *out += ']';
    return;
  }
  const auto& maps = static_cast<const arrow::MapArray&>(values);
  *out += '{';
  for (int64_t i = maps.value_offset(row); i < maps.value_offset(row + 1); ++i) {
    if (i > maps.value_offset(row)) *out += ',';
    std::string key;
    if (IsNullMapKey(maps, i)) {
      key = "null";
    } else {
      AppendValueText(type.key(), *maps.keys(), i, zone, &key);
    }
    AppendJsonString(key, out);
    *out += ':';
    AppendJson(type.kind() == TypeKind::kMultiset ? SqlType::Int() : type.value(), *maps.items(), i,
               zone, out);
  }
  *out += '}';
}

/// The code point at `i` and its length; bytes that are not UTF-8 count one each.
uint32_t CodePoint(std::string_view s, size_t i, size_t* length) {
  const auto byte = [&](size_t k) { return static_cast<unsigned char>(s[k]); };
  const unsigned char first = byte(i);
  size_t count = first < 0x80 ? 1 : first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
  if (i + count > s.size()) count = 1;
  uint32_t point = count == 1 ? first : first & (0x7F >> count);
  for (size_t k = 1; k < count; ++k) point = (point << 6) | (byte(i + k) & 0x3F);
  *length = count;
  return point;
}

}  // namespace

void AppendCellText(const SqlType& type, const arrow::Array& values, int64_t row,
                    const TimeZone& zone, std::string* out) {
  if (!type.is_binary()) return AppendValueText(type, values, row, zone, out);
  *out += "x'";
  for (const char c : BytesAt(values, row)) {
    const unsigned char byte = static_cast<unsigned char>(c);
    *out += {kLowerHex[byte >> 4], kLowerHex[byte & 15]};
  }
  *out += '\'';
}

void AppendJsonString(std::string_view text, std::string* out) {
  *out += '"';
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      *out += {'\\', c};
    } else if (c == '\n') {
      *out += "\\n";
    } else if (c == '\r') {
      *out += "\\r";
    } else if (c == '\t') {
      *out += "\\t";
    } else if (byte < 0x20) {
      *out += {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      *out += c;
    }
  }
  *out += '"';
}

void AppendJson(const SqlType& type, const arrow::Array& values, int64_t row, const TimeZone& zone,
                std::string* out) {
  if (values.IsNull(row)) {
    *out += "null";
    return;
  }
  if (type.is_nested()) return AppendNestedJson(type, values, row, zone, out);
  switch (type.kind()) {
    case TypeKind::kBoolean:
      *out += static_cast<const arrow::BooleanArray&>(values).Value(row) ? "true" : "false";
      return;
    case TypeKind::kFloat:
    case TypeKind::kDouble: {
      const double value = type.kind() == TypeKind::kFloat
                               ? static_cast<const arrow::FloatArray&>(values).Value(row)
                               : static_cast<const arrow::DoubleArray&>(values).Value(row);
      std::string text;
      AppendValueText(type, values, row, zone, &text);
      if (std::isfinite(value)) {
        *out += text;
      } else {
        AppendJsonString(text, out);
      }
      return;
    }
    case TypeKind::kTinyint:
    case TypeKind::kSmallint:
    case TypeKind::kInt:
    case TypeKind::kBigint:
      return AppendValueText(type, values, row, zone, out);
    case TypeKind::kBinary:
    case TypeKind::kVarbinary:
      *out += '"';
      AppendBase64(BytesAt(values, row), out);
      *out += '"';
      return;
    default: {
      std::string text;
      AppendValueText(type, values, row, zone, &text);
      AppendJsonString(text, out);
    }
  }
}

int CellWidth(std::string_view text) {
  int width = 0;
  for (size_t i = 0; i < text.size();) {
    size_t length = 1;
    width += sluice::CellWidth(CodePoint(text, i, &length));
    i += length;
  }
  return width;
}

std::string FitCells(std::string_view text, int width) {
  if (CellWidth(text) <= width) return std::string(text);
  std::string cut;
  int used = 0;
  for (size_t i = 0; i < text.size();) {
    size_t length = 1;
    const int cells = sluice::CellWidth(CodePoint(text, i, &length));
    if (used + cells > width - 3) break;
    cut += text.substr(i, length);
    used += cells;
    i += length;
  }
  return cut + "...";
}

}  // namespace sluice::cli
