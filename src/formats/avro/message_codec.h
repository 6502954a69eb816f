// Rows as single messages: one record each, without a container, in binary or in Avro's JSON
// encoding. Neither carries a schema: both sides use the one that TableSchemaJson makes.
#pragma once

#include <memory>
#include <string>

#include "formats/avro/avro_options.h"
#include "formats/avro/avro_schema.h"
#include "formats/avro/read_plan.h"
#include "formats/avro/value_reader.h"
#include "formats/avro/value_writer.h"
#include "formats/format.h"

namespace sluice::formats::avro {

class MessageDecoder final : public RowDecoder {
 public:
  static Result<std::unique_ptr<RowDecoder>> Make(AvroOptions options, const ReadSchema& schema,
                                                  const FormatContext& context);

  /// Files are containers: this fails.
  Result<DecodedRows> DecodeChunk(std::string_view chunk, bool first_in_file) override;
  Result<DecodedRows> DecodeMessages(std::span<const std::string_view> messages) override;

 private:
  struct Pass {
    DecodedRows out;
    int64_t record = 0;
    int64_t row_count = 0;
  };
  explicit MessageDecoder(AvroOptions options) : options_(std::move(options)) {}
  /// False when decoding must stop.
  bool Decode(Pass& pass, std::string_view message);
  bool ReadMessage(std::string_view message);
  void AddRow(Pass& pass);

  const AvroOptions options_;
  AvroSchema schema_;
  ReadPlan plan_;  // Borrows schema_.
  std::unique_ptr<ValueReader> reader_;
  std::string binary_;  // A message in JSON as binary.
  std::string column_;  // Of the last message that could not be read.
  std::string reason_;
};

class MessageEncoder final : public RowEncoder {
 public:
  static Result<std::unique_ptr<RowEncoder>> Make(AvroOptions options, const Schema& schema);
  Status Encode(const Batch& batch, std::string* out, std::vector<size_t>* row_ends) override;

 private:
  MessageEncoder(AvroOptions options, const Schema& schema)
      : options_(std::move(options)), writer_(schema) {}

  const AvroOptions options_;
  AvroSchema schema_;
  ValueWriter writer_;
  text::OutputBuffer buffer_;
};

}  // namespace sluice::formats::avro
