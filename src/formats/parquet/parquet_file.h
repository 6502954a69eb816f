// An opened Parquet file.
#pragma once

#include <memory>

#include <arrow/io/interfaces.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>

#include "formats/format.h"
#include "formats/parquet/column_plan.h"
#include "formats/parquet/parquet_options.h"

namespace sluice::formats::parquet_format {

/// Parts are row groups. Not thread-safe; the Rows of a part borrow the file.
class ParquetFile final : public BulkFile {
 public:
  /// The footer is read here, in one request for most files.
  static Result<std::unique_ptr<BulkFile>> Open(ParquetOptions options, ReadSchema schema,
                                                std::shared_ptr<arrow::io::RandomAccessFile> file,
                                                const FormatContext& context);

  int part_count() const override { return metadata_->num_row_groups(); }
  int64_t row_count(int part) const override { return metadata_->RowGroup(part)->num_rows(); }
  bool MayMatch(int part, std::span<const expr::ExprPtr> filters) const override;
  ColumnFacts Facts(int part, int column) const override;
  Result<std::unique_ptr<Rows>> ReadPart(int part) override;

 private:
  ParquetFile(ParquetOptions options, ReadSchema schema, arrow::MemoryPool* pool)
      : options_(std::move(options)), schema_(std::move(schema)), pool_(pool) {}
  Status Load(std::shared_ptr<arrow::io::RandomAccessFile> file);
  // Made when they are first needed: rows are counted, and their statistics looked at, by the
  // footer alone, which of a small file takes less time than either.
  Status LoadFileColumns() const;
  Status LoadReader();
  ::parquet::ParquetFileReader& file() const {
    return reader_ != nullptr ? *reader_->parquet_reader() : *file_;
  }

  const ParquetOptions options_;
  const ReadSchema schema_;
  arrow::MemoryPool* const pool_;
  std::unique_ptr<::parquet::ParquetFileReader> file_;  // Until reader_ has it.
  std::unique_ptr<::parquet::arrow::FileReader> reader_;
  std::shared_ptr<::parquet::FileMetaData> metadata_;
  mutable std::shared_ptr<arrow::Schema> file_columns_;
  ReadPlan plan_;
};

}  // namespace sluice::formats::parquet_format
