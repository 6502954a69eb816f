// One column of a row group: its rows in order, as an array of the table's type.
#pragma once

#include <deque>
#include <memory>

#include <arrow/array/array_base.h>
#include <arrow/record_batch.h>
#include <parquet/arrow/reader.h>

#include "common/result.h"
#include "formats/parquet/column_plan.h"
#include "formats/parquet/int96_column.h"
#include "formats/parquet/page_column.h"
#include "formats/parquet/parquet_options.h"
#include "formats/pruning/row_ranges.h"

namespace sluice::formats::parquet_format {

/// Not thread-safe. Borrows options and plan.
class RowGroupColumn {
 public:
  /// `kept`: the rows that `reader` gives for the column, ascending.
  RowGroupColumn(const ParquetOptions& options, const ColumnPlan& plan, int part,
                 pruning::RowRanges kept, arrow::MemoryPool* pool);
  /// May throw what the Parquet library throws. `reader` must outlive this.
  Status Open(::parquet::arrow::FileReader* reader);

  const std::string& name() const { return plan_.name; }
  /// Reads ahead so that rows from `wanted.begin` on are ready, which must all be kept and come
  /// later than those taken before. All of `wanted` are ready unless they are very large.
  Status Prepare(pruning::RowRange wanted);
  int64_t ready_rows() const;
  /// Those of them that Take gives without a copy.
  int64_t joined_rows() const;
  /// The next `row_count` rows, which must be ready.
  Result<std::shared_ptr<arrow::Array>> Take(int64_t row_count);

  /// What an error of the library says, with column, row group and row.
  Status Damaged(const std::string& reason) const;

 private:
  using ArrayPtr = std::shared_ptr<arrow::Array>;
  /// Position among the kept rows, and back.
  int64_t KeptBefore(int64_t row) const;
  int64_t RowAt(int64_t kept_index) const;
  Status Drop(int64_t row_count);
  /// Appends one array of at least one row to pending_.
  Status ReadMore();
  Result<ArrayPtr> ReadArray();
  /// What the file has next, not converted; of pages and batches, whose length is theirs.
  Result<ArrayPtr> ReadFileArray();
  void Shorten(int64_t row_count);

  const ParquetOptions& options_;
  const ColumnPlan& plan_;
  const int part_;
  const pruning::RowRanges kept_;
  const int64_t kept_count_;
  arrow::MemoryPool* const pool_;
  WallClock wall_clock_;
  std::unique_ptr<PageColumn> pages_;                  // kNumbers.
  std::unique_ptr<arrow::RecordBatchReader> batches_;  // kArrow.
  std::unique_ptr<Int96Source> int96_source_;          // kArrow with INT96 leaves.
  std::unique_ptr<Int96Column> int96_column_;          // kInt96.
  int64_t read_rows_ = 0;                              // Of the kept ones, converted.
  std::deque<ArrayPtr> pending_;                       // Converted and not taken.
  int64_t pending_rows_ = 0;
  int64_t pending_bytes_ = 0;
};

}  // namespace sluice::formats::parquet_format
