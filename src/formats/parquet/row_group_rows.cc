#include "formats/parquet/row_group_rows.h"

#include <arrow/api.h>
#include <parquet/exception.h>

#include "formats/parquet/storage_error.h"
#include "types/arrow_status.h"

namespace sluice::formats::parquet_format {

Result<std::unique_ptr<BulkFile::Rows>> RowGroupRows::Make(const ParquetOptions& options,
                                                           const ReadPlan& plan,
                                                           const Schema& output, int part,
                                                           ::parquet::arrow::FileReader* reader,
                                                           arrow::MemoryPool* pool) {
  std::unique_ptr<RowGroupRows> rows(new RowGroupRows(options, plan, output, part, reader, pool));
  try {
    SLUICE_RETURN_NOT_OK(rows->Open());
  } catch (const std::exception& error) {
    SLUICE_RETURN_NOT_OK(StorageError(error));
    return rows->Damaged(error.what());
  }
  return std::unique_ptr<BulkFile::Rows>(std::move(rows));
}

Status RowGroupRows::Open() {
  row_count_ = reader_->parquet_reader()->metadata()->RowGroup(part_)->num_rows();
  if (!plan_.arrow_leaves.empty()) {
    SLUICE_ASSIGN_ARROW(arrow_batches_, reader_->GetRecordBatchReader({part_}, plan_.arrow_leaves));
  }
  int96_columns_.resize(plan_.columns.size());
  int96_sources_.resize(plan_.columns.size());
  std::shared_ptr<::parquet::RowGroupReader> row_group;
  for (size_t i = 0; i < plan_.columns.size(); ++i) {
    const ColumnPlan& column = plan_.columns[i];
    if (column.int96_leaves.empty()) continue;
    if (row_group == nullptr) row_group = reader_->parquet_reader()->RowGroup(part_);
    if (column.how == ColumnPlan::How::kArrow) {
      int96_sources_[i] = std::make_unique<Int96Source>();
      for (const int leaf : column.int96_leaves)
        int96_sources_[i]->Add(leaf, row_group->Column(leaf));
      continue;
    }
    const TimestampTarget target{column.type, column.type.kind() == TypeKind::kTimestamp};
    int96_columns_[i] = std::make_unique<Int96Column>(row_group->Column(column.first_leaf), target);
  }
  return {};
}

Result<std::optional<Batch>> RowGroupRows::Next() {
  try {
    return ReadBatch();
  } catch (const std::exception& error) {
    SLUICE_RETURN_NOT_OK(StorageError(error));
    return Damaged(error.what());
  }
}

Status RowGroupRows::Damaged(const std::string& reason) const {
  const std::string column = FindDamagedColumn();
  return Status::DataError("Cannot read " + (column.empty() ? "" : "column '" + column + "' in ") +
                           "row group " + std::to_string(part_) + ", which is damaged after row " +
                           std::to_string(rows_read_) + ": " + reason + ".");
}

std::string RowGroupRows::FindDamagedColumn() const {
  for (const ColumnPlan& column : plan_.columns) {
    if (column.how == ColumnPlan::How::kMissing) continue;
    try {
      std::vector<int> leaves;
      for (int i = 0; i < column.leaf_count; ++i) leaves.push_back(column.first_leaf + i);
      const auto batches = reader_->GetRecordBatchReader({part_}, leaves);
      if (!batches.ok()) return column.name;
      std::shared_ptr<arrow::RecordBatch> batch;
      do {
        if (!(*batches)->ReadNext(&batch).ok()) return column.name;
      } while (batch != nullptr);
    } catch (const std::exception&) {
      return column.name;
    }
  }
  return "";
}

Result<std::optional<Batch>> RowGroupRows::ReadBatch() {
  if (rows_read_ >= row_count_) return std::optional<Batch>();
  int64_t length = row_count_ - rows_read_;
  if (!plan_.columns.empty()) length = std::min(length, options_.batch_rows);
  std::shared_ptr<arrow::RecordBatch> from_arrow;
  if (arrow_batches_ != nullptr) {
    const arrow::Status status = arrow_batches_->ReadNext(&from_arrow);
    if (!status.ok()) {
      SLUICE_RETURN_NOT_OK(StorageError(status));
      return Damaged(status.message());
    }
    if (from_arrow == nullptr) return Damaged("it has fewer rows than its footer says");
    length = from_arrow->num_rows();
  }
  arrow::ArrayVector columns;
  for (size_t i = 0; i < plan_.columns.size(); ++i) {
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Array> values,
                            ReadColumn(i, length, from_arrow));
    columns.push_back(std::move(values));
  }
  rows_read_ += length;
  return std::optional<Batch>(Batch(arrow::RecordBatch::Make(output_, length, std::move(columns))));
}

Result<std::shared_ptr<arrow::Array>> RowGroupRows::ReadColumn(
    size_t index, int64_t row_count, const std::shared_ptr<arrow::RecordBatch>& from_arrow) {
  const ColumnPlan& column = plan_.columns[index];
  int64_t bad_row = -1;
  Result<std::shared_ptr<arrow::Array>> values = Status::Internal("column not read");
  switch (column.how) {
    case ColumnPlan::How::kMissing:
      return FromArrow(arrow::MakeArrayOfNull(column.type.ToArrow(), row_count, pool_));
    case ColumnPlan::How::kInt96:
      values = int96_columns_[index]->Read(row_count, &wall_clock_, pool_);
      break;
    case ColumnPlan::How::kArrow: {
      SourceTraits traits = column.traits;
      traits.int96 = int96_sources_[index].get();
      values =
          ReadConverter(&wall_clock_, pool_)
              .Convert(from_arrow->column(column.arrow_position), column.type, traits, &bad_row);
      break;
    }
  }
  if (values.ok()) return values;
  std::string where =
      "Cannot read column '" + column.name + "' in row group " + std::to_string(part_) + ", ";
  where += bad_row >= 0 ? "row " + std::to_string(rows_read_ + bad_row + 1)
                        : "rows " + std::to_string(rows_read_ + 1) + " to " +
                              std::to_string(rows_read_ + row_count);
  return values.status().WithContext(where + ".");
}

}  // namespace sluice::formats::parquet_format
