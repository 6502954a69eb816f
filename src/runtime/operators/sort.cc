#include "runtime/operators/sort.h"

#include <algorithm>

#include <arrow/util/byte_size.h>

#include "expr/group_table.h"
#include "runtime/operators/rows_in_state.h"
#include "types/arrow_status.h"

namespace sluice::runtime {
namespace {

// A limited sort is cut back when it holds so many rows beyond what is wanted: one sort for many
// batches.
constexpr int64_t kCutBackRows = 64 << 10;

// Indices of `rows` that are left when each row of `minus` has cancelled one equal row, the latest
// first.
Result<std::vector<int64_t>> Cancel(const Schema& schema, const arrow::RecordBatch& rows,
                                    const arrow::RecordBatch& minus, arrow::MemoryPool* pool) {
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

}  // namespace

SortOperator::SortOperator(SortSpec spec)
    : spec_(std::move(spec)), schema_(spec_.schema.ToArrow()) {}

Status SortOperator::Open(TaskContext& context) {
  SLUICE_RETURN_NOT_OK(Operator::Open(context));
  eval_.session_zone = spec_.eval.session_zone;
  eval_.fixed_now_ms = spec_.eval.fixed_now_ms;
  eval_.clock = context.clock;
  eval_.pool = context.memory_pool;
  memory_.Open(context.budget, "ORDER BY");
  return {};
}

Status SortOperator::Process(Batch batch, Output& out) {
  SLUICE_RETURN_NOT_OK(Hold(std::move(batch)));
  if (spec_.emit_changes) return EmitDifference(out);
  if (spec_.limit_rows && !has_changes_ && held_rows_ > wanted_rows() + kCutBackRows) {
    SLUICE_ASSIGN_OR_RETURN(auto first, FirstRows());
    held_ = {std::move(first)};
    held_rows_ = held_.front()->num_rows();
    SLUICE_ASSIGN_ARROW(held_bytes_, arrow::util::ReferencedBufferSize(*held_.front()));
    return memory_.Set(held_bytes_);
  }
  return {};
}

Status SortOperator::Hold(Batch batch) {
  held_bytes_ += batch.byte_size();
  SLUICE_RETURN_NOT_OK(memory_.Set(held_bytes_));
  held_rows_ += batch.row_count();
  if (batch.row_kinds() == nullptr) {
    held_.push_back(batch.rows());
    return {};
  }
  std::vector<int64_t> added;
  std::vector<int64_t> taken_back;
  for (int64_t row = 0; row < batch.row_count(); ++row) {
    const RowKind kind = batch.row_kind(row);
    const bool back = kind == RowKind::kUpdateBefore || kind == RowKind::kDelete;
    (back ? taken_back : added).push_back(row);
  }
  if (!added.empty()) {
    SLUICE_ASSIGN_OR_RETURN(auto rows, expr::TakeRows(*batch.rows(), added, eval_.pool));
    held_.push_back(std::move(rows));
  }
  has_changes_ = true;
  if (taken_back.empty()) return {};
  SLUICE_ASSIGN_OR_RETURN(auto rows, expr::TakeRows(*batch.rows(), taken_back, eval_.pool));
  taken_back_.push_back(std::move(rows));
  return {};
}

Status SortOperator::Settle() {
  SLUICE_ASSIGN_OR_RETURN(auto rows, Concatenate(held_, schema_, eval_.pool));
  if (!taken_back_.empty()) {
    SLUICE_ASSIGN_OR_RETURN(const auto minus, Concatenate(taken_back_, schema_, eval_.pool));
    SLUICE_ASSIGN_OR_RETURN(const std::vector<int64_t> left,
                            Cancel(spec_.schema, *rows, *minus, eval_.pool));
    SLUICE_ASSIGN_OR_RETURN(rows, expr::TakeRows(*rows, left, eval_.pool));
    taken_back_.clear();
  }
  held_rows_ = rows->num_rows();
  held_ = {std::move(rows)};
  SLUICE_ASSIGN_ARROW(held_bytes_, arrow::util::ReferencedBufferSize(*held_.front()));
  return memory_.Set(held_bytes_);
}

Result<std::vector<int64_t>> SortOperator::SortedIndices(const arrow::RecordBatch& rows,
                                                         int64_t limit) const {
  arrow::ArrayVector columns;
  arrow::FieldVector fields;
  std::vector<expr::SortKey> keys;
  for (const SortExpression& key : spec_.keys) {
    SLUICE_ASSIGN_OR_RETURN(auto column, expr::EvaluateToArray(*key.expression, rows, eval_));
    keys.push_back({static_cast<int>(columns.size()), key.descending, key.nulls_first});
    fields.push_back(arrow::field("k", column->type()));
    columns.push_back(std::move(column));
  }
  const auto key_rows = arrow::RecordBatch::Make(arrow::schema(std::move(fields)), rows.num_rows(),
                                                 std::move(columns));
  return expr::SortIndices(*key_rows, keys, limit);
}

// The first offset + limit rows (or all), in order.
Result<std::shared_ptr<arrow::RecordBatch>> SortOperator::FirstRows() {
  SLUICE_RETURN_NOT_OK(Settle());
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int64_t> order,
                          SortedIndices(*held_.front(), wanted_rows()));
  return expr::TakeRows(*held_.front(), order, eval_.pool);
}

Status SortOperator::EmitDifference(Output& out) {
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::RecordBatch> first, FirstRows());
  if (!has_changes_) {
    held_ = {first};  // What is not among the first now never will be.
    held_rows_ = first->num_rows();
  }
  first = first->Slice(std::min(spec_.offset_rows, first->num_rows()));
  if (emitted_ == nullptr) {
    SLUICE_ASSIGN_OR_RETURN(emitted_, Concatenate({}, schema_, eval_.pool));
  }
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int64_t> gone,
                          Cancel(spec_.schema, *emitted_, *first, eval_.pool));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int64_t> come,
                          Cancel(spec_.schema, *first, *emitted_, eval_.pool));
  SLUICE_ASSIGN_OR_RETURN(const auto gone_rows, expr::TakeRows(*emitted_, gone, eval_.pool));
  SLUICE_ASSIGN_OR_RETURN(const auto come_rows, expr::TakeRows(*first, come, eval_.pool));
  emitted_ = first;
  if (gone.empty() && come.empty()) return {};
  SLUICE_ASSIGN_OR_RETURN(auto rows, Concatenate({gone_rows, come_rows}, schema_, eval_.pool));
  arrow::Int8Builder builder(eval_.pool);
  SLUICE_RETURN_ARROW(builder.Reserve(rows->num_rows()));
  for (size_t i = 0; i < gone.size(); ++i) {
    builder.UnsafeAppend(static_cast<int8_t>(RowKind::kDelete));
  }
  for (size_t i = 0; i < come.size(); ++i) {
    builder.UnsafeAppend(static_cast<int8_t>(RowKind::kInsert));
  }
  std::shared_ptr<arrow::Int8Array> kinds;
  SLUICE_RETURN_ARROW(builder.Finish(&kinds));
  return out.Emit(Batch(std::move(rows), std::move(kinds)));
}

