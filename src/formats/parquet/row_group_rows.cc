#include "formats/parquet/row_group_rows.h"

#include <algorithm>

#include <arrow/api.h>
#include <parquet/exception.h>

#include "formats/parquet/paged_file.h"
#include "formats/parquet/storage_error.h"
#include "types/arrow_status.h"

namespace sluice::formats::parquet_format {

using pruning::RowRange;
using pruning::RowRanges;

Result<std::unique_ptr<BulkFile::Rows>> RowGroupRows::Make(const RowGroupSource& source,
                                                           const Schema& output, int part,
                                                           RowRanges wanted) {
  const int64_t row_count = source.reader.parquet_reader()->metadata()->RowGroup(part)->num_rows();
  std::unique_ptr<RowGroupRows> rows(
      new RowGroupRows(output, part, row_count, source.options.batch_rows, std::move(wanted)));
  try {
    SLUICE_RETURN_NOT_OK(rows->Open(source));
  } catch (const std::exception& error) {
    SLUICE_RETURN_NOT_OK(StorageError(error));
    return Status::DataError("Cannot read row group " + std::to_string(part) +
                             ", which is damaged: " + error.what() + ".");
  }
  return std::unique_ptr<BulkFile::Rows>(std::move(rows));
}

std::vector<RowRanges> RowGroupRows::SelectColumns(const RowGroupSource& source,
                                                   PageSelection* selection) const {
  const std::vector<ColumnPlan>& plans = source.plan.columns;
  std::vector<RowRanges> kept(plans.size(), RowRanges{{0, row_count_}});
  if (pruning::CountRows(wanted_) == row_count_) return kept;
  ::parquet::ParquetFileReader& file = *source.reader.parquet_reader();
  const auto row_group = file.metadata()->RowGroup(part_);
  const auto file_indexes = file.GetPageIndexReader();
  const auto indexes = file_indexes == nullptr ? nullptr : file_indexes->RowGroup(part_);
  if (indexes == nullptr) return kept;
  for (size_t i = 0; i < plans.size(); ++i) {
    if (plans[i].how == ColumnPlan::How::kMissing) continue;
    kept[i] = SelectPages(*row_group, indexes.get(), plans[i].first_leaf, plans[i].leaf_count,
                          wanted_, selection);
  }
  return kept;
}

Status RowGroupRows::Open(const RowGroupSource& source) {
  PageSelection selection;
  const std::vector<RowRanges> kept = SelectColumns(source, &selection);
  ::parquet::arrow::FileReader* reader = &source.reader;
  if (!selection.empty()) {
    SLUICE_ASSIGN_ARROW(selected_pages_,
                        ::parquet::arrow::FileReader::Make(
                            source.pool,
                            OpenPagedFile(source.reader.parquet_reader(), source.file,
                                          source.reader_properties, std::move(selection)),
                            source.arrow_properties));
    reader = selected_pages_.get();
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    columns_.push_back(std::make_unique<RowGroupColumn>(source.options, source.plan.columns[i],
                                                        part_, kept[i], source.pool));
    SLUICE_RETURN_NOT_OK(columns_.back()->Open(reader));
  }
  return {};
}

Result<std::optional<Batch>> RowGroupRows::Next() {
  while (range_ < wanted_.size() && position_ >= wanted_[range_].end) ++range_;
  if (range_ == wanted_.size()) {
    position_ = row_count_;
    return std::optional<Batch>();
  }
  RowRange rows{std::max(position_, wanted_[range_].begin), wanted_[range_].end};
  if (!columns_.empty()) rows.end = std::min(rows.end, rows.begin + batch_rows_);
  int64_t length = rows.row_count();
  int64_t joined = wanted_[range_].end - rows.begin;
  for (const auto& column : columns_) {
    SLUICE_RETURN_NOT_OK(column->Prepare(rows));
    length = std::min(length, column->ready_rows());
    joined = std::min(joined, column->joined_rows());
  }
  // Pages that are about as long as a batch are handed on as they are.
  if (!columns_.empty() && joined >= batch_rows_ / 2 && joined <= batch_rows_ * 2) length = joined;
  arrow::ArrayVector arrays;
  for (const auto& column : columns_) {
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> values, column->Take(length));
    arrays.push_back(std::move(values));
  }
  position_ = rows.begin + length;
  return std::optional<Batch>(Batch(arrow::RecordBatch::Make(output_, length, std::move(arrays))));
}

}  // namespace sluice::formats::parquet_format
