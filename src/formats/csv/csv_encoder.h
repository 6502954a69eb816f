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
  Status EncodeRow(int64_t row);
  Status WriteField(const text::BoundColumn& column, int64_t row, bool first);
  void WriteTimestamp(const text::BoundColumn& column, int64_t row, bool first, Status* status);
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
  text::OutputBuffer buffer_;
  text::OutputBuffer joined_;  // Elements of the array or row being written.
};

}  // namespace sluice::formats::csv
