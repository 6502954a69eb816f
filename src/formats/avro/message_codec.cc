#include "formats/avro/message_codec.h"

#include <new>

#include "common/text.h"
#include "formats/avro/json_encoding.h"
#include "formats/avro/table_schema.h"
#include "formats/text/bad_records.h"

namespace sluice::formats::avro {

Result<std::unique_ptr<RowDecoder>> MessageDecoder::Make(AvroOptions options,
                                                         const ReadSchema& schema,
                                                         const FormatContext& context) {
  SLUICE_RETURN_NOT_OK(CheckColumns(schema.physical));
  std::unique_ptr<MessageDecoder> decoder(new MessageDecoder(std::move(options)));
  SLUICE_ASSIGN_OR_RETURN(decoder->schema_,
                          AvroSchema::Parse(TableSchemaJson(schema.physical, decoder->options_)));
  SLUICE_ASSIGN_OR_RETURN(decoder->plan_, MakeReadPlan(decoder->schema_.root(), schema));
  decoder->reader_ = std::make_unique<ValueReader>(decoder->plan_, schema.output(), context.pool);
  return std::unique_ptr<RowDecoder>(std::move(decoder));
}

Result<DecodedRows> MessageDecoder::DecodeChunk(std::string_view, bool) {
  return Status::Internal("Avro files are containers, not a stream of rows.");
}

Result<DecodedRows> MessageDecoder::DecodeMessages(std::span<const std::string_view> messages) {
  try {
    reader_->Truncate(0);
    Pass pass;
    for (const std::string_view message : messages) {
      // A null message is no row.
      const bool go_on = message.data() == nullptr || Decode(pass, message);
      ++pass.record;
      if (!go_on) break;
    }
    pass.out.record_count = pass.record;
    pass.out.rows = reader_->Finish(pass.row_count);
    // Only the records up to the last row are told apart from rows.
    if (pass.row_count == pass.record) pass.out.record_of_row.clear();
    return std::move(pass.out);
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("Out of memory while decoding avro.");
  }
}

void MessageDecoder::AddRow(Pass& pass) {
  pass.out.record_of_row.push_back(static_cast<int32_t>(pass.record));
  ++pass.row_count;
}

bool MessageDecoder::Decode(Pass& pass, std::string_view message) {
  if (ReadMessage(message)) [[likely]] {
    AddRow(pass);
    return true;
  }
  reader_->Truncate(pass.row_count);
  ++pass.out.bad_count;
  if (options_.keep_bad_records || pass.out.bad.size() < text::kMaxKeptBadRecords) {
    BadRecord bad;
    bad.record = pass.record;
    bad.byte_length = static_cast<int64_t>(message.size());
    bad.column = column_;
    bad.reason = "The message is no avro record of the table: " + reason_ + ".";
    if (!options_.ignore_parse_errors) {
      bad.reason +=
          " Set '" + options_.prefix + "ignore-parse-errors' = 'true' to drop such messages.";
    }
    bad.text = Printable(message);
    pass.out.bad.push_back(std::move(bad));
  }
  pass.out.failed = !options_.ignore_parse_errors;
  return options_.ignore_parse_errors;
}

bool MessageDecoder::ReadMessage(std::string_view message) {
  column_.clear();
  if (options_.json_encoding) {
    binary_.clear();
    const Status status = JsonToBinary(schema_.root(), message, &binary_);
    if (!status.ok()) {
      reason_ = status.message();
      return false;
    }
    message = binary_;
  }
  BinaryInput input(message);
  if (!reader_->ReadRecord(&input)) {
    column_ = reader_->column();
    reason_ = reader_->reason() + ", at byte " + std::to_string(input.position());
    return false;
  }
  if (input.at_end()) return true;
  reason_ = std::to_string(input.remaining()) + " bytes are left behind the record of " +
            std::to_string(input.position()) + " bytes";
  return false;
}

Result<std::unique_ptr<RowEncoder>> MessageEncoder::Make(AvroOptions options,
                                                         const Schema& schema) {
  SLUICE_RETURN_NOT_OK(CheckColumns(schema));
  std::unique_ptr<MessageEncoder> encoder(new MessageEncoder(std::move(options), schema));
  SLUICE_ASSIGN_OR_RETURN(encoder->schema_,
                          AvroSchema::Parse(TableSchemaJson(schema, encoder->options_)));
  return std::unique_ptr<RowEncoder>(std::move(encoder));
}

Status MessageEncoder::Encode(const Batch& batch, std::string* out, std::vector<size_t>* row_ends) {
  if (batch.row_count() == 0) return {};
  try {
    SLUICE_RETURN_NOT_OK(writer_.Bind(batch));
    for (int64_t row = 0; row < batch.row_count(); ++row) {
      buffer_.Truncate(0);
      SLUICE_RETURN_NOT_OK(writer_.Write(row, &buffer_));
      if (options_.json_encoding) {
        SLUICE_RETURN_NOT_OK(BinaryToJson(schema_.root(), buffer_.view(), out));
      } else {
        out->append(buffer_.view());
      }
      if (row_ends != nullptr) row_ends->push_back(out->size());
    }
    return {};
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("Out of memory while encoding avro.");
  }
}

}  // namespace sluice::formats::avro
