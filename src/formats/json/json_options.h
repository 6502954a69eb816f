// The options of json, read once and checked (formats.md §2.1). The changelog JSONs share most of
// them.
#pragma once

#include <span>
#include <string>

#include "formats/format.h"
#include "formats/text/temporal_text.h"

namespace sluice::formats::json {

enum class MapNullKeyMode : uint8_t { kFail, kDrop, kLiteral };

struct JsonOptions {
  bool fail_on_missing_field = false;
  bool ignore_parse_errors = false;
  bool keep_bad_records = false;  // FormatContext::keep_bad_records.
  text::TimestampStyle timestamp_style = text::TimestampStyle::kSql;
  MapNullKeyMode map_null_key_mode = MapNullKeyMode::kFail;
  std::string map_null_key_literal = "null";
  bool decimal_as_plain_number = false;
  bool ignore_null_fields = false;
  /// Numbers are times too: days, or fractions of a second in the unit that the column's precision
  /// has, since 1970; instants may be ISO-8601 texts with Z in any style (debezium-json).
  bool epoch_times = false;
  std::string decimal_hint;  // Follows the reason why a text is no DECIMAL.
  int max_depth = 1000;
  int64_t max_record_bytes = 128 << 20;
  std::string prefix;  // "json.", for messages.
};

std::span<const OptionSpec> JsonOptionSpecs();

/// Reads and checks values and combinations; messages as Flink's.
Result<JsonOptions> ParseJsonOptions(const FormatOptions& options);

/// Refuses types that JSON cannot hold: maps whose keys are not text.
Status CheckJsonType(const SqlType& type);

}  // namespace sluice::formats::json
