// Puts the texts of columns, a block of rows at a time, behind each other.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "formats/text/column_text.h"

namespace sluice::formats::text {

class RowAssembler {
 public:
  /// `row_end` follows each row's last value. `quote` goes around quoted texts.
  RowAssembler(std::string_view row_end, char quote);

  /// The next column: `prefix` stands before each of its values (a delimiter, a name).
  void AddColumn(std::string_view prefix);
  ColumnText& column(size_t index) { return *columns_[index].text; }

  /// Appends `rows` rows. With `row_ends`, also the size of `out` behind each, plus `before`.
  void Append(int rows, OutputBuffer* out, std::vector<size_t>* row_ends, size_t before) const;

 private:
  struct Column {
    std::string prefix;  // With kWide readable bytes.
    size_t prefix_size = 0;
    std::unique_ptr<ColumnText> text;
  };
  size_t Room(int rows) const;
  template <size_t kPrefixBytes>
  void AppendRows(int rows, OutputBuffer* out, std::vector<size_t>* row_ends, size_t before) const;

  std::string row_end_;
  size_t row_end_size_;
  char quote_;
  size_t longest_prefix_ = 0;
  size_t row_bytes_;  // Of a row without its texts.
  std::vector<Column> columns_;
};

}  // namespace sluice::formats::text
