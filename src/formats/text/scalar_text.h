// One scalar column's way from text: rules fixed per column, values appended to its builder. csv
// reads all fields so, json its string values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "formats/text/column_builder.h"
#include "formats/text/number_text.h"
#include "formats/text/temporal_text.h"
#include "types/sql_type.h"

namespace sluice::formats::text {

/// Fixed per column.
struct ScalarRules {
  TypeKind kind = TypeKind::kNull;
  int precision = 0;
  int scale = 0;
  int64_t min = 0;  // Of integers.
  int64_t max = 0;
  bool lenient_date = false;
  TimeRules time;
  TimestampRules timestamp;
};

enum class Dialect : uint8_t { kCsv, kJson };

/// Rules of a scalar type; nested types get kind only.
ScalarRules MakeScalarRules(const SqlType& type, Dialect dialect, TimestampStyle style);

/// Appends the value of `text`; false, with nothing appended, when it is none. DECIMAL with too
/// many digits appends NULL. Text and binary columns included; not for nested ones.
bool AppendScalar(const ScalarRules& rules, std::string_view text, ColumnBuilder& column);

/// Why `text` is no value of that column: "For input string: \"abc\". …" in a sentence or two.
std::string DescribeBadScalar(const ScalarRules& rules, std::string_view text);

}  // namespace sluice::formats::text
