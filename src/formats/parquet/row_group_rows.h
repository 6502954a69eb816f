// The rows of one row group, batch by batch.
#pragma once

#include <memory>
#include <vector>

#include <arrow/record_batch.h>
#include <parquet/arrow/reader.h>

#include "formats/format.h"
#include "formats/parquet/column_plan.h"
#include "formats/parquet/int96_column.h"
#include "formats/parquet/parquet_options.h"

namespace sluice::formats::parquet_format {

/// Borrows `reader` and `plan`.
class RowGroupRows final : public BulkFile::Rows {
 public:
  static Result<std::unique_ptr<BulkFile::Rows>> Make(const ParquetOptions& options,
                                                      const ReadPlan& plan, const Schema& output,
                                                      int part,
                                                      ::parquet::arrow::FileReader* reader,
                                                      arrow::MemoryPool* pool);
  Result<std::optional<Batch>> Next() override;
  int64_t position() const override { return rows_read_; }

 private:
  RowGroupRows(const ParquetOptions& options, const ReadPlan& plan, const Schema& output, int part,
               ::parquet::arrow::FileReader* reader, arrow::MemoryPool* pool)
      : options_(options),
        plan_(plan),
        output_(output.ToArrow()),
        part_(part),
        reader_(reader),
        pool_(pool),
        wall_clock_(options.wall_clock_zone) {}
  Status Open();
  /// What an error of the library says, with row group, column and row.
  Status Damaged(const std::string& reason) const;
  /// The first column that cannot be read alone; empty when each can. Arrow does not tell.
  std::string FindDamagedColumn() const;
  Result<std::optional<Batch>> ReadBatch();
  Result<std::shared_ptr<arrow::Array>> ReadColumn(
      size_t index, int64_t row_count, const std::shared_ptr<arrow::RecordBatch>& from_arrow);

  const ParquetOptions& options_;
  const ReadPlan& plan_;
  const std::shared_ptr<arrow::Schema> output_;
  const int part_;
  ::parquet::arrow::FileReader* const reader_;
  arrow::MemoryPool* const pool_;
  WallClock wall_clock_;
  int64_t row_count_ = 0;
  int64_t rows_read_ = 0;
  std::unique_ptr<arrow::RecordBatchReader>
      arrow_batches_;  // Null when no column comes through Arrow.
  std::vector<std::unique_ptr<Int96Source>> int96_sources_;  // By output column; null for others.
  std::vector<std::unique_ptr<Int96Column>> int96_columns_;  // By output column; null for others.
};

}  // namespace sluice::formats::parquet_format
