#include "runtime/operators/sort.h"

#include <algorithm>

#include "runtime/operators/rows_in_state.h"
#include "types/arrow_status.h"

namespace sluice::runtime {
namespace {

// A limited sort is cut back when it holds so many rows beyond what is wanted: one sort for many
// batches.
constexpr int64_t kCutBackRows = 64 << 10;

}  // namespace

SortOperator::SortOperator(SortSpec spec) : spec_(std::move(spec)), held_(spec_.schema) {
  if (spec_.input_changes) held_.set_has_changes();
}

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
  SLUICE_RETURN_NOT_OK(held_.Add(batch, eval_.pool));
  SLUICE_RETURN_NOT_OK(memory_.Set(held_.bytes()));
  if (spec_.emit_changes) return EmitDifference(out);
  if (spec_.limit_rows && !held_.has_changes() &&
      held_.row_count() - kCutBackRows > wanted_rows()) {
    SLUICE_ASSIGN_OR_RETURN(auto first, FirstRows());
    held_.Replace(std::move(first));
    return memory_.Set(held_.bytes());
  }
  return {};
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
  SLUICE_ASSIGN_OR_RETURN(const auto rows, held_.Settle(eval_.pool));
  SLUICE_RETURN_NOT_OK(memory_.Set(held_.bytes()));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int64_t> order, SortedIndices(*rows, wanted_rows()));
  return expr::TakeRows(*rows, order, eval_.pool);
}

Status SortOperator::EmitDifference(Output& out) {
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::RecordBatch> first, FirstRows());
  if (!held_.has_changes()) held_.Replace(first);  // What is not among the first never will be.
  first = first->Slice(std::min(spec_.offset_rows, first->num_rows()));
  if (emitted_ == nullptr) {
    SLUICE_ASSIGN_OR_RETURN(emitted_, Concatenate({}, held_.arrow_schema(), eval_.pool));
  }
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int64_t> gone,
                          CancelEqualRows(spec_.schema, *emitted_, *first, eval_.pool));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int64_t> come,
                          CancelEqualRows(spec_.schema, *first, *emitted_, eval_.pool));
  SLUICE_ASSIGN_OR_RETURN(const auto gone_rows, expr::TakeRows(*emitted_, gone, eval_.pool));
  SLUICE_ASSIGN_OR_RETURN(const auto come_rows, expr::TakeRows(*first, come, eval_.pool));
  emitted_ = first;
  if (gone.empty() && come.empty()) return {};
  SLUICE_ASSIGN_OR_RETURN(auto rows,
                          Concatenate({gone_rows, come_rows}, held_.arrow_schema(), eval_.pool));
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
  held_.Clear();
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
  SLUICE_ASSIGN_OR_RETURN(const auto rows, held_.Settle(eval_.pool));
  SLUICE_ASSIGN_OR_RETURN(std::string held, RowsToBytes(*rows));
  state.PutBytes("rows", std::move(held));
  state.PutI64("has_changes", held_.has_changes() ? 1 : 0);
  if (emitted_ == nullptr) return {};
  SLUICE_ASSIGN_OR_RETURN(std::string emitted, RowsToBytes(*emitted_));
  state.PutBytes("emitted", std::move(emitted));
  return {};
}

Status SortOperator::Restore(const RestoredState& state) {
  for (const StateReader& reader : state.subtasks) {
    if (!reader.Has("rows")) continue;
    SLUICE_ASSIGN_OR_RETURN(const std::string held, reader.GetBytes("rows"));
    SLUICE_ASSIGN_OR_RETURN(auto rows, RowsFromBytes(held, held_.arrow_schema()));
    SLUICE_RETURN_NOT_OK(held_.Add(Batch(std::move(rows)), eval_.pool));
    SLUICE_RETURN_NOT_OK(memory_.Set(held_.bytes()));
    SLUICE_ASSIGN_OR_RETURN(const int64_t has_changes, reader.GetI64("has_changes"));
    if (has_changes != 0) held_.set_has_changes();
    if (!reader.Has("emitted")) continue;
    SLUICE_ASSIGN_OR_RETURN(const std::string emitted, reader.GetBytes("emitted"));
    SLUICE_ASSIGN_OR_RETURN(emitted_, RowsFromBytes(emitted, held_.arrow_schema()));
  }
  return {};
}

}  // namespace sluice::runtime
