// Finds the field ends of records of the simplest form, many records at a time: as many fields as
// the table has columns, no quote, no CR. Everything else is left to the tokeniser.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/text/vector_level.h"

namespace sluice::formats::csv {

/// Not thread-safe. Positions are below 4 GiB.
class RecordScan {
 public:
  /// `quote`: none when quotes mean nothing.
  RecordScan(char delimiter, std::optional<char> quote, int column_count,
             text::VectorLevel level = text::BestVectorLevel());

  /// Looks at records from `begin`, which is a record's start, to at most `end`. Returns how many
  /// of them, one behind the other and at most `row_limit`, are simple; fewer than that may be
  /// found though more follow.
  int Find(const char* text, size_t begin, size_t end, int row_limit);
  /// Of the records found: field c of record r ends at field_ends()[r * column_count + c] and
  /// begins behind the end of the field before it, which is there for the first one too.
  const uint32_t* field_ends() const { return positions_.data() + 1; }

  /// Where a scan stands, and what it looks for.
  struct Progress {
    char delimiter;
    char quote;  // The delimiter when there is none.
    const char* text;
    size_t at;
    size_t end;
    uint32_t* out;           // Delimiters and line ends.
    const uint32_t* enough;  // Stop here.
    uint32_t* line_ends;     // Which of those are line ends: counted from the first.
    const uint32_t* first;
  };

 private:
  const char delimiter_;
  const std::optional<char> quote_;
  const size_t column_count_;
  void (*const scan_)(Progress* progress);
  std::vector<uint32_t> positions_;  // [0]: in front of the first record.
  std::vector<uint32_t> line_ends_;
};

}  // namespace sluice::formats::csv
