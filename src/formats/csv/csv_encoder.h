// Batches to csv bytes, equal to Flink's byte for byte.
#pragma once

#include <string>
#include <vector>

#include "formats/csv/csv_options.h"
#include "formats/csv/csv_quoting.h"
#include "formats/format.h"
#include "formats/text/bound_column.h"
#include "formats/text/output_buffer.h"

namespace sluice::formats::csv {

class CsvEncoder final : public RowEncoder {
 public:
  CsvEncoder(CsvOptions options, const Schema& schema, Framing framing);

  Status Encode(const Batch& batch, std::string* out, std::vector<size_t>* row_ends) override;

 private:
  /// How the values of a column meet quotes.
  enum class Way : uint8_t { kBare, kAlwaysQuoted, kLookedAt };

  Status EncodeRow(int64_t row);
  Status WriteField(const text::BoundColumn& column, int64_t row, bool first);
  char* PutDelimiter(char* to) const;
  Way WayOf(TypeKind kind) const;
  size_t RowRoom() const;
  Status WriteNested(const text::BoundColumn& column, int64_t row, bool first);
  /// Text of a scalar that is not CHAR or VARCHAR, without quotes.
  char* WriteScalar(const text::BoundColumn& column, int64_t row, char* to) const;
  void AppendElement(const text::BoundColumn& column, int64_t row);
  /// Room that WriteScalar needs.
  static size_t ScalarRoom(const text::BoundColumn& column, int64_t row);

  const CsvOptions options_;
  const CsvQuoting quoting_;
  const Framing framing_;
  const std::string null_literal_;
  std::vector<std::string> names_;
  std::vector<text::BoundColumn> columns_;
  std::vector<Way> ways_;  // Of each column.
  size_t row_room_ = 0;    // What a row needs apart from its texts.
  text::OutputBuffer buffer_;
  text::OutputBuffer joined_;  // Elements of the array or row being written.
};

}  // namespace sluice::formats::csv
