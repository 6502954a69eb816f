#include "formats/parquet/parquet_writer.h"

#include <algorithm>

#include <arrow/api.h>
#include <arrow/util/compression.h>
#include <parquet/column_writer.h>
#include <parquet/exception.h>

#include "expr/key_split.h"
#include "formats/parquet/parquet_schema.h"
#include "formats/parquet/write_values.h"
#include "types/arrow_status.h"

namespace sluice::formats::parquet_format {

namespace {

// Column writers copy what they are given: large batches go in pieces so that copies stay small.
constexpr int64_t kSliceRows = 64 << 10;
// An open writer holds about this much a leaf before any row (81 KiB for 3 columns, engineering
// notes §7).
constexpr int64_t kLeafOverheadBytes = 24 << 10;

void AddBloomFilters(const ParquetOptions& options, const Schema& schema,
                     ::parquet::WriterProperties::Builder* builder) {
  const BloomFilterOptions& filter = options.bloom_filter;
  for (const Column& column : schema.columns()) {
    if (column.type.is_nested() || column.type.kind() == TypeKind::kBoolean) continue;
    const auto written = filter.enabled_of_column.find(column.name);
    const bool named = filter.distinct_of_column.contains(column.name);
    const bool enabled =
        written != filter.enabled_of_column.end() ? written->second : filter.enabled || named;
    if (!enabled) continue;
    ::parquet::BloomFilterOptions values;
    if (named) values.ndv = static_cast<int32_t>(filter.distinct_of_column.at(column.name));
    const auto share = filter.false_positives_of_column.find(column.name);
    values.fpp = share != filter.false_positives_of_column.end() ? share->second : 0.01;
    builder->enable_bloom_filter(column.name, values);
  }
}

// Rows that show whether the values of a column repeat, and the fewest that show anything.
constexpr int64_t kSampleRows = 1024;
constexpr int64_t kLeastSampleRows = 256;

/// True when nearly every value is another one. A dictionary of such a column holds every value and
/// saves nothing; parquet-mr finds that out at the end of the first page, we from the first rows.
/// Measured on 48 partitions of unique ids and texts: the dictionaries took half of the encoder's
/// time.
Result<bool> ValuesRarelyRepeat(const arrow::RecordBatch& rows, int column) {
  const int64_t sampled = std::min(kSampleRows, rows.num_rows());
  if (sampled < kLeastSampleRows) return false;
  SLUICE_ASSIGN_OR_RETURN(std::vector<uint64_t> hashes,
                          expr::HashKeys(*rows.Slice(0, sampled), {column}));
  std::sort(hashes.begin(), hashes.end());
  const int64_t distinct = std::unique(hashes.begin(), hashes.end()) - hashes.begin();
  return distinct > sampled * 3 / 4;
}

Status LeaveOutDictionaries(const Schema& schema, const Batch& first,
                            ::parquet::WriterProperties::Builder* builder) {
  for (int i = 0; i < schema.column_count(); ++i) {
    const Column& column = schema.column(i);
    if (column.type.is_nested() || column.type.kind() == TypeKind::kBoolean) continue;
    SLUICE_ASSIGN_OR_RETURN(const bool rarely, ValuesRarelyRepeat(*first.rows(), i));
    if (rarely) builder->disable_dictionary(column.name);
  }
  return {};
}

/// `first` holds the first rows of the file, null for an empty one.
Result<std::shared_ptr<::parquet::WriterProperties>> MakeProperties(const ParquetOptions& options,
                                                                    const Schema& schema,
                                                                    const Batch* first,
                                                                    arrow::MemoryPool* pool) {
  ::parquet::WriterProperties::Builder builder;
  builder.memory_pool(pool);
  builder.created_by("sluice version 0.1.0 (build parquet-cpp)");
  builder.compression(options.compression);
  if (options.compression == arrow::Compression::ZSTD)
    builder.compression_level(options.zstd_level);
  builder.data_pagesize(options.page_bytes);
  builder.dictionary_pagesize_limit(options.dictionary_page_bytes);
  if (!options.dictionary) builder.disable_dictionary();
  if (options.dictionary && first != nullptr) {
    SLUICE_RETURN_NOT_OK(LeaveOutDictionaries(schema, *first, &builder));
  }
  builder.version(options.version_2 ? ::parquet::ParquetVersion::PARQUET_2_6
                                    : ::parquet::ParquetVersion::PARQUET_1_0);
  builder.data_page_version(options.version_2 ? ::parquet::ParquetDataPageVersion::V2
                                              : ::parquet::ParquetDataPageVersion::V1);
  builder.max_row_group_length(INT64_MAX);  // Row groups end by bytes.
  builder.enable_page_checksum();
  builder.enable_write_page_index();
  AddBloomFilters(options, schema, &builder);
  return builder.build();
}

std::shared_ptr<::parquet::ArrowWriterProperties> MakeArrowProperties() {
  ::parquet::ArrowWriterProperties::Builder builder;
  builder.enable_deprecated_int96_timestamps();
  builder.set_use_threads(false);
  return builder.build();
}

}  // namespace

ParquetWriter::ParquetWriter(ParquetOptions options, const Schema& schema,
                             std::shared_ptr<arrow::io::OutputStream> stream,
                             arrow::MemoryPool* pool)
    : options_(std::move(options)),
      schema_(schema),
      stream_(std::make_shared<StreamGate>(std::move(stream))),
      pool_(pool),
      wall_clock_(options_.wall_clock_zone),
      arrow_properties_(MakeArrowProperties()),
      write_context_(pool, arrow_properties_.get()) {}

ParquetWriter::~ParquetWriter() {
  if (!finished_) stream_->Detach();
  try {
    file_.reset();
  } catch (...) {  // NOLINT: nothing can be said from a destructor.
  }
}

Result<std::unique_ptr<BulkWriter>> ParquetWriter::Make(
    ParquetOptions options, const Schema& schema, std::shared_ptr<arrow::io::OutputStream> stream,
    const FormatContext& context) {
  SLUICE_RETURN_NOT_OK(CheckColumnTypes(schema));
  return std::unique_ptr<BulkWriter>(
      new ParquetWriter(std::move(options), schema, std::move(stream), context.pool));
}

Status ParquetWriter::Begin(const Batch* first) {
  if (file_ != nullptr) return {};
  SLUICE_ASSIGN_OR_RETURN(const auto properties, MakeProperties(options_, schema_, first, pool_));
  file_ =
      ::parquet::ParquetFileWriter::Open(stream_, MakeParquetSchema(schema_, options_), properties);
  return {};
}

Status ParquetWriter::BeginRowGroup() {
  row_group_ = file_->AppendBufferedRowGroup();
  return {};
}

Status ParquetWriter::EndRowGroup() {
  if (row_group_ == nullptr) return {};
  row_group_->Close();
  row_group_ = nullptr;
  return {};
}

Status ParquetWriter::Write(const Batch& batch) {
  try {
    SLUICE_RETURN_NOT_OK(Begin(&batch));
    for (int64_t offset = 0; offset < batch.row_count(); offset += kSliceRows) {
      const int64_t length = std::min(kSliceRows, batch.row_count() - offset);
      SLUICE_RETURN_NOT_OK(
          WriteSlice(length == batch.row_count() ? batch : batch.Slice(offset, length)));
      if (buffered_bytes() >= options_.row_group_bytes) SLUICE_RETURN_NOT_OK(EndRowGroup());
    }
  } catch (const std::exception& error) {
    return Status::IoError(std::string("Cannot write to a Parquet file: ") + error.what());
  }
  return {};
}

Status ParquetWriter::WriteSlice(const Batch& batch) {
  // All columns are taken apart before the first is written: a bad value must not leave a row group
  // with uneven columns.
  std::vector<LeafValues> leaves;
  for (int i = 0; i < schema_.column_count(); ++i) {
    const Column& column = schema_.column(i);
    SLUICE_ASSIGN_OR_RETURN(
        const std::shared_ptr<arrow::Array> values,
        PrepareForWriting(column, batch.column(i), options_, &wall_clock_, pool_));
    SLUICE_RETURN_NOT_OK(AppendLeaves(column, values, pool_, &leaves));
  }
  if (row_group_ == nullptr) SLUICE_RETURN_NOT_OK(BeginRowGroup());
  for (size_t i = 0; i < leaves.size(); ++i) {
    const LeafValues& leaf = leaves[i];
    SLUICE_RETURN_ARROW(
        row_group_->column(static_cast<int>(i))
            ->WriteArrow(leaf.definition_levels.empty() ? nullptr : leaf.definition_levels.data(),
                         leaf.repetition_levels.empty() ? nullptr : leaf.repetition_levels.data(),
                         leaf.level_count, *leaf.values, &write_context_, leaf.nullable));
  }
  return {};
}

int64_t ParquetWriter::estimated_file_bytes() const {
  const int64_t stream_bytes = *stream_->Tell();
  if (row_group_ == nullptr) return stream_bytes;
  // Finished pages are counted as "written" though they wait in memory for the end of the row
  // group; those that wait for their dictionary are not; and the rest is not in a page yet.
  const auto buffered = row_group_->estimated_buffered_stats();
  return stream_bytes + row_group_->total_compressed_bytes_written() +
         row_group_->total_compressed_bytes() + buffered.value_bytes + buffered.dict_bytes +
         buffered.def_level_bytes + buffered.rep_level_bytes;
}

int64_t ParquetWriter::buffered_bytes() const {
  if (row_group_ == nullptr) return 0;
  return estimated_file_bytes() - *stream_->Tell() + kLeafOverheadBytes * file_->num_columns();
}

Status ParquetWriter::Flush() {
  try {
    return EndRowGroup();
  } catch (const std::exception& error) {
    return Status::IoError(std::string("Cannot end a row group of a Parquet file: ") +
                           error.what());
  }
}

Status ParquetWriter::Finish() {
  if (finished_) return Status::Internal("Finish of a finished Parquet file.");
  finished_ = true;
  SLUICE_RETURN_NOT_OK(Flush());
  try {
    SLUICE_RETURN_NOT_OK(Begin(nullptr));
    file_->Close();
  } catch (const std::exception& error) {
    return Status::IoError(std::string("Cannot write the footer of a Parquet file: ") +
                           error.what());
  }
  return {};
}

}  // namespace sluice::formats::parquet_format
