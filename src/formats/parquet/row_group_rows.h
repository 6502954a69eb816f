// The rows of one row group, batch by batch.
#pragma once

#include <memory>
#include <vector>

#include <arrow/io/interfaces.h>
#include <parquet/arrow/reader.h>

#include "formats/format.h"
#include "formats/parquet/column_plan.h"
#include "formats/parquet/page_selection.h"
#include "formats/parquet/parquet_options.h"
#include "formats/parquet/row_group_column.h"
#include "formats/pruning/row_ranges.h"

namespace sluice::formats::parquet_format {

/// What the rows of a file's row groups are read with. Borrows everything.
struct RowGroupSource {
  const ParquetOptions& options;
  const ReadPlan& plan;
  ::parquet::arrow::FileReader& reader;
  const std::shared_ptr<arrow::io::RandomAccessFile>& file;
  const ::parquet::ReaderProperties& reader_properties;
  const ::parquet::ArrowReaderProperties& arrow_properties;
  arrow::MemoryPool* pool;
};

class RowGroupRows final : public BulkFile::Rows {
 public:
  /// `wanted`: the rows that are given; pages without any of them are not read.
  static Result<std::unique_ptr<BulkFile::Rows>> Make(const RowGroupSource& source,
                                                      const Schema& output, int part,
                                                      pruning::RowRanges wanted);
  Result<std::optional<Batch>> Next() override;
  int64_t position() const override { return position_; }

 private:
  RowGroupRows(const Schema& output, int part, int64_t row_count, int64_t batch_rows,
               pruning::RowRanges wanted)
      : output_(output.ToArrow()),
        part_(part),
        row_count_(row_count),
        batch_rows_(batch_rows),
        wanted_(std::move(wanted)) {}
  Status Open(const RowGroupSource& source);
  /// The rows that each column is read for.
  std::vector<pruning::RowRanges> SelectColumns(const RowGroupSource& source,
                                                PageSelection* selection) const;

  const std::shared_ptr<arrow::Schema> output_;
  const int part_;
  const int64_t row_count_;
  const int64_t batch_rows_;
  const pruning::RowRanges wanted_;
  size_t range_ = 0;  // Of wanted_, in which position_ lies or which comes next.
  int64_t position_ = 0;
  std::unique_ptr<::parquet::arrow::FileReader> selected_pages_;  // Null: all are read.
  std::vector<std::unique_ptr<RowGroupColumn>> columns_;  // Of the output. Go before the reader.
};

}  // namespace sluice::formats::parquet_format
