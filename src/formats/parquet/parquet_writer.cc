#include "formats/parquet/parquet_writer.h"

#include <algorithm>
#include <array>

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/ipc/writer.h>
#include <arrow/util/compression.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/column_writer.h>
#include <parquet/exception.h>

#include "common/byte_codec.h"
#include "expr/key_split.h"
#include "formats/parquet/parquet_schema.h"
#include "formats/parquet/row_group_bounds.h"
#include "formats/parquet/write_values.h"
#include "types/arrow_status.h"
#include "types/value_text.h"

namespace sluice::formats::parquet_format {

namespace {

// Column writers copy what they are given: large batches go in pieces so that copies stay small.
constexpr int64_t kSliceRows = 64 << 10;
// An open writer holds about this much a leaf before any row (81 KiB for 3 columns, engineering
// notes §7).
constexpr int64_t kLeafOverheadBytes = 24 << 10;
// Rows of the open row group up to this size are kept in a checkpoint; more end the row group. So a
// slow stream with a checkpoint a second still gets row groups of at least this size, and no file
// adds more than this to a checkpoint.
constexpr int64_t kKeptRowsBytes = 4 << 20;
constexpr char kStateVersion = 1;

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

/// Of at most kSampleRows hashes. A table of twice that: files of a few hundred rows are many, and
/// sorting the hashes showed in their profile.
int64_t CountDistinct(const std::vector<uint64_t>& hashes) {
  std::array<uint64_t, static_cast<size_t>(kSampleRows) * 2> seen{};
  int64_t distinct = 0;
  for (const uint64_t hash : hashes) {
    const uint64_t value = hash | 1;  // 0 is free.
    size_t slot = (hash >> 32) % seen.size();
    while (seen[slot] != 0 && seen[slot] != value) slot = (slot + 1) % seen.size();
    if (seen[slot] == 0) ++distinct;
    seen[slot] = value;
  }
  return distinct;
}

/// True when nearly every value is another one. A dictionary of such a column holds every value and
/// saves nothing; parquet-mr finds that out at the end of the first page, we from the first rows.
/// Measured on 48 partitions of unique ids and texts: the dictionaries took half of the encoder's
/// time.
Result<bool> ValuesRarelyRepeat(const arrow::RecordBatch& rows, int column) {
  const int64_t sampled = std::min(kSampleRows, rows.num_rows());
  if (sampled < kLeastSampleRows) return false;
  SLUICE_ASSIGN_OR_RETURN(const std::vector<uint64_t> hashes,
                          expr::HashKeys(*rows.Slice(0, sampled), {column}));
  return CountDistinct(hashes) > sampled * 3 / 4;
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
  for (const Column& column : schema.columns()) {
    if (!MayHaveDictionary(column.type)) builder.disable_dictionary(column.name);
  }
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

Result<std::string> RowsToBytes(const std::vector<std::shared_ptr<arrow::RecordBatch>>& rows,
                                arrow::MemoryPool* pool) {
  if (rows.empty()) return std::string();
  arrow::ipc::IpcWriteOptions options = arrow::ipc::IpcWriteOptions::Defaults();
  options.memory_pool = pool;
  options.use_threads = false;
  SLUICE_ASSIGN_ARROW(const auto stream, arrow::io::BufferOutputStream::Create(4096, pool));
  SLUICE_ASSIGN_ARROW(const auto writer,
                      arrow::ipc::MakeStreamWriter(stream, rows.front()->schema(), options));
  for (const auto& batch : rows) SLUICE_RETURN_ARROW(writer->WriteRecordBatch(*batch));
  SLUICE_RETURN_ARROW(writer->Close());
  SLUICE_ASSIGN_ARROW(const auto buffer, stream->Finish());
  return buffer->ToString();
}

}  // namespace

arrow::Status StreamGate::Write(const void* data, int64_t length) {
  if (pretending_) {
    pretending_ = false;
    return length == 4 ? arrow::Status::OK()
                       : arrow::Status::Invalid("a Parquet file began with ", length, " bytes");
  }
  position_ += length;
  if (stream_ == nullptr) return arrow::Status::OK();
  if (!holding_) return stream_->Write(data, length);
  held_.append(static_cast<const char*>(data), static_cast<size_t>(length));
  return arrow::Status::OK();
}

Result<std::string> StreamGate::TakeFooter() {
  holding_ = false;
  std::string held = std::exchange(held_, {});
  constexpr size_t kEndBytes = 8;  // Length and magic.
  uint32_t length = 0;
  for (size_t i = 0; held.size() >= kEndBytes && i < 4; ++i) {
    length |= static_cast<uint32_t>(static_cast<uint8_t>(held[held.size() - kEndBytes + i]))
              << (8 * i);
  }
  if (held.size() < kEndBytes + length || !held.ends_with("PAR1")) {
    return Status::Internal("the end of a Parquet file is not a footer");
  }
  const size_t before = held.size() - kEndBytes - length;
  position_ -= static_cast<int64_t>(held.size() - before);
  if (stream_ != nullptr) {
    SLUICE_RETURN_ARROW(stream_->Write(held.data(), static_cast<int64_t>(before)));
  }
  return held.substr(before, length);
}

ParquetWriter::ParquetWriter(ParquetOptions options, const Schema& schema,
                             std::shared_ptr<arrow::io::OutputStream> stream, int64_t position,
                             bool spanning, arrow::MemoryPool* pool)
    : options_(std::move(options)),
      schema_(schema),
      stream_(std::make_shared<StreamGate>(std::move(stream), position)),
      pool_(pool),
      wall_clock_(options_.wall_clock_zone),
      arrow_properties_(MakeArrowProperties()),
      write_context_(pool, arrow_properties_.get()),
      spanning_(spanning),
      arrow_schema_(schema.ToArrow()) {
  int leaf = 0;
  for (int i = 0; i < schema_.column_count(); ++i) {
    const SqlType& type = schema_.column(i).type;
    if (type.is_timestamp() && !options_.write_int64) int96_ranges_[i].leaf = leaf;
    leaf += LeafCount(type);
  }
}

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
      new ParquetWriter(std::move(options), schema, std::move(stream), 0, false, context.pool));
}

