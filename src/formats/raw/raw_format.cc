#include "formats/raw/raw_format.h"

#include "formats/raw/raw_codec.h"
#include "formats/text/line_framer.h"

namespace sluice::formats {
namespace {

using raw::Charset;
using raw::ParseRawOptions;
using raw::RawOptions;

Status Validate(const FormatOptions& options, const Schema& physical, Direction) {
  SLUICE_RETURN_NOT_OK(ParseRawOptions(options).status());
  return raw::CheckRawColumns(physical);
}

Status ValidateFiles(const FormatOptions& options, const Schema& physical) {
  SLUICE_ASSIGN_OR_RETURN(const RawOptions parsed, ParseRawOptions(options));
  return raw::CheckRawFiles(parsed, physical);
}

Status CheckHasColumn(const Schema& physical) {
  if (physical.column_count() > 0) return {};
  return Status::InvalidArgument(
      "The 'raw' format needs one physical column, but the table has none.");
}

Result<std::unique_ptr<RowDecoder>> MakeDecoder(const FormatOptions& options,
                                                const ReadSchema& schema,
                                                const FormatContext& context) {
  SLUICE_RETURN_NOT_OK(Validate(options, schema.physical, Direction::kRead));
  SLUICE_RETURN_NOT_OK(CheckHasColumn(schema.physical));
  SLUICE_ASSIGN_OR_RETURN(RawOptions parsed, ParseRawOptions(options));
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<Charset> charset,
                          Charset::Find(parsed.charset, parsed.prefix));
  parsed.keep_bad_records = context.keep_bad_records;
  parsed.ignore_parse_errors = parsed.ignore_parse_errors || context.keep_bad_records;
  return std::make_unique<raw::RawDecoder>(std::move(parsed), std::move(charset), schema, context);
}

Result<std::unique_ptr<RowFramer>> MakeFramer(const FormatOptions&) {
  return std::make_unique<text::LineFramer>();
}

Result<std::unique_ptr<RowEncoder>> MakeEncoder(const FormatOptions& options, const Schema& schema,
                                                Framing framing, const FormatContext&) {
  SLUICE_RETURN_NOT_OK(Validate(options, schema, Direction::kWrite));
  SLUICE_RETURN_NOT_OK(CheckHasColumn(schema));
  if (framing == Framing::kFile) SLUICE_RETURN_NOT_OK(ValidateFiles(options, schema));
  SLUICE_ASSIGN_OR_RETURN(RawOptions parsed, ParseRawOptions(options));
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<Charset> charset,
                          Charset::Find(parsed.charset, parsed.prefix));
  return std::make_unique<raw::RawEncoder>(std::move(parsed), std::move(charset), schema, framing);
}

}  // namespace

const Format kRawFormat{
    .name = "raw",
    .encoding = Encoding::kRow,
    .rolls_on_checkpoint = false,
    .skips_byte_order_mark = false,
    .options = raw::RawOptionSpecs(),
    .read_kinds = RowKindSet::InsertOnly(),
    .write_kinds = RowKindSet::InsertOnly(),
    .validate = &Validate,
    .validate_files = &ValidateFiles,
    .make_decoder = &MakeDecoder,
    .make_framer = &MakeFramer,
    .make_encoder = &MakeEncoder,
};

}  // namespace sluice::formats
