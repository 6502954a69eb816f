// Writes rows in Avro's binary encoding straight from Arrow arrays.
#pragma once

#include <string>
#include <vector>

#include "common/status.h"
#include "formats/text/bound_column.h"
#include "formats/text/output_buffer.h"
#include "types/batch.h"
#include "types/schema.h"

namespace sluice::formats::avro {

/// Writes as TableSchemaJson describes. Not thread-safe.
class ValueWriter {
 public:
  explicit ValueWriter(const Schema& schema);

  /// Looks at `batch`, which must outlive the calls of Write.
  Status Bind(const Batch& batch);
  /// Appends one row. Fails with kDataError for a value that could not be read back; nothing of the
  /// row is left then.
  Status Write(int64_t row, text::OutputBuffer* out);

 private:
  Status WriteRow(int64_t row, text::OutputBuffer* out);
  Status WriteValue(const text::BoundColumn& column, int64_t row, text::OutputBuffer* out);
  Status WriteSized(const text::BoundColumn& column, int64_t row, text::OutputBuffer* out);
  Status WriteArray(const text::BoundColumn& column, int64_t row, text::OutputBuffer* out);
  Status WriteMap(const text::BoundColumn& column, int64_t row, text::OutputBuffer* out);

  std::vector<std::string> names_;
  std::vector<text::BoundColumn> columns_;
  std::vector<char> bounded_;  // By column: a scalar of bounded size.
};

}  // namespace sluice::formats::avro