Result<std::unique_ptr<SpanningWriter>> ParquetWriter::MakeSpanning(
    ParquetOptions options, const Schema& schema, std::shared_ptr<arrow::io::OutputStream> stream,
    std::string_view state, const FormatContext& context) {
  SLUICE_RETURN_NOT_OK(CheckColumnTypes(schema));
  SLUICE_ASSIGN_ARROW(const int64_t position, stream->Tell());
  std::unique_ptr<ParquetWriter> writer(new ParquetWriter(
      std::move(options), schema, std::move(stream), position, true, context.pool));
  if (!state.empty()) SLUICE_RETURN_NOT_OK(writer->Restore(state));
  return std::unique_ptr<SpanningWriter>(std::move(writer));
}

Status ParquetWriter::Begin(const Batch* first) {
  if (file_ != nullptr) return {};
  SLUICE_ASSIGN_OR_RETURN(const auto properties, MakeProperties(options_, schema_, first, pool_));
  if (spanning_ && *stream_->Tell() > 0) stream_->PretendStart();
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
  PutInt96Bounds();
  row_group_->Close();
  row_group_ = nullptr;
  kept_rows_.clear();
  kept_bytes_ = 0;
  too_many_rows_ = false;
  return spanning_ ? EndGeneration() : Status();
}

Status ParquetWriter::EndGeneration() {
  stream_->Hold();
  file_->Close();
  file_.reset();
  SLUICE_ASSIGN_OR_RETURN(const std::string bytes, stream_->TakeFooter());
  SLUICE_ASSIGN_OR_RETURN(ParquetFooter footer, ParquetFooter::Parse(bytes));
  if (footer_) {
    footer_->Append(std::move(footer));
  } else {
    footer_ = std::move(footer);
  }
  return {};
}

void ParquetWriter::KeepRows(const Batch& batch) {
  if (!spanning_ || too_many_rows_) return;
  kept_bytes_ += batch.byte_size();
  // One schema for all: whether a column may be NULL differs from batch to batch.
  kept_rows_.push_back(
      arrow::RecordBatch::Make(arrow_schema_, batch.row_count(), batch.rows()->columns()));
  if (kept_bytes_ <= kKeptRowsBytes) return;
  too_many_rows_ = true;
  kept_rows_.clear();
  kept_bytes_ = 0;
}

