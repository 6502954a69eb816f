// For tests: rows of a batch as text, and short ways to make decoders and options.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>

#include "formats/format.h"

namespace sluice::formats::testing {

/// "NULL", "abc", "1.50", "x'00ff'", "[1, NULL]", "{a=1}", "(1, x)".
inline std::string RenderValue(const arrow::Array& array, int64_t row) {
  if (array.IsNull(row)) return "NULL";
  const auto list = [&](const arrow::Array& values, int64_t begin, int64_t end) {
    std::string text;
    for (int64_t i = begin; i < end; ++i) text += (i > begin ? ", " : "") + RenderValue(values, i);
    return "[" + text + "]";
  };
  switch (array.type_id()) {
    case arrow::Type::STRING:
      return static_cast<const arrow::StringArray&>(array).GetString(row);
    case arrow::Type::BINARY: {
      std::string text = "x'";
      static constexpr char kHex[] = "0123456789abcdef";
      for (const char c : static_cast<const arrow::BinaryArray&>(array).GetView(row)) {
        text += kHex[static_cast<unsigned char>(c) >> 4];
        text += kHex[c & 15];
      }
      return text + "'";
    }
    case arrow::Type::LIST: {
      const auto& values = static_cast<const arrow::ListArray&>(array);
      return list(*values.values(), values.value_offset(row), values.value_offset(row + 1));
    }
    case arrow::Type::MAP: {
      const auto& map = static_cast<const arrow::MapArray&>(array);
      std::string text;
      for (int64_t i = map.value_offset(row); i < map.value_offset(row + 1); ++i) {
        text += (text.empty() ? "" : ", ") + RenderValue(*map.keys(), i) + "=" +
                RenderValue(*map.items(), i);
      }
      return "{" + text + "}";
    }
    case arrow::Type::STRUCT: {
      const auto& fields = static_cast<const arrow::StructArray&>(array);
      std::string text;
      for (int i = 0; i < fields.num_fields(); ++i)
        text += (i > 0 ? ", " : "") + RenderValue(*fields.field(i), row);
      return "(" + text + ")";
    }
    default:
      return array.GetScalar(row).ValueOrDie()->ToString();
  }
}

/// "1|a|NULL".
inline std::string RenderRow(const arrow::RecordBatch& batch, int64_t row) {
  std::string text;
  for (int i = 0; i < batch.num_columns(); ++i)
    text += (i > 0 ? "|" : "") + RenderValue(*batch.column(i), row);
  return text;
}

inline std::vector<std::string> RenderRows(const Batch& batch) {
  std::vector<std::string> rows;
  for (int64_t i = 0; i < batch.row_count(); ++i) rows.push_back(RenderRow(*batch.rows(), i));
  return rows;
}

/// Every column, in order.
inline ReadSchema AllOf(Schema schema) {
  ReadSchema read;
  for (int i = 0; i < schema.column_count(); ++i) read.projection.push_back(i);
  read.physical = std::move(schema);
  return read;
}

inline FormatOptions Options(const Format& format, OptionMap options) {
  return {std::move(options), std::string(format.name) + "."};
}

/// "line:column: reason", "" when there is none.
inline std::string FirstBad(const DecodedRows& rows) {
  if (rows.bad.empty()) return "";
  return std::to_string(rows.bad[0].line) + ":" + rows.bad[0].column + ": " + rows.bad[0].reason;
}

}  // namespace sluice::formats::testing
