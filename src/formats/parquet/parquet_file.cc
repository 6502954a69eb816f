#include "formats/parquet/parquet_file.h"

#include <arrow/api.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/schema.h>
#include <parquet/exception.h>

#include "common/check.h"
#include "formats/parquet/paged_file.h"
#include "formats/parquet/row_group_bounds.h"
#include "formats/parquet/row_group_rows.h"
#include "formats/parquet/storage_error.h"
#include "types/arrow_status.h"

namespace sluice::formats::parquet_format {

namespace {

// Read ahead within a column chunk: bounded memory instead of whole row groups, few system calls.
constexpr int64_t kReadBufferBytes = 256 << 10;
constexpr int64_t kSmallestFileBytes = 12;  // Magic, length of the footer, magic.

::parquet::ReaderProperties MakeReaderProperties(arrow::MemoryPool* pool) {
  ::parquet::ReaderProperties properties(pool);
  properties.enable_buffered_stream();
  properties.set_buffer_size(kReadBufferBytes);
  properties.set_page_checksum_verification(true);
  return properties;
}

::parquet::ArrowReaderProperties MakeArrowProperties(const ParquetOptions& options) {
  ::parquet::ArrowReaderProperties properties(/*use_threads=*/false);
  properties.set_batch_size(options.batch_rows);
  properties.set_pre_buffer(false);
  // Only the structure around INT96 values is taken from Arrow.
  properties.set_coerce_int96_timestamp_unit(arrow::TimeUnit::MICRO);
  return properties;
}

Status OpenError(arrow::io::RandomAccessFile& file, int64_t size, std::string_view reason) {
  const auto tail = file.ReadAt(size - 4, 4);
  if (tail.ok() && (*tail)->ToString() == "PARE") {
    return Status::DataError(
        "The Parquet file has an encrypted footer (magic PARE), which cannot be read. Decrypt it "
        "first.");
  }
  return Status::DataError("The file is not a Parquet file or is damaged: " + std::string(reason));
}

Status CheckRowCounts(const ::parquet::FileMetaData& metadata) {
  int64_t sum = 0;
  for (int part = 0; part < metadata.num_row_groups(); ++part)
    sum += metadata.RowGroup(part)->num_rows();
  if (sum == metadata.num_rows()) return {};
  return Status::DataError("The Parquet file is damaged: its footer counts " +
                           std::to_string(metadata.num_rows()) + " rows, its row groups have " +
                           std::to_string(sum) + ".");
}

/// Takes away what Arrow's writers note of their own types (dictionaries, views, durations): it is
/// no part of the format, and a column is what the file's schema says, as for every other reader.
void ForgetArrowSchema(const ::parquet::FileMetaData& metadata) {
  const auto& notes = metadata.key_value_metadata();
  if (notes == nullptr || !notes->Contains("ARROW:schema")) return;
  // The footer was just read for this file alone; the library offers no other way.
  const auto deleted = std::const_pointer_cast<arrow::KeyValueMetadata>(notes)->Delete(
      std::string_view("ARROW:schema"));
  SLUICE_CHECK(deleted.ok(), deleted.ToString());
}

}  // namespace

ParquetFile::ParquetFile(ParquetOptions options, ReadSchema schema,
                         std::shared_ptr<arrow::io::RandomAccessFile> file, arrow::MemoryPool* pool)
    : options_(std::move(options)),
      schema_(std::move(schema)),
      file_(std::move(file)),
      pool_(pool),
      reader_properties_(MakeReaderProperties(pool)),
      arrow_properties_(MakeArrowProperties(options_)) {}

Result<std::unique_ptr<BulkFile>> ParquetFile::Open(
    ParquetOptions options, ReadSchema schema, std::shared_ptr<arrow::io::RandomAccessFile> file,
    const FormatContext& context) {
  std::unique_ptr<ParquetFile> opened(
      new ParquetFile(std::move(options), std::move(schema), file, context.pool));
  SLUICE_ASSIGN_ARROW(const int64_t size, file->GetSize());
  if (size < kSmallestFileBytes) {
    return Status::DataError(
        "The file is not a Parquet file (length is too low: " + std::to_string(size) + ").");
  }
  try {
    SLUICE_RETURN_NOT_OK(opened->Load());
  } catch (const std::exception& error) {
    SLUICE_RETURN_NOT_OK(StorageError(error));
    return OpenError(*file, size, error.what());
  }
  return std::unique_ptr<BulkFile>(std::move(opened));
}

Status ParquetFile::Load() {
  footer_ = ::parquet::ParquetFileReader::Open(file_, reader_properties_);
  metadata_ = footer_->metadata();
  ForgetArrowSchema(*metadata_);
  SLUICE_RETURN_NOT_OK(CheckRowCounts(*metadata_));
  if (schema_.projection.empty()) return {};
  SLUICE_RETURN_NOT_OK(LoadFileColumns());
  SLUICE_ASSIGN_OR_RETURN(plan_, MakeReadPlan(schema_, *metadata_->schema(), *file_columns_));
  return {};
}

Status ParquetFile::LoadFileColumns() const {
  if (file_columns_ != nullptr) return {};
  SLUICE_RETURN_ARROW(::parquet::arrow::FromParquetSchema(
      metadata_->schema(), arrow_properties_, metadata_->key_value_metadata(), &file_columns_));
  return {};
}

Status ParquetFile::LoadReader() {
  if (reader_ != nullptr) return {};
  SLUICE_ASSIGN_ARROW(
      reader_,
      ::parquet::arrow::FileReader::Make(
          pool_, OpenPagedFile(footer_.get(), file_, reader_properties_, {}), arrow_properties_));
  return {};
}

const pruning::RowRanges& ParquetFile::Judge(int part,
                                             std::span<const expr::ExprPtr> filters) const {
  if (judged_part_ == part &&
      std::equal(filters.begin(), filters.end(), judged_filters_.begin(), judged_filters_.end()))
    return judged_rows_;
  try {
    if (filters.empty() || !LoadFileColumns().ok()) {
      judged_rows_ = {{0, row_count(part)}};
    } else {
      judged_rows_ = MatchingRows(
          {options_, schema_.physical, *file_columns_, *footer_, part, pool_}, filters);
    }
  } catch (const std::exception&) {
    judged_rows_ = {{0, row_count(part)}};  // Damaged statistics prove nothing.
  }
  judged_part_ = part;
  judged_filters_.assign(filters.begin(), filters.end());
  return judged_rows_;
}

bool ParquetFile::MayMatch(int part, std::span<const expr::ExprPtr> filters) const {
  return row_count(part) > 0 && !Judge(part, filters).empty();
}

ColumnFacts ParquetFile::Facts(int part, int column) const {
  try {
    if (!LoadFileColumns().ok()) return {};
    return ExactFacts({options_, schema_.physical, *file_columns_, *footer_, part, pool_}, column);
  } catch (const std::exception&) {
    return {};  // Damaged statistics tell nothing.
  }
}

Result<std::unique_ptr<BulkFile::Rows>> ParquetFile::ReadPart(
    int part, std::span<const expr::ExprPtr> filters) {
  SLUICE_RETURN_NOT_OK(LoadReader());
  pruning::RowRanges wanted;
  if (row_count(part) > 0) wanted = Judge(part, filters);
  return RowGroupRows::Make(
      {options_, plan_, *reader_, file_, reader_properties_, arrow_properties_, pool_},
      schema_.output(), part, std::move(wanted));
}

}  // namespace sluice::formats::parquet_format
