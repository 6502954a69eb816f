#include "formats/parquet/row_group_column.h"

#include <algorithm>

#include <arrow/api.h>
#include <arrow/util/byte_size.h>
#include <parquet/exception.h>

#include "formats/parquet/forbidden_nulls.h"
#include "formats/parquet/storage_error.h"
#include "types/arrow_status.h"

namespace sluice::formats::parquet_format {

namespace {

// Arrays are joined up to this: far from the 2 GiB that the offsets of texts can tell.
constexpr int64_t kMostJoinedBytes = 512 << 20;

}  // namespace

RowGroupColumn::RowGroupColumn(const ParquetOptions& options, const ColumnPlan& plan, int part,
                               pruning::RowRanges kept, arrow::MemoryPool* pool)
    : options_(options),
      plan_(plan),
      part_(part),
      kept_(std::move(kept)),
      kept_count_(pruning::CountRows(kept_)),
      pool_(pool),
      wall_clock_(options.wall_clock_zone) {}

Status RowGroupColumn::Open(::parquet::arrow::FileReader* reader) {
  if (plan_.how == ColumnPlan::How::kMissing) return {};
  std::shared_ptr<::parquet::RowGroupReader> row_group;
  if (!plan_.int96_leaves.empty() || plan_.how == ColumnPlan::How::kNumbers)
    row_group = reader->parquet_reader()->RowGroup(part_);
  if (plan_.how == ColumnPlan::How::kNumbers) {
    pages_ = PageColumn::Make(row_group.get(), plan_.first_leaf, plan_.file_type, pool_);
    return {};
  }
  if (plan_.how == ColumnPlan::How::kInt96) {
    const TimestampTarget target{plan_.type, plan_.type.kind() == TypeKind::kTimestamp};
    int96_column_ = std::make_unique<Int96Column>(row_group->Column(plan_.first_leaf), target);
    return {};
  }
  std::vector<int> leaves;
  for (int i = 0; i < plan_.leaf_count; ++i) leaves.push_back(plan_.first_leaf + i);
  SLUICE_ASSIGN_ARROW(batches_, reader->GetRecordBatchReader({part_}, leaves));
  if (plan_.int96_leaves.empty()) return {};
  int96_source_ = std::make_unique<Int96Source>();
  for (const int leaf : plan_.int96_leaves) int96_source_->Add(leaf, row_group->Column(leaf));
  return {};
}

int64_t RowGroupColumn::KeptBefore(int64_t row) const {
  int64_t count = 0;
  for (const pruning::RowRange& range : kept_) {
    if (range.begin >= row) break;
    count += std::min(range.end, row) - range.begin;
  }
  return count;
}

int64_t RowGroupColumn::RowAt(int64_t kept_index) const {
  for (const pruning::RowRange& range : kept_) {
    if (kept_index < range.row_count()) return range.begin + kept_index;
    kept_index -= range.row_count();
  }
  return kept_.empty() ? 0 : kept_.back().end;
}

Status RowGroupColumn::Prepare(pruning::RowRange wanted) {
  if (plan_.how == ColumnPlan::How::kMissing) return {};
  SLUICE_RETURN_NOT_OK(Drop(KeptBefore(wanted.begin) - (read_rows_ - pending_rows_)));
  while (pending_rows_ < wanted.row_count() && pending_bytes_ < kMostJoinedBytes)
    SLUICE_RETURN_NOT_OK(ReadMore());
  return {};
}

int64_t RowGroupColumn::ready_rows() const {
  if (plan_.how == ColumnPlan::How::kMissing) return INT64_MAX;
  return pending_bytes_ < kMostJoinedBytes ? pending_rows_ : pending_.front()->length();
}

int64_t RowGroupColumn::joined_rows() const {
  return plan_.how == ColumnPlan::How::kMissing ? INT64_MAX : pending_.front()->length();
}

Status RowGroupColumn::Drop(int64_t row_count) {
  while (row_count > 0) {
    if (pending_.empty()) SLUICE_RETURN_NOT_OK(ReadMore());
    const int64_t dropped = std::min(row_count, pending_.front()->length());
    Shorten(dropped);
    row_count -= dropped;
  }
  return {};
}

// Takes rows off the front, within the first array.
void RowGroupColumn::Shorten(int64_t row_count) {
  pending_rows_ -= row_count;
  if (row_count < pending_.front()->length()) {
    pending_.front() = pending_.front()->Slice(row_count);
    return;
  }
  pending_.pop_front();
  pending_bytes_ = 0;
  for (const ArrayPtr& array : pending_) pending_bytes_ += arrow::util::TotalBufferSize(*array);
}

Result<std::shared_ptr<arrow::Array>> RowGroupColumn::Take(int64_t row_count) {
  if (plan_.how == ColumnPlan::How::kMissing)
    return FromArrow(arrow::MakeArrayOfNull(plan_.type.ToArrow(), row_count, pool_));
  arrow::ArrayVector pieces;
  while (row_count > 0) {
    const ArrayPtr front = pending_.front();
    const int64_t taken = std::min(row_count, front->length());
    pieces.push_back(taken == front->length() ? front : front->Slice(0, taken));
    Shorten(taken);
    row_count -= taken;
  }
  if (pieces.size() == 1) return pieces[0];
  return FromArrow(arrow::Concatenate(pieces, pool_));
}

Status RowGroupColumn::ReadMore() {
  Result<ArrayPtr> array = ArrayPtr();
  try {
    array = ReadArray();
  } catch (const std::exception& error) {
    SLUICE_RETURN_NOT_OK(StorageError(error));
    return Damaged(error.what());
  }
  if (!array.ok()) return array.status();
  read_rows_ += (*array)->length();
  pending_rows_ += (*array)->length();
  pending_bytes_ += arrow::util::TotalBufferSize(**array);
  pending_.push_back(std::move(*array));
  return {};
}

Result<std::shared_ptr<arrow::Array>> RowGroupColumn::ReadFileArray() {
  ArrayPtr array;
  if (pages_ != nullptr) {
    array = pages_->Next();
  } else {
    std::shared_ptr<arrow::RecordBatch> batch;
    const arrow::Status status = batches_->ReadNext(&batch);
    if (!status.ok()) {
      SLUICE_RETURN_NOT_OK(StorageError(status));
      return Damaged(status.message());
    }
    if (batch != nullptr) array = batch->column(0);
  }
  if (array == nullptr) return Damaged("it has fewer rows than its footer says");
  return array;
}

Result<std::shared_ptr<arrow::Array>> RowGroupColumn::ReadArray() {
  int64_t bad_row = -1;
  int64_t row_count = std::min(options_.batch_rows, kept_count_ - read_rows_);
  ArrayPtr file_array;
  if (int96_column_ == nullptr) {
    SLUICE_ASSIGN_OR_RETURN(file_array, ReadFileArray());
    row_count = file_array->length();
  }
  const SourceTraits traits{plan_.uuid_leaves, int96_source_.get(), plan_.first_leaf};
  Result<ArrayPtr> values =
      file_array == nullptr
          ? int96_column_->Read(row_count, &wall_clock_, pool_)
          : ReadConverter(&wall_clock_, pool_).Convert(file_array, plan_.type, traits, &bad_row);
  if (values.ok()) {
    bad_row = FindForbiddenNull(**values, plan_.type);
    if (bad_row < 0) return values;
    values = Status::DataError("A value is NULL, but the table declares " + plan_.type.ToString() +
                               ". Declare it without NOT NULL");
  }
  std::string where =
      "Cannot read column '" + plan_.name + "' in row group " + std::to_string(part_) + ", ";
  where += bad_row >= 0 ? "row " + std::to_string(RowAt(read_rows_ + bad_row) + 1)
                        : "rows " + std::to_string(RowAt(read_rows_) + 1) + " to " +
                              std::to_string(RowAt(read_rows_ + row_count - 1) + 1);
  return values.status().WithContext(where + ".");
}

Status RowGroupColumn::Damaged(const std::string& reason) const {
  return Status::DataError("Cannot read column '" + plan_.name + "' in row group " +
                           std::to_string(part_) + ", which is damaged after row " +
                           std::to_string(RowAt(read_rows_)) + ": " + reason + ".");
}

}  // namespace sluice::formats::parquet_format
