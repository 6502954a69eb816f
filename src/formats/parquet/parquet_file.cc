#include "formats/parquet/parquet_file.h"

#include <arrow/api.h>
#include <parquet/exception.h>
#include <parquet/statistics.h>

#include "formats/parquet/row_group_rows.h"
#include "formats/pruning/bounds.h"
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
  return properties;
}

::parquet::ArrowReaderProperties MakeArrowProperties(const ParquetOptions& options,
                                                     bool nanoseconds) {
  ::parquet::ArrowReaderProperties properties(/*use_threads=*/false);
  properties.set_batch_size(options.batch_rows);
  properties.set_pre_buffer(false);
  properties.set_coerce_int96_timestamp_unit(nanoseconds ? arrow::TimeUnit::NANO
                                                         : arrow::TimeUnit::MICRO);
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

}  // namespace

// Statistics of a row group's column chunks as bounds.
class RowGroupBounds final : public pruning::BoundsSource {
 public:
  RowGroupBounds(const ParquetFile& file, int part)
      : file_(file), row_group_(file.metadata_->RowGroup(part)) {}

  std::optional<pruning::ColumnBounds> Bounds(int column) const override {
    const Column& wanted = file_.schema_.physical.column(column);
    const ::parquet::SchemaDescriptor& schema = *file_.metadata_->schema();
    const int field = FindField(schema, wanted.name);
    pruning::ColumnBounds bounds;
    bounds.row_count = row_group_->num_rows();
    if (field < 0) {
      bounds.null_count = bounds.row_count;
      return bounds;
    }
    if (!schema.group_node()->field(field)->is_primitive()) return std::nullopt;
    int leaf = 0;
    while (schema.GetColumnRoot(leaf) != schema.group_node()->field(field).get()) ++leaf;
    const auto statistics = row_group_->ColumnChunk(leaf)->statistics();
    if (schema.Column(leaf)->max_repetition_level() > 0 || statistics == nullptr)
      return std::nullopt;
    if (statistics->HasNullCount()) bounds.null_count = statistics->null_count();
    if (schema.Column(leaf)->max_definition_level() == 0) bounds.null_count = 0;
    if (statistics->HasMinMax())
      bounds.min_max = MinMax(wanted.type, *statistics, *schema.Column(leaf), field);
    return bounds;
  }

 private:
  std::shared_ptr<arrow::Array> MinMax(const SqlType& type, const ::parquet::Statistics& statistics,
                                       const ::parquet::ColumnDescriptor& leaf, int field) const {
    // Padding makes the order of CHAR another one; a shift between zones is not monotonous.
    if (type.kind() == TypeKind::kChar || leaf.physical_type() == ::parquet::Type::INT96)
      return nullptr;
    if (!CanRead(*file_.file_columns_->field(field)->type(), type)) return nullptr;
    WallClock wall_clock(file_.options_.wall_clock_zone);
    const bool shifted = type.kind() == TypeKind::kTimestamp &&
                         leaf.logical_type()->is_timestamp() &&
                         static_cast<const ::parquet::TimestampLogicalType&>(*leaf.logical_type())
                             .is_adjusted_to_utc();
    if (shifted && !wall_clock.is_utc()) return nullptr;
    std::shared_ptr<arrow::Scalar> min;
    std::shared_ptr<arrow::Scalar> max;
    if (!::parquet::arrow::StatisticsAsScalars(statistics, &min, &max).ok()) return nullptr;
    const auto first = arrow::MakeArrayFromScalar(*min, 1, file_.pool_);
    const auto second = arrow::MakeArrayFromScalar(*max, 1, file_.pool_);
    if (!first.ok() || !second.ok()) return nullptr;
    const auto both = arrow::Concatenate({*first, *second}, file_.pool_);
    if (!both.ok() || !CanRead(*(*both)->type(), type)) return nullptr;
    int64_t bad_row = -1;
    const auto converted =
        ReadConverter(&wall_clock, file_.pool_).Convert(*both, type, {}, &bad_row);
    return converted.ok() ? *converted : nullptr;
  }

  const ParquetFile& file_;
  const std::unique_ptr<::parquet::RowGroupMetaData> row_group_;
};

Result<std::unique_ptr<BulkFile>> ParquetFile::Open(
    ParquetOptions options, ReadSchema schema, std::shared_ptr<arrow::io::RandomAccessFile> file,
    const FormatContext& context) {
  std::unique_ptr<ParquetFile> opened(
      new ParquetFile(std::move(options), std::move(schema), context.pool));
  SLUICE_ASSIGN_ARROW(const int64_t size, file->GetSize());
  if (size < kSmallestFileBytes) {
    return Status::DataError(
        "The file is not a Parquet file (length is too low: " + std::to_string(size) + ").");
  }
  try {
    SLUICE_RETURN_NOT_OK(opened->Load(file));
  } catch (const std::exception& error) {
    return OpenError(*file, size, error.what());
  }
  return std::unique_ptr<BulkFile>(std::move(opened));
}

Status ParquetFile::Load(std::shared_ptr<arrow::io::RandomAccessFile> file) {
  auto parquet_reader = ::parquet::ParquetFileReader::Open(file, MakeReaderProperties(pool_));
  metadata_ = parquet_reader->metadata();
  // How Arrow sees the columns does not depend on the unit of INT96, which depends on what is
  // wanted.
  SLUICE_ASSIGN_ARROW(reader_,
                      ::parquet::arrow::FileReader::Make(pool_, std::move(parquet_reader),
                                                         MakeArrowProperties(options_, false)));
  SLUICE_RETURN_ARROW(reader_->GetSchema(&file_columns_));
  SLUICE_ASSIGN_OR_RETURN(plan_, MakeReadPlan(schema_, *metadata_->schema(), *file_columns_));
  if (plan_.nested_nanoseconds) {
    parquet_reader =
        ::parquet::ParquetFileReader::Open(file, MakeReaderProperties(pool_), metadata_);
    SLUICE_ASSIGN_ARROW(reader_,
                        ::parquet::arrow::FileReader::Make(pool_, std::move(parquet_reader),
                                                           MakeArrowProperties(options_, true)));
  }
  return {};
}

bool ParquetFile::MayMatch(int part, std::span<const expr::ExprPtr> filters) const {
  try {
    if (row_count(part) == 0) return false;
    const RowGroupBounds bounds(*this, part);
    return std::all_of(filters.begin(), filters.end(), [&](const expr::ExprPtr& filter) {
      return pruning::MayMatch(*filter, bounds);
    });
  } catch (const std::exception&) {
    return true;  // Damaged statistics prove nothing.
  }
}

Result<std::unique_ptr<BulkFile::Rows>> ParquetFile::ReadPart(int part) {
  return RowGroupRows::Make(options_, plan_, schema_.output(), part, reader_.get(), pool_);
}

}  // namespace sluice::formats::parquet_format
