#include "runtime/operators/held_rows.h"

#include <algorithm>

#include "expr/group_table.h"
#include "expr/sort.h"
#include "runtime/operators/rows_in_state.h"

namespace sluice::runtime {

Result<std::vector<int64_t>> CancelEqualRows(const Schema& schema, const arrow::RecordBatch& rows,
                                             const arrow::RecordBatch& minus,
                                             arrow::MemoryPool* pool) {
  expr::GroupTable table(schema, pool);
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> group_of_row, table.GroupIds(rows));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> group_of_minus, table.FindGroupIds(minus));
  std::vector<int64_t> to_cancel(static_cast<size_t>(table.group_count()));
  for (const int32_t group : group_of_minus) {
    if (group >= 0) ++to_cancel[static_cast<size_t>(group)];
  }
  std::vector<int64_t> left;
  for (int64_t row = rows.num_rows(); row-- > 0;) {
    int64_t& cancel = to_cancel[static_cast<size_t>(group_of_row[static_cast<size_t>(row)])];
    if (cancel > 0) {
      --cancel;
    } else {
      left.push_back(row);
    }
  }
  std::reverse(left.begin(), left.end());
  return left;
}

Status HeldRows::Add(const Batch& batch, arrow::MemoryPool* pool) {
  bytes_ += batch.byte_size();
  if (batch.row_kinds() == nullptr) {
    inserted_.push_back(batch.rows());
    row_count_ += batch.row_count();
    return {};
  }
  std::vector<int64_t> added;
  std::vector<int64_t> taken_back;
  for (int64_t row = 0; row < batch.row_count(); ++row) {
    const RowKind kind = batch.row_kind(row);
    const bool back = kind == RowKind::kUpdateBefore || kind == RowKind::kDelete;
    (back ? taken_back : added).push_back(row);
  }
  has_changes_ = true;
  if (!added.empty()) {
    SLUICE_ASSIGN_OR_RETURN(auto rows, expr::TakeRows(*batch.rows(), added, pool));
    row_count_ += rows->num_rows();
    inserted_.push_back(std::move(rows));
  }
  if (taken_back.empty()) return {};
  SLUICE_ASSIGN_OR_RETURN(auto rows, expr::TakeRows(*batch.rows(), taken_back, pool));
  taken_back_.push_back(std::move(rows));
  return {};
}

Result<std::shared_ptr<arrow::RecordBatch>> HeldRows::Settle(arrow::MemoryPool* pool) {
  SLUICE_ASSIGN_OR_RETURN(auto rows, Concatenate(inserted_, arrow_, pool));
  if (!taken_back_.empty()) {
    SLUICE_ASSIGN_OR_RETURN(const auto minus, Concatenate(taken_back_, arrow_, pool));
    SLUICE_ASSIGN_OR_RETURN(const std::vector<int64_t> left,
                            CancelEqualRows(schema_, *rows, *minus, pool));
    SLUICE_ASSIGN_OR_RETURN(rows, expr::TakeRows(*rows, left, pool));
    taken_back_.clear();
  }
  Replace(rows);
  return rows;
}

void HeldRows::Replace(std::shared_ptr<arrow::RecordBatch> rows) {
  row_count_ = rows->num_rows();
  bytes_ = Batch(rows).byte_size();
  inserted_ = {std::move(rows)};
}

void HeldRows::Clear() {
  inserted_.clear();
  taken_back_.clear();
  row_count_ = 0;
  bytes_ = 0;
}

}  // namespace sluice::runtime
