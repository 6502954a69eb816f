#include "formats/parquet/parquet_format.h"

#include "formats/option_checks.h"
#include "formats/parquet/parquet_file.h"
#include "formats/parquet/parquet_options.h"
#include "formats/parquet/parquet_schema.h"
#include "formats/parquet/parquet_writer.h"

namespace sluice::formats {

namespace {

/// The part of a key behind the '#' is a column, as in 'parquet.bloom.filter.enabled#id'.
Status CheckNamedColumns(const FormatOptions& options, const Schema& physical) {
  for (const auto& [key, value] : options.options) {
    const size_t hash = key.find('#');
    if (hash == std::string::npos) continue;
    SLUICE_RETURN_NOT_OK(CheckOptionColumn(options.prefix + key, key.substr(hash + 1), physical));
  }
  return {};
}

Status Validate(const FormatOptions& options, const Schema& physical, Direction) {
  SLUICE_RETURN_NOT_OK(parquet_format::ParseOptions(options).status());
  SLUICE_RETURN_NOT_OK(CheckNamedColumns(options, physical));
  return parquet_format::CheckColumnTypes(physical);
}

Result<std::unique_ptr<BulkWriter>> MakeWriter(const FormatOptions& options, const Schema& schema,
                                               std::shared_ptr<arrow::io::OutputStream> stream,
                                               const FormatContext& context) {
  SLUICE_ASSIGN_OR_RETURN(auto parsed, parquet_format::ParseOptions(options));
  return parquet_format::ParquetWriter::Make(std::move(parsed), schema, std::move(stream), context);
}

Result<std::unique_ptr<BulkFile>> OpenFile(const FormatOptions& options, const ReadSchema& schema,
                                           std::shared_ptr<arrow::io::RandomAccessFile> file,
                                           const FormatContext& context) {
  SLUICE_ASSIGN_OR_RETURN(auto parsed, parquet_format::ParseOptions(options));
  return parquet_format::ParquetFile::Open(std::move(parsed), schema, std::move(file), context);
}

}  // namespace

const Format kParquetFormat{
    .name = "parquet",
    .encoding = Encoding::kBulk,
    .rolls_on_checkpoint = true,
    .options = parquet_format::OptionSpecs(),
    .validate = &Validate,
    .make_bulk_writer = &MakeWriter,
    .open_bulk_file = &OpenFile,
};

}  // namespace sluice::formats