Status SortOperator::FinishInput(Output&) {
  if (spec_.emit_changes) return {};
  SLUICE_ASSIGN_OR_RETURN(sorted_, FirstRows());
  held_.clear();
  emit_at_ = std::min(spec_.offset_rows, sorted_->num_rows());
  context().wake();
  return {};
}

Status SortOperator::Poll(Output& out) {
  if (sorted_ == nullptr) return {};
  const auto piece = sorted_->Slice(emit_at_, kTargetBatchRows);
  emit_at_ += piece->num_rows();
  if (emit_at_ >= sorted_->num_rows()) {
    sorted_ = nullptr;
    SLUICE_RETURN_NOT_OK(memory_.Set(0));
  }
  context().wake();
  return piece->num_rows() == 0 ? Status() : out.Emit(Batch(piece));
}

Status SortOperator::Snapshot(const Barrier&, StateWriter& state) {
  SLUICE_RETURN_NOT_OK(Settle());
  SLUICE_ASSIGN_OR_RETURN(std::string held, RowsToBytes(*held_.front()));
  state.PutBytes("rows", std::move(held));
  state.PutI64("has_changes", has_changes_ ? 1 : 0);
  if (emitted_ == nullptr) return {};
  SLUICE_ASSIGN_OR_RETURN(std::string emitted, RowsToBytes(*emitted_));
  state.PutBytes("emitted", std::move(emitted));
  return {};
}

Status SortOperator::Restore(const RestoredState& state) {
  for (const StateReader& reader : state.subtasks) {
    if (!reader.Has("rows")) continue;
    SLUICE_ASSIGN_OR_RETURN(const std::string held, reader.GetBytes("rows"));
    SLUICE_ASSIGN_OR_RETURN(auto rows, RowsFromBytes(held, schema_));
    SLUICE_RETURN_NOT_OK(Hold(Batch(std::move(rows))));
    SLUICE_ASSIGN_OR_RETURN(const int64_t has_changes, reader.GetI64("has_changes"));
    has_changes_ = has_changes != 0;
    if (!reader.Has("emitted")) continue;
    SLUICE_ASSIGN_OR_RETURN(const std::string emitted, reader.GetBytes("emitted"));
    SLUICE_ASSIGN_OR_RETURN(emitted_, RowsFromBytes(emitted, schema_));
  }
  return {};
}

}  // namespace sluice::runtime
