// The options of csv, read once and checked (formats.md §1.1).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/format.h"

namespace sluice::formats::csv {

struct CsvOptions {
  std::string field_delimiter = ",";  // One character, in UTF-8.
  std::string array_delimiter = ";";  // One character, in UTF-8.
  bool quoting = true;
  char quote = '"';
  bool escaping = false;
  char escape = '\0';
  std::optional<std::string> null_literal;
  bool allow_comments = false;
  bool ignore_parse_errors = false;
  bool keep_bad_records = false;  // FormatContext::keep_bad_records.
  bool plain_decimal = false;
  bool trim_spaces = false;
  bool ignore_trailing_unmappable = false;
  bool allow_trailing_comma = true;
  bool fail_on_missing_columns = false;
  bool empty_string_as_null = false;
  bool ignore_first_line = false;
  bool array_delimiter_written = false;
  std::string prefix;  // "csv.", for messages.
};

/// What 'trim-spaces' cuts, and what may stand before the # of a comment.
inline bool IsBlank(char c) { return c == ' ' || c == '\t'; }

std::span<const OptionSpec> CsvOptionSpecs();

/// Reads and checks values and combinations; messages as Flink's.
Result<CsvOptions> ParseCsvOptions(const FormatOptions& options);

/// Replaces \t, \\, \u0001, octal \1 and the like as Java source does.
std::string UnescapeJava(std::string_view text);

}  // namespace sluice::formats::csv
