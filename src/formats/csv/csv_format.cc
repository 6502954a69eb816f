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

/// What arrays and rows ask of the options.
Status CheckElements(const CsvOptions& options, const Column& column) {
  const std::string& delimiter = options.array_delimiter;
  if (delimiter == options.field_delimiter) {
    return Status::InvalidArgument("Column `" + column.name + "` needs '" + options.prefix +
                                   "array-element-delimiter' to differ from '" + options.prefix +
                                   "field-delimiter', but both are: " + delimiter);
  }
  const std::string literal = options.null_literal.value_or("");
  if (literal.find(delimiter) == std::string::npos) return {};
  return Status::InvalidArgument("Option '" + options.prefix +
                                 "null-literal' contains the delimiter of elements (" + delimiter +
                                 "), so that a NULL in column `" + column.name +
                                 "` would be two of them: " + literal);
}

/// Options under which written rows would be skipped when they are read.
Status CheckWriting(const CsvOptions& options, const Schema& physical) {
  if (options.ignore_first_line) {
    return Status::InvalidArgument(
        "Option '" + options.prefix +
        "ignore-first-line' is for reading: files are written without a header, so that their "
        "first row would be lost. Write through a table without it.");
  }
  const bool begins_with_null = physical.column_count() > 0 && physical.column(0).type.nullable();
  if (!begins_with_null || !options.allow_comments) return {};
  if (!csv::LooksLikeComment(options.null_literal.value_or(""))) return {};
  return Status::InvalidArgument(
      "Option '" + options.prefix + "null-literal' = '" + *options.null_literal + "' with '" +
      options.prefix +
      "allow-comments': a record whose first column is NULL would be read as a comment. Write "
      "through a table without comments and read through it.");
}

Status Validate(const FormatOptions& options, const Schema& physical, Direction direction) {
  SLUICE_ASSIGN_OR_RETURN(const CsvOptions parsed, ParseCsvOptions(options));
  for (const Column& column : physical.columns()) {
    SLUICE_RETURN_NOT_OK(CheckColumn(column));
    if (column.type.is_nested()) SLUICE_RETURN_NOT_OK(CheckElements(parsed, column));
  }
  return direction == Direction::kWrite ? CheckWriting(parsed, physical) : Status();
}

Status ValidateMessages(const FormatOptions& options, const Schema&) {
  SLUICE_ASSIGN_OR_RETURN(const CsvOptions parsed, ParseCsvOptions(options));
  if (!parsed.ignore_first_line) return {};
  return Status::InvalidArgument("Option '" + parsed.prefix +
                                 "ignore-first-line' is for files: a message is one record and has "
                                 "no header. Remove it.");
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
    .validate_messages = &ValidateMessages,
    .make_decoder = &MakeDecoder,
    .make_framer = &MakeFramer,
    .make_encoder = &MakeEncoder,
};

}  // namespace sluice::formats
