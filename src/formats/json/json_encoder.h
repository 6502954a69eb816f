// Batches to json lines and messages, equal to Flink's byte for byte.
#pragma once

#include <string>
#include <vector>

#include "formats/format.h"
#include "formats/json/json_options.h"
#include "formats/text/bound_column.h"
#include "formats/text/output_buffer.h"
#include "formats/text/row_assembler.h"

namespace sluice::formats::json {

/// Writes rows as JSON objects; also the rows inside the envelopes of the changelog JSONs.
class JsonRowWriter {
 public:
  JsonRowWriter(const JsonOptions& options, const Schema& schema);

  Status Bind(const arrow::RecordBatch& rows);
  /// Appends the object of row `row`.
  Status Write(int64_t row, text::OutputBuffer* out);

  // For many rows at once, where every field is written. The text before column `index`: brace or
  // comma, name, colon; and its values in rows [first, first + rows).
  size_t column_count() const { return columns_.size(); }
  std::string Prefix(size_t index) const;
  Status FormatColumn(size_t index, int64_t first, int rows, text::ColumnText* texts);

 private:
  /// `,"name":` ready to copy, at every level.
  struct Names {
    std::vector<std::string> keys;
    std::vector<Names> children;
  };
  static Names MakeNames(const SqlType& type);
  static std::string MakeKey(std::string_view name);

  Status WriteFields(const std::vector<text::BoundColumn>& columns, const Names& names, int64_t row,
                     text::OutputBuffer* out);
  Status WriteValue(const text::BoundColumn& column, const Names& names, int64_t row,
                    text::OutputBuffer* out);
  Status WriteArray(const text::BoundColumn& column, const Names& names, int64_t row,
                    text::OutputBuffer* out);
  Status WriteMap(const text::BoundColumn& column, const Names& names, int64_t row,
                  text::OutputBuffer* out);
  bool IsReplaced(const text::BoundColumn& keys, int64_t entry, int64_t end) const;

  Status FieldError(size_t index, const Status& status) const;

  const JsonOptions options_;
  text::ScalarStyle style_;
  std::vector<std::string> column_names_;
  std::vector<text::BoundColumn> columns_;
  Names names_;
  std::vector<char> bounded_;  // Of each column: values of bounded length.
  size_t row_room_ = 2;        // What a row needs apart from texts and nested values.
};

/// Appends `text` between quotes with JSON's escapes.
void WriteJsonText(std::string_view text, text::OutputBuffer* out);

class JsonEncoder final : public RowEncoder {
 public:
  JsonEncoder(const JsonOptions& options, const Schema& schema, Framing framing);

  Status Encode(const Batch& batch, std::string* out, std::vector<size_t>* row_ends) override;

 private:
  Status EncodeBlocks(int64_t rows, std::vector<size_t>* row_ends, size_t before);
  Status EncodeRows(int64_t rows, std::vector<size_t>* row_ends, size_t before);

  JsonRowWriter writer_;
  text::RowAssembler rows_;
  const Framing framing_;
  const bool by_blocks_;  // Every row has the same fields, of which there are some.
  text::OutputBuffer buffer_;
};

}  // namespace sluice::formats::json
