// Finds record ends in csv text by the tokeniser's rules: a quote counts only as the first
// character of a field. A file's byte order mark is not its business: framing begins behind it.
#pragma once

#include <string_view>

#include "formats/csv/csv_options.h"
#include "formats/csv/csv_scan.h"

namespace sluice::formats::csv {

class CsvFramer final : public RowFramer {
 public:
  explicit CsvFramer(CsvOptions options);

  size_t CompletePrefix(std::string_view bytes, bool at_end_of_file) override;
  bool splittable() const override { return !options_.quoting && !options_.escaping; }

  /// Behind the header of a file whose text begins at `begin`: its first record. Comments and blank
  /// lines are none. npos when it is not complete.
  size_t BehindHeader(std::string_view text, size_t begin) const;

  /// Start of the record behind the one that begins at `begin`, npos when that one is not complete.
  /// Character by character.
  static size_t NextRecord(const CsvOptions& options, std::string_view text, size_t begin);

 private:
  size_t QuickPrefix(std::string_view text) const;
  size_t CarefulPrefix(std::string_view text) const;

  CsvOptions options_;
  Scanner structure_;  // Line ends and quote.
  Scanner quote_;
};

}  // namespace sluice::formats::csv