Result<std::string> ParquetWriter::Save() {
  if (!spanning_) return Status::Internal("Save of a Parquet file that ends at checkpoints");
  if (too_many_rows_) SLUICE_RETURN_NOT_OK(Flush());
  SLUICE_ASSIGN_OR_RETURN(const std::string rows, RowsToBytes(kept_rows_, pool_));
  ByteWriter state;
  state.PutU8(kStateVersion);
  state.PutText(footer_ ? footer_->Serialize() : std::string());
  state.PutBytes(rows);
  return std::move(state).Take();
}

Status ParquetWriter::Restore(std::string_view state) {
  const Status damaged =
      Status::Corrupt("The state of an open Parquet file in the checkpoint is damaged.");
  if (state[0] != kStateVersion) {
    return Status::Corrupt("The state of an open Parquet file has version " +
                           std::to_string(static_cast<int>(state[0])) +
                           ", this program knows version " + std::to_string(kStateVersion) +
                           ". Resume with the release that wrote it, or a newer one.");
  }
  ByteReader in(state.substr(1));
  const std::string_view footer = in.TextView();
  if (!in.ok()) return damaged;
  if (!footer.empty()) {
    SLUICE_ASSIGN_OR_RETURN(footer_, ParquetFooter::Parse(footer));
  }
  if (in.AtEnd()) return {};
  const auto input =
      std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(std::string(in.rest())));
  SLUICE_ASSIGN_ARROW(const auto reader, arrow::ipc::RecordBatchStreamReader::Open(input));
  if (!reader->schema()->Equals(*arrow_schema_)) return damaged;
  while (true) {
    std::shared_ptr<arrow::RecordBatch> rows;
    SLUICE_RETURN_ARROW(reader->ReadNext(&rows));
    if (rows == nullptr) return {};
    SLUICE_RETURN_NOT_OK(Write(Batch(std::move(rows))));
  }
}

Status ParquetWriter::Write(const Batch& batch) {
  try {
    SLUICE_RETURN_NOT_OK(Begin(&batch));
    for (int64_t offset = 0; offset < batch.row_count(); offset += kSliceRows) {
      const int64_t length = std::min(kSliceRows, batch.row_count() - offset);
      SLUICE_RETURN_NOT_OK(
          WriteSlice(length == batch.row_count() ? batch : batch.Slice(offset, length)));
      if (buffered_bytes() - kept_bytes_ >= options_.row_group_bytes) {
        SLUICE_RETURN_NOT_OK(EndRowGroup());
      }
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
    if (int96_ranges_.contains(i)) NoteInt96(i, *values);
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
  KeepRows(batch);
  return {};
}

void ParquetWriter::NoteInt96(int index, const arrow::Array& values) {
  Int96Range& range = int96_ranges_[index];
  const int64_t* const numbers = values.data()->GetValues<int64_t>(1);
  for (int64_t row = 0; row < values.length(); ++row) {
    if (values.IsNull(row)) continue;
    range.min = range.known ? std::min(range.min, numbers[row]) : numbers[row];
    range.max = range.known ? std::max(range.max, numbers[row]) : numbers[row];
    range.known = true;
  }
}

void ParquetWriter::PutInt96Bounds() {
  for (auto& [index, range] : int96_ranges_) {
    if (!std::exchange(range.known, false)) continue;
    const int64_t units = TimestampUnitsPerSecond(schema_.column(index).type.precision());
    row_group_->column(range.leaf)
        ->AddKeyValueMetadata(arrow::key_value_metadata(
            {kInt96MinKey, kInt96MaxKey},
            {Int96BoundText(range.min, units), Int96BoundText(range.max, units)}));
  }
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
  return estimated_file_bytes() - *stream_->Tell() + kLeafOverheadBytes * file_->num_columns() +
         kept_bytes_;
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
    if (!footer_) SLUICE_RETURN_NOT_OK(Begin(nullptr));
    if (!spanning_) {
      file_->Close();
      return {};
    }
    if (file_ != nullptr) SLUICE_RETURN_NOT_OK(EndGeneration());
    const std::string end = footer_->ToFileEnd();
    SLUICE_RETURN_ARROW(stream_->Write(end.data(), static_cast<int64_t>(end.size())));
  } catch (const std::exception& error) {
    return Status::IoError(std::string("Cannot write the footer of a Parquet file: ") +
                           error.what());
  }
  return {};
}

}  // namespace sluice::formats::parquet_format
