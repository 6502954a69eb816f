#include "formats/csv/csv_format.h"

#include "formats/csv/csv_decoder.h"
#include "formats/csv/csv_encoder.h"
#include "formats/csv/csv_framer.h"
#include "formats/csv/csv_options.h"

namespace sluice::formats {
namespace {

using csv::CsvOptions;
using csv::ParseCsvOptions;

bool IsSimple(const SqlType& type) {
  return !type.is_nested() && !type.is_interval() && type.kind() != TypeKind::kNull;
}

Status CheckNested(const SqlType& type, const std::string& column) {
  if (IsSimple(type)) return {};
  return Status::InvalidArgument(
      "Only simple types are supported in the second level nesting of fields '" + column +
      "' but was: " + type.ToString());
}

Status CheckColumn(const Column& column) {
  if (column.type.kind() == TypeKind::kArray)
    return CheckNested(column.type.element(), column.name);
  if (column.type.kind() == TypeKind::kRow) {
    for (const RowField& field : column.type.fields())
      SLUICE_RETURN_NOT_OK(CheckNested(field.type, column.name));
    return {};
  }
  if (IsSimple(column.type)) return {};
  return Status::InvalidArgument("Unsupported type '" + column.type.ToString() + "' for field '" +
                                 column.name + "'.");
}

Status Validate(const FormatOptions& options, const Schema& physical, Direction) {
  SLUICE_ASSIGN_OR_RETURN(const CsvOptions parsed, ParseCsvOptions(options));
  for (const Column& column : physical.columns()) {
    SLUICE_RETURN_NOT_OK(CheckColumn(column));
    if (!column.type.is_nested()) continue;
    const std::string& delimiter = parsed.array_delimiter;
    if (delimiter != parsed.field_delimiter) continue;
    return Status::InvalidArgument("Column `" + column.name + "` needs '" + parsed.prefix +
                                   "array-element-delimiter' to differ from '" + parsed.prefix +
                                   "field-delimiter', but both are: " + delimiter);
  }
  return {};
}

Result<std::unique_ptr<RowDecoder>> MakeDecoder(const FormatOptions& options,
                                                const ReadSchema& schema,
                                                const FormatContext& context) {
  SLUICE_RETURN_NOT_OK(Validate(options, schema.physical, Direction::kRead));
  SLUICE_ASSIGN_OR_RETURN(CsvOptions parsed, ParseCsvOptions(options));
  parsed.keep_bad_records = context.keep_bad_records;
  parsed.ignore_parse_errors = parsed.ignore_parse_errors || context.keep_bad_records;
  return std::make_unique<csv::CsvDecoder>(std::move(parsed), schema, context);
}

Result<std::unique_ptr<RowFramer>> MakeFramer(const FormatOptions& options) {
  SLUICE_ASSIGN_OR_RETURN(CsvOptions parsed, ParseCsvOptions(options));
  return std::make_unique<csv::CsvFramer>(std::move(parsed));
}

Result<std::unique_ptr<RowEncoder>> MakeEncoder(const FormatOptions& options, const Schema& schema,
                                                Framing framing, const FormatContext&) {
  SLUICE_RETURN_NOT_OK(Validate(options, schema, Direction::kWrite));
  SLUICE_ASSIGN_OR_RETURN(CsvOptions parsed, ParseCsvOptions(options));
  return std::make_unique<csv::CsvEncoder>(std::move(parsed), schema, framing);
}

}  // namespace

const Format kCsvFormat{
    .name = "csv",
    .encoding = Encoding::kRow,
    .rolls_on_checkpoint = true,
    .options = csv::CsvOptionSpecs(),
    .read_kinds = RowKindSet::InsertOnly(),
    .write_kinds = RowKindSet::InsertOnly(),
    .validate = &Validate,
    .make_decoder = &MakeDecoder,
    .make_framer = &MakeFramer,
    .make_encoder = &MakeEncoder,
};

}  // namespace sluice::formats
