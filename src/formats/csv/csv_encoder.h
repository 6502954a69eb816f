// Batches to csv bytes, equal to Flink's byte for byte. Blocks of rows become text column by column
// and are then put together.
#pragma once

#include <string>
#include <vector>

#include "formats/csv/csv_options.h"
#include "formats/csv/csv_quoting.h"
#include "formats/format.h"
#include "formats/text/bound_column.h"
#include "formats/text/output_buffer.h"
#include "formats/text/row_assembler.h"

namespace sluice::formats::csv {

class CsvEncoder final : public RowEncoder {
 public:
  CsvEncoder(CsvOptions options, const Schema& schema, Framing framing);

  Status Encode(const Batch& batch, std::string* out, std::vector<size_t>* row_ends) override;

 private:
  /// How the texts of a column are made.
  enum class Way : uint8_t { kBounded, kText, kOther };

  Way WayOf(TypeKind kind) const;
  Status FormatColumn(size_t index, int64_t first, int rows);
  Status FormatTexts(size_t index, Way way, int64_t first, int rows);
  Status WriteField(const text::BoundColumn& column, int64_t row, bool first,
                    text::OutputBuffer* out);
  Status WriteNested(const text::BoundColumn& column, int64_t row, bool first,
                     text::OutputBuffer* out);
  /// Text of a scalar that is not CHAR or VARCHAR, without quotes.
  char* WriteScalar(const text::BoundColumn& column, int64_t row, char* to) const;
  Status AppendElement(const text::BoundColumn& column, int64_t row);
  /// Room that WriteScalar needs.
  static size_t ScalarRoom(const text::BoundColumn& column, int64_t row);
  /// The NULL literal, which may be read as wide as any text.
  std::string_view null_text() const {
    return std::string_view(null_literal_).substr(0, null_literal_.size() - kSlack);
  }
  static constexpr size_t kSlack = text::ColumnText::kWide;

  const CsvOptions options_;
  const CsvQuoting quoting_;
  const std::string null_literal_;  // And kSlack bytes.
  text::ScalarStyle style_;
  std::vector<std::string> names_;
  std::vector<text::BoundColumn> columns_;
  std::vector<Way> ways_;  // Of each column.
  text::RowAssembler rows_;
  text::OutputBuffer buffer_;
  text::OutputBuffer joined_;  // Elements of the array or row being written.
};

}  // namespace sluice::formats::csv
