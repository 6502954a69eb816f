#include "formats/orc/orc_format.h"

#include "formats/orc/orc_file.h"
#include "formats/orc/orc_options.h"
#include "formats/orc/orc_schema.h"
#include "formats/orc/orc_writer.h"

namespace sluice::formats {

namespace {

Status Validate(const FormatOptions& options, const Schema& physical, Direction) {
  SLUICE_ASSIGN_OR_RETURN(const auto parsed, orc_format::ParseOptions(options));
  SLUICE_RETURN_NOT_OK(orc_format::CheckColumnTypes(physical));
  return orc_format::CheckBloomColumns(parsed.bloom_columns, physical);
}

Result<std::unique_ptr<BulkWriter>> MakeWriter(const FormatOptions& options, const Schema& schema,
                                               std::shared_ptr<arrow::io::OutputStream> stream,
                                               const FormatContext&) {
  SLUICE_ASSIGN_OR_RETURN(auto parsed, orc_format::ParseOptions(options));
  return orc_format::OrcWriter::Make(parsed, schema, std::move(stream));
}

Result<std::unique_ptr<BulkFile>> OpenFile(const FormatOptions& options, const ReadSchema& schema,
                                           std::shared_ptr<arrow::io::RandomAccessFile> file,
                                           const FormatContext& context) {
  SLUICE_ASSIGN_OR_RETURN(auto parsed, orc_format::ParseOptions(options));
  return orc_format::OrcFile::Open(parsed, schema, std::move(file), context);
}

}  // namespace

const Format kOrcFormat{
    .name = "orc",
    .encoding = Encoding::kBulk,
    .rolls_on_checkpoint = true,
    .options = orc_format::OptionSpecs(),
    .validate = &Validate,
    .make_bulk_writer = &MakeWriter,
    .open_bulk_file = &OpenFile,
};

}  // namespace sluice::formats
