#include "formats/avro/avro_format.h"

#include "common/log.h"
#include "formats/avro/avro_file.h"
#include "formats/avro/avro_options.h"
#include "formats/avro/avro_writer.h"
#include "formats/avro/message_codec.h"
#include "formats/avro/table_schema.h"

namespace sluice::formats {
namespace {

using avro::AvroOptions;

Status Validate(const FormatOptions& options, const Schema& physical, Direction direction) {
  SLUICE_ASSIGN_OR_RETURN(const AvroOptions parsed, avro::ParseOptions(options));
  SLUICE_RETURN_NOT_OK(avro::CheckColumns(physical));
  if (direction == Direction::kRead) return {};
  const std::string beyond = avro::BeyondFlink(physical, parsed);
  if (!beyond.empty()) {
    Log(LogLevel::kWarning,
        "The avro format writes " + beyond +
            " with the logical type of their precision; Flink's own avro format refuses such "
            "columns.");
  }
  return {};
}

Status ValidateFiles(const FormatOptions& options, const Schema&) {
  return avro::CheckFileOptions(options);
}

Status ValidateMessages(const FormatOptions& options, const Schema&) {
  return avro::CheckMessageOptions(options);
}

Result<std::unique_ptr<BulkWriter>> MakeWriter(const FormatOptions& options, const Schema& schema,
                                               std::shared_ptr<arrow::io::OutputStream> stream,
                                               const FormatContext&) {
  SLUICE_ASSIGN_OR_RETURN(const AvroOptions parsed, avro::ParseOptions(options));
  return avro::AvroWriter::Make(parsed, schema, std::move(stream));
}

Result<std::unique_ptr<BulkFile>> OpenFile(const FormatOptions&, const ReadSchema& schema,
                                           std::shared_ptr<arrow::io::RandomAccessFile> file,
                                           const FormatContext& context) {
  return avro::AvroFile::Open(schema, std::move(file), context);
}

Result<std::unique_ptr<RowDecoder>> MakeDecoder(const FormatOptions& options,
                                                const ReadSchema& schema,
                                                const FormatContext& context) {
  SLUICE_ASSIGN_OR_RETURN(AvroOptions parsed, avro::ParseOptions(options));
  parsed.keep_bad_records = context.keep_bad_records;
  parsed.ignore_parse_errors = parsed.ignore_parse_errors || context.keep_bad_records;
  return avro::MessageDecoder::Make(std::move(parsed), schema, context);
}

Result<std::unique_ptr<RowEncoder>> MakeEncoder(const FormatOptions& options, const Schema& schema,
                                                Framing framing, const FormatContext&) {
  if (framing == Framing::kFile) {
    return Status::Internal("Avro files are containers, not a stream of rows.");
  }
  SLUICE_ASSIGN_OR_RETURN(AvroOptions parsed, avro::ParseOptions(options));
  return avro::MessageEncoder::Make(std::move(parsed), schema);
}

}  // namespace

const Format kAvroFormat{
    .name = "avro",
    .encoding = Encoding::kBulk,
    .rolls_on_checkpoint = true,
    .options = avro::OptionSpecs(),
    .read_kinds = RowKindSet::InsertOnly(),
    .write_kinds = RowKindSet::InsertOnly(),
    .validate = &Validate,
    .validate_files = &ValidateFiles,
    .validate_messages = &ValidateMessages,
    .make_decoder = &MakeDecoder,
    .make_encoder = &MakeEncoder,
    .make_bulk_writer = &MakeWriter,
    .open_bulk_file = &OpenFile,
};

}  // namespace sluice::formats
