// What every node of the syntax tree carries: its place in the text, names and dotted paths.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/check.h"
#include "common/status.h"

namespace sluice::sql {

/// Where a node stands in the text that was parsed. `begin` is its first character, `end` its last
/// (both included, as in "From line 1, column 15 to line 1, column 21"). The byte offsets are half
/// open: text.substr(begin_byte, end_byte - begin_byte).
struct SourceRange {
  SourcePosition begin;
  SourcePosition end;
  uint32_t begin_byte = 0;
  uint32_t end_byte = 0;
};

/// The range from the start of `first` to the end of `last`.
inline SourceRange Cover(const SourceRange& first, const SourceRange& last) {
  return {first.begin, last.end, first.begin_byte, last.end_byte};
}

/// A name as written, back-ticks and doubling removed. Names compare case-sensitively.
struct Identifier {
  std::string name;
  SourceRange range;
  bool quoted = false;
};

/// A dotted name: `catalog`.`database`.`table`, a column path or a function name. Never empty after
/// parsing.
struct NamePath {
  std::vector<Identifier> parts;
  SourceRange range;

  /// Parts joined by dots without quotes, as messages show it.
  std::string ToString() const;
  /// The plain strings, for a catalog look-up.
  std::vector<std::string> Names() const;
};

/// One 'key' = 'value' of WITH (…), SET (…) or a hint.
struct OptionPair {
  std::string key;
  std::string value;
  SourceRange key_range;
  SourceRange value_range;
};

/// One hint of /*+ NAME(…) */. Which of the three argument lists is filled depends on how the
/// arguments were written.
struct Hint {
  Identifier name;                  // As written; compare without case.
  std::vector<OptionPair> options;  // NAME('k'='v', k='v', …)
  std::vector<std::string>
      arguments;  // NAME(a, b.c, 'text', 3): names as dotted text, literals as their value.
  SourceRange range;
};

/// A type as written. Names are upper-case SQL names; the binder maps them to types and checks
/// ranges.
///
/// Canonical names: CHAR VARCHAR STRING BINARY VARBINARY BYTES DECIMAL TINYINT SMALLINT INT BIGINT
/// FLOAT DOUBLE REAL BOOLEAN DATE TIME TIMESTAMP TIMESTAMP_LTZ TIMESTAMP_TZ INTERVAL ARRAY MAP
/// MULTISET ROW RAW STRUCTURED VARIANT BITMAP NULL; a synonym (INTEGER, CHARACTER VARYING, NUMERIC,
/// TIMESTAMP WITH LOCAL TIME ZONE) is already mapped. Any other name is kept as written in
/// `user_name`, with `name` = "".
struct TypeSyntax {
  std::string name;
  NamePath user_name;
  std::vector<int64_t> arguments;  // Length, or precision and scale, as far as written.
  std::vector<std::unique_ptr<TypeSyntax>>
      children;  // ARRAY/MULTISET: element; MAP: key, value; ROW: field types.
  std::vector<Identifier> field_names;                     // ROW only, beside `children`.
  std::vector<std::optional<std::string>> field_comments;  // ROW only, beside `children`.
  std::vector<std::string> text_arguments;  // RAW('class', 'snapshot'), STRUCTURED<'class', …>.
  std::string interval_qualifier;           // INTERVAL only: "YEAR TO MONTH", "DAY TO SECOND(3)".
  std::optional<bool>
      nullable;  // false: NOT NULL was written; true: NULL was written; none: neither.
  SourceRange range;

  bool not_null() const { return nullable.has_value() && !*nullable; }
};
using TypePtr = std::unique_ptr<TypeSyntax>;

}  // namespace sluice::sql
