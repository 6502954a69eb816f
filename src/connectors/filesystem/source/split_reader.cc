#include "connectors/filesystem/source/split_reader.h"

#include "connectors/filesystem/source/split_aggregator.h"
#include "connectors/filesystem/source/text_split_reader.h"

namespace sluice::connectors::filesystem {

namespace {

// Row groups, stripes or blocks of a container.
class BulkSplitReader final : public SplitReader {
 public:
  BulkSplitReader(std::shared_ptr<const FileSourceSpec> spec, const FileSplit& split,
                  std::unique_ptr<formats::BulkFile> file)
      : spec_(std::move(spec)), file_(std::move(file)), part_(split.position) {
    end_ = std::min<int64_t>(split.end, file_->part_count());
    skip_rows_ = split.records;
  }

  Result<FetchedUnit> Fetch() override {
    FetchedUnit unit;
    while (part_ < end_) {
      if (rows_ == nullptr) {
        if (!file_->MayMatch(static_cast<int>(part_), spec_->filters)) {
          NextPart();
          continue;
        }
        SLUICE_ASSIGN_OR_RETURN(rows_, file_->ReadPart(static_cast<int>(part_)));
      }
      SLUICE_ASSIGN_OR_RETURN(std::optional<Batch> batch, rows_->Next());
      if (!batch) {
        NextPart();
        continue;
      }
      row_ += batch->row_count();
      if (row_ <= skip_rows_)
        continue;  // Read before the checkpoint that this split was restored from.
      const int64_t wanted = std::min(batch->row_count(), row_ - skip_rows_);
      unit.bytes_read = batch->byte_size();
      unit.rows = wanted == batch->row_count() ? std::move(*batch)
                                               : batch->Slice(batch->row_count() - wanted, wanted);
      skip_rows_ = 0;
      break;
    }
    unit.position = part_;
    unit.records = part_ < end_ ? row_ : 0;
    unit.last = part_ >= end_ || (part_ + 1 == end_ && AtPartEnd());
    return unit;
  }

 private:
  /// Also false where only one more read can tell.
  bool AtPartEnd() const {
    const int64_t rows = file_->row_count(static_cast<int>(part_));
    return rows >= 0 && row_ >= rows;
  }

  void NextPart() {
    rows_.reset();
    ++part_;
    row_ = 0;
    skip_rows_ = 0;
  }

  const std::shared_ptr<const FileSourceSpec> spec_;
  const std::unique_ptr<formats::BulkFile> file_;
  std::unique_ptr<formats::BulkFile::Rows> rows_;  // Of part_; goes before the file.
  int64_t part_;
  int64_t end_ = 0;
  int64_t row_ = 0;  // Rows of part_ read.
  int64_t skip_rows_ = 0;
};

// Aggregates of a container instead of its rows, part by part.
class AggregateReader final : public SplitReader {
 public:
  AggregateReader(std::shared_ptr<const FileSourceSpec> spec, FileSplit split,
                  std::unique_ptr<formats::BulkFile> file, arrow::MemoryPool* pool)
      : spec_(std::move(spec)), split_(std::move(split)), file_(std::move(file)), pool_(pool) {
    end_ = std::min<int64_t>(split_.end, file_->part_count());
  }

  Result<FetchedUnit> Fetch() override {
    FetchedUnit unit;
    if (split_.position < end_) {
      SLUICE_ASSIGN_OR_RETURN(const auto aggregator, SplitAggregator::Make(spec_, pool_));
      SLUICE_RETURN_NOT_OK(aggregator->Begin(split_));
      SLUICE_RETURN_NOT_OK(aggregator->AddPart(file_.get(), static_cast<int>(split_.position),
                                               std::exchange(split_.records, 0)));
      aggregator->End();
      SLUICE_ASSIGN_OR_RETURN(unit.rows, aggregator->Finish());
      ++split_.position;
    }
    unit.position = split_.position;
    unit.last = split_.position >= end_;
    if (unit.last) unit.bytes_read = split_.file.size_bytes;
    return unit;
  }

 private:
  const std::shared_ptr<const FileSourceSpec> spec_;
  FileSplit split_;  // Its position and records tell what is next.
  const std::unique_ptr<formats::BulkFile> file_;
  arrow::MemoryPool* const pool_;
  int64_t end_ = 0;
};

}  // namespace

Result<std::unique_ptr<formats::BulkFile>> OpenContainer(const FileSourceSpec& spec,
                                                         const FileSplit& split,
                                                         arrow::MemoryPool* pool) {
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::io::RandomAccessFile> file,
                          spec.file_system->OpenFound(split.file));
  formats::FormatContext context;
  context.session_zone = spec.session_zone;
  context.pool = pool;
  return spec.format->open_bulk_file(spec.format_options, spec.read_schema, std::move(file),
                                     context);
}

Result<std::unique_ptr<SplitReader>> OpenSplit(std::shared_ptr<const FileSourceSpec> spec,
                                               const FileSplit& split, arrow::MemoryPool* pool) {
  if (!spec->is_bulk()) {
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::io::RandomAccessFile> file,
                            spec->file_system->OpenFound(split.file));
    return TextSplitReader::Open(std::move(spec), split, std::move(file));
  }
  SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<formats::BulkFile> opened,
                          OpenContainer(*spec, split, pool));
  if (spec->aggregates) {
    return std::unique_ptr<SplitReader>(
        std::make_unique<AggregateReader>(std::move(spec), split, std::move(opened), pool));
  }
  return std::unique_ptr<SplitReader>(
      std::make_unique<BulkSplitReader>(std::move(spec), split, std::move(opened)));
}

}  // namespace sluice::connectors::filesystem
