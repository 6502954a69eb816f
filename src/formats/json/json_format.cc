#include "formats/json/json_format.h"

#include "formats/json/json_decoder.h"
#include "formats/json/json_encoder.h"
#include "formats/json/json_options.h"
#include "formats/text/line_framer.h"

namespace sluice::formats {
namespace {

using json::JsonOptions;
using json::ParseJsonOptions;

Status Validate(const FormatOptions& options, const Schema& physical, Direction) {
  SLUICE_RETURN_NOT_OK(ParseJsonOptions(options).status());
  for (const Column& column : physical.columns())
    SLUICE_RETURN_NOT_OK(json::CheckJsonType(column.type));
  return {};
}

Result<std::unique_ptr<RowDecoder>> MakeDecoder(const FormatOptions& options,
                                                const ReadSchema& schema,
                                                const FormatContext& context) {
  SLUICE_RETURN_NOT_OK(Validate(options, schema.physical, Direction::kRead));
  SLUICE_ASSIGN_OR_RETURN(JsonOptions parsed, ParseJsonOptions(options));
  parsed.keep_bad_records = context.keep_bad_records;
  parsed.ignore_parse_errors = parsed.ignore_parse_errors || context.keep_bad_records;
  return std::make_unique<json::JsonDecoder>(std::move(parsed), schema, context);
}

Result<std::unique_ptr<RowFramer>> MakeFramer(const FormatOptions&) {
  return std::make_unique<text::LineFramer>();
}

Result<std::unique_ptr<RowEncoder>> MakeEncoder(const FormatOptions& options, const Schema& schema,
                                                Framing framing, const FormatContext&) {
  SLUICE_RETURN_NOT_OK(Validate(options, schema, Direction::kWrite));
  SLUICE_ASSIGN_OR_RETURN(const JsonOptions parsed, ParseJsonOptions(options));
  return std::make_unique<json::JsonEncoder>(parsed, schema, framing);
}

}  // namespace

const Format kJsonFormat{
    .name = "json",
    .encoding = Encoding::kRow,
    .rolls_on_checkpoint = false,
    .options = json::JsonOptionSpecs(),
    .read_kinds = RowKindSet::InsertOnly(),
    .write_kinds = RowKindSet::InsertOnly(),
    .validate = &Validate,
    .make_decoder = &MakeDecoder,
    .make_framer = &MakeFramer,
    .make_encoder = &MakeEncoder,
};

}  // namespace sluice::formats
