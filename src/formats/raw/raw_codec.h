// raw: one column, whose bytes are the record.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "formats/format.h"
#include "formats/raw/charset.h"
#include "formats/raw/raw_options.h"
#include "formats/text/bound_column.h"
#include "formats/text/column_builder.h"

namespace sluice::formats::raw {

class RawDecoder final : public RowDecoder {
 public:
  RawDecoder(RawOptions options, std::unique_ptr<Charset> charset, const ReadSchema& schema,
             const FormatContext& context);

  Result<DecodedRows> DecodeChunk(std::string_view chunk, bool first_in_file) override;
  /// A null message is a row with NULL.
  Result<DecodedRows> DecodeMessages(std::span<const std::string_view> messages) override;

 private:
  struct Pass {
    int64_t row_count = 0;
    int64_t record = 0;
    DecodedRows out;
  };
  /// False: the read fails here.
  bool Append(Pass& pass, std::string_view bytes, size_t offset);
  /// "" when appended.
  std::string AppendValue(std::string_view bytes);
  void AppendFixed(std::string_view bytes);
  Result<DecodedRows> Finish(Pass& pass);

  const RawOptions options_;
  std::unique_ptr<Charset> charset_;
  const Schema physical_;
  const int output_columns_;
  std::shared_ptr<arrow::Schema> arrow_schema_;
  text::ColumnBuilder builder_;
  std::string scratch_;
};

class RawEncoder final : public RowEncoder {
 public:
  RawEncoder(RawOptions options, std::unique_ptr<Charset> charset, const Schema& schema,
             Framing framing);

  /// For messages a NULL is no bytes: the caller, who sees the NULL, writes a tombstone.
  Status Encode(const Batch& batch, std::string* out, std::vector<size_t>* row_ends) override;

 private:
  Status AppendValue(int64_t row, std::string* out);

  const RawOptions options_;
  std::unique_ptr<Charset> charset_;
  const std::string name_;
  const Framing framing_;
  text::BoundColumn column_;
};

}  // namespace sluice::formats::raw
