// An opened Parquet file.
#pragma once

#include <memory>

#include <arrow/io/interfaces.h>
#include <parquet/arrow/reader.h>
#include <parquet/file_reader.h>

#include "formats/format.h"
#include "formats/parquet/column_plan.h"
#include "formats/parquet/parquet_options.h"
#include "formats/pruning/row_ranges.h"

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
  Result<std::unique_ptr<Rows>> ReadPart(int part, std::span<const expr::ExprPtr> filters) override;

 private:
  ParquetFile(ParquetOptions options, ReadSchema schema,
              std::shared_ptr<arrow::io::RandomAccessFile> file, arrow::MemoryPool* pool);
  Status Load();
  // Made when they are first needed: rows are counted, and their statistics looked at, by the
  // footer alone, which of a small file takes less time than either.
  Status LoadFileColumns() const;
  Status LoadReader();
  /// The rows of `part` that may pass; all when nothing can be told.
  const pruning::RowRanges& Judge(int part, std::span<const expr::ExprPtr> filters) const;

  const ParquetOptions options_;
  const ReadSchema schema_;
  const std::shared_ptr<arrow::io::RandomAccessFile> file_;
  arrow::MemoryPool* const pool_;
  const ::parquet::ReaderProperties reader_properties_;
  const ::parquet::ArrowReaderProperties arrow_properties_;
  std::unique_ptr<::parquet::ParquetFileReader> footer_;
  std::unique_ptr<::parquet::arrow::FileReader> reader_;  // Borrows footer_.
  std::shared_ptr<::parquet::FileMetaData> metadata_;
  mutable std::shared_ptr<arrow::Schema> file_columns_;
  ReadPlan plan_;
  // What was asked last: a part is judged, then read.
  mutable int judged_part_ = -1;
  mutable std::vector<expr::ExprPtr> judged_filters_;
  mutable pruning::RowRanges judged_rows_;
};

}  // namespace sluice::formats::parquet_format
