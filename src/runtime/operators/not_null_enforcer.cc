#include "runtime/operators/not_null_enforcer.h"

#include "expr/sort.h"

namespace sluice::runtime {

NotNullEnforcer::NotNullEnforcer(std::vector<int> columns, const Schema& schema, bool drop)
    : columns_(std::move(columns)), schema_(schema.ToArrow()), drop_(drop) {}

Status NotNullEnforcer::Open(TaskContext& context) {
  SLUICE_RETURN_NOT_OK(Operator::Open(context));
  dropped_ = &context.metrics->Counter("not_null_dropped");
  return {};
}

Status NotNullEnforcer::Process(Batch batch, Output& out) {
  std::vector<bool> drop_row;
  for (const int column : columns_) {
    const std::shared_ptr<arrow::Array> values = batch.column(column);
    if (values->null_count() == 0) continue;
    if (!drop_) {
      return Status::DataError("Column '" + schema_->field(column)->name() +
                               "' is NOT NULL, however, a null value is being written into it. You "
                               "can set job configuration "
                               "'table.exec.sink.not-null-enforcer'='DROP' to suppress this "
                               "exception and drop such records "
                               "silently.");
    }
    drop_row.resize(static_cast<size_t>(batch.row_count()), false);
    for (int64_t row = 0; row < batch.row_count(); ++row) {
      if (values->IsNull(row)) drop_row[static_cast<size_t>(row)] = true;
    }
  }
  if (drop_row.empty()) return out.Emit(std::move(batch));
  std::vector<int64_t> kept;
  for (int64_t row = 0; row < batch.row_count(); ++row) {
    if (!drop_row[static_cast<size_t>(row)]) kept.push_back(row);
  }
  *dropped_ += batch.row_count() - static_cast<int64_t>(kept.size());
  if (kept.empty()) return {};
  SLUICE_ASSIGN_OR_RETURN(batch, expr::TakeRows(batch, kept, context().memory_pool));
  return out.Emit(std::move(batch));
}

}  // namespace sluice::runtime
