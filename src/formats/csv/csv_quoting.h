// When a text is quoted, and how (formats.md §1.3).
#pragma once

#include <string_view>

#include "common/result.h"
#include "formats/csv/csv_options.h"
#include "formats/text/output_buffer.h"

namespace sluice::formats::csv {

/// With comments allowed, a record that begins with `text` is one.
bool LooksLikeComment(std::string_view text);

class CsvQuoting {
 public:
  explicit CsvQuoting(const CsvOptions& options);

  /// How a text is written: as it is, between quotes, or by Write, because characters are doubled
  /// or rules of the options apply.
  enum class Form : uint8_t { kBare, kQuoted, kOther };
  /// `readable`: 16 bytes may be read from the start of `text`. `first_field`: of a record.
  Form FormOf(std::string_view text, bool readable, bool first_field) const;
  /// Appends `text`, quoted where needed. `first_field`: of a record. Fails when, without quotes,
  /// it could not be read back.
  Status Write(std::string_view text, bool first_field, text::OutputBuffer* out) const;

  /// Every text with a blank is quoted, and nothing of a date or time is special: timestamps need
  /// no look.
  bool quotes_blank_only() const { return quotes_blank_only_; }
  /// No date or time without blank is ever quoted.
  bool plain_temporal() const { return plain_temporal_; }
  /// No number or BOOLEAN has to be looked at: none can hold a character that the options make
  /// special, nor be the null literal.
  bool plain_numbers() const { return plain_numbers_; }
  /// True when the text of a number or BOOLEAN, which Flink never quotes, would be read as another.
  bool MisreadBare(std::string_view number) const;
  char quote() const { return quote_; }

 private:
  /// True when `text` goes between quotes.
  bool Needed(std::string_view text) const;
  /// Which of these a text has: characters that force quotes, and those that are doubled in them.
  struct Found {
    bool special;
    bool doubled;
  };
  Found Look(std::string_view text, bool readable) const;
  bool IsNullLiteral(std::string_view text) const {
    return options_.null_literal.has_value() && text == *options_.null_literal;
  }
  bool HasSpecial(std::string_view text) const;
  bool HasSpecialWide(std::string_view text) const;
  /// `skipped`: why a record that begins with `text` would be read otherwise, null when it is not.
  Status CheckUnquoted(std::string_view text, const char* skipped) const;
  static char* CopyQuoted(std::string_view text, char quote, char escape, char* out);

  const CsvOptions& options_;
  const bool quoting_;
  const char quote_;
  const char escape_;   // Forces quotes; a backslash when none is configured, as in Flink.
  const char doubled_;  // Doubled between quotes, as the quote itself.
  uint32_t threshold_;  // Characters below it force quotes.
  bool quotes_blank_only_ = false;
  bool plain_temporal_ = false;
  bool plain_numbers_ = false;
};

}  // namespace sluice::formats::csv
