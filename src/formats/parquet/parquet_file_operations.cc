#include "formats/parquet/parquet_file_operations.h"

#include <parquet/arrow/schema.h>
#include <parquet/file_reader.h>

#include "formats/column_paths.h"
#include "formats/parquet/join_files.h"
#include "formats/parquet/parquet_options.h"
#include "formats/parquet/parquet_writer.h"
#include "formats/parquet/storage_error.h"
#include "formats/parquet/whole_file_encoder.h"
#include "types/arrow_status.h"

namespace sluice::formats {

namespace {

Result<std::unique_ptr<SpanningWriter>> ResumeWriter(
    const FormatOptions& options, const Schema& schema,
    std::shared_ptr<arrow::io::OutputStream> stream, std::string_view state,
    const FormatContext& context) {
  SLUICE_ASSIGN_OR_RETURN(auto parsed, parquet_format::ParseOptions(options));
  return parquet_format::ParquetWriter::MakeSpanning(std::move(parsed), schema, std::move(stream),
                                                     state, context);
}

Status JoinFiles(const FormatOptions&, const Schema&,
                 std::span<const std::shared_ptr<arrow::io::RandomAccessFile>> inputs,
                 arrow::io::OutputStream* out, const FormatContext&) {
  return parquet_format::JoinParquetFiles(inputs, out);
}

Result<std::unique_ptr<WholeFileEncoder>> MakeWholeFileEncoder(const FormatOptions& options,
                                                               const Schema& schema,
                                                               const FormatContext& context) {
  SLUICE_ASSIGN_OR_RETURN(auto parsed, parquet_format::ParseOptions(options));
  return parquet_format::ParquetWholeFileEncoder::Make(std::move(parsed), schema, context);
}

Result<std::vector<std::string>> ColumnPathsOf(const FormatOptions&, const Schema&,
                                               std::shared_ptr<arrow::io::RandomAccessFile> input,
                                               const FormatContext&) {
  try {
    const auto metadata = ::parquet::ReadMetaData(input);
    std::shared_ptr<arrow::Schema> columns;
    SLUICE_RETURN_ARROW(::parquet::arrow::FromParquetSchema(metadata->schema(), &columns));
    return ColumnPaths(*columns);
  } catch (const std::exception& error) {
    SLUICE_RETURN_NOT_OK(parquet_format::StorageError(error));
    return Status::DataError(error.what());
  }
}

}  // namespace

const FileOperations kParquetFileOperations{
    .resume_writer = &ResumeWriter,
    .join_files = &JoinFiles,
    .column_paths = &ColumnPathsOf,
    .make_whole_file_encoder = &MakeWholeFileEncoder,
};

}  // namespace sluice::formats
