#include "runtime/operators/replicate_rows.h"

#include <arrow/array/builder_primitive.h>

#include "expr/sort.h"
#include "types/arrow_status.h"

namespace sluice::runtime {

Status ReplicateRowsOperator::Process(Batch batch, Output& out) {
  batch_ = std::move(batch);
  row_ = 0;
  copies_ = 0;
  return Poll(out);
}

Status ReplicateRowsOperator::Poll(Output& out) {
  if (!batch_) return {};
  const auto& counts =
      static_cast<const arrow::Int64Array&>(*batch_->column(batch_->rows()->num_columns() - 1));
  std::vector<int64_t> rows;
  arrow::Int8Builder kinds(context().memory_pool);
  while (row_ < batch_->row_count() && static_cast<int64_t>(rows.size()) < kTargetBatchRows) {
    if (counts.IsNull(row_) || copies_ >= counts.Value(row_)) {
      ++row_;
      copies_ = 0;
      continue;
    }
    const RowKind kind = batch_->row_kind(row_);
    const bool back = kind == RowKind::kUpdateBefore || kind == RowKind::kDelete;
    SLUICE_RETURN_ARROW(
        kinds.Append(static_cast<int8_t>(back ? RowKind::kDelete : RowKind::kInsert)));
    rows.push_back(row_);
    ++copies_;
  }
  SLUICE_ASSIGN_OR_RETURN(const auto taken,
                          expr::TakeRows(*batch_->rows(), rows, context().memory_pool));
  std::shared_ptr<arrow::Int8Array> kind_column;
  if (batch_->row_kinds() != nullptr) SLUICE_RETURN_ARROW(kinds.Finish(&kind_column));
  if (row_ >= batch_->row_count()) batch_.reset();
  context().wake();
  if (taken->num_rows() == 0) return {};
  arrow::ArrayVector columns = taken->columns();
  columns.pop_back();
  return out.Emit(
      Batch(arrow::RecordBatch::Make(output_schema_, taken->num_rows(), std::move(columns)),
            std::move(kind_column)));
}

}  // namespace sluice::runtime
