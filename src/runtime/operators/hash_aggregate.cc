#include "runtime/operators/hash_aggregate.h"

#include <algorithm>
#include <numeric>

#include "expr/key_split.h"
#include "expr/one_group.h"
#include "expr/sort.h"
#include "runtime/operators/rows_in_state.h"
#include "types/arrow_status.h"

namespace sluice::runtime {
namespace {

constexpr int64_t kRowByRowLimit = 256;
constexpr std::string_view kStateField = "groups";
constexpr std::string_view kHandedOutField = "handed_out";
// kPartial sends its groups when they are so many: the table still fits into a core's caches and a
// batch a time into the channels.
constexpr int64_t kPartialGroups = 1 << 17;

Schema FirstColumns(const Schema& schema, size_t count) {
  std::vector<int> indices(count);
  std::iota(indices.begin(), indices.end(), 0);
  return schema.Select(indices);
}

bool TakesBack(RowKind kind) { return kind == RowKind::kUpdateBefore || kind == RowKind::kDelete; }

}  // namespace

// Rows in the order in which they happen; built from pieces of one kind.
struct HashAggregateOperator::Changes {
  arrow::RecordBatchVector rows;
  std::vector<RowKind> kinds;

  void Add(std::shared_ptr<arrow::RecordBatch> piece, RowKind kind) {
    if (piece->num_rows() == 0) return;
    kinds.insert(kinds.end(), static_cast<size_t>(piece->num_rows()), kind);
    rows.push_back(std::move(piece));
  }
};

HashAggregateOperator::HashAggregateOperator(AggregateSpec spec)
    : spec_(std::move(spec)),
      key_schema_(FirstColumns(spec_.output, spec_.keys.size())),
      output_schema_(spec_.output.ToArrow()) {}

HashAggregateOperator::~HashAggregateOperator() = default;

Status HashAggregateOperator::Open(TaskContext& context) {
  SLUICE_RETURN_NOT_OK(Operator::Open(context));
  eval_.session_zone = spec_.eval.session_zone;
  eval_.fixed_now_ms = spec_.eval.fixed_now_ms;
  eval_.clock = context.clock;
  eval_.pool = context.memory_pool;
  memory_.Open(context.budget, spec_.calls.empty() ? "DISTINCT" : "GROUP BY");
  return MakeTables();
}

Status HashAggregateOperator::MakeTables() {
  accumulators_.clear();
  rows_of_group_.clear();
  table_ = std::make_unique<expr::GroupTable>(key_schema_, eval_.pool);
  for (const expr::AggregateCall& call : spec_.calls) {
    SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<expr::Accumulator> accumulator,
                            expr::MakeAccumulator(call, eval_.pool, spec_.input_changes));
    accumulators_.push_back(std::move(accumulator));
  }
  if (spec_.keys.empty()) {
    rows_of_group_.assign(1, 0);
    for (const auto& accumulator : accumulators_) {
      SLUICE_RETURN_NOT_OK(accumulator->Resize(1));
    }
  }
  return {};
}

int64_t HashAggregateOperator::group_count() const {
  return static_cast<int64_t>(rows_of_group_.size());
}

Status HashAggregateOperator::ProcessWatermark(int64_t millis, Output& out) {
  eval_.watermark_ms = millis;
  return out.EmitWatermark(millis);
}

Result<std::shared_ptr<arrow::RecordBatch>> HashAggregateOperator::EvaluateKeys(
    const arrow::RecordBatch& rows) {
  arrow::ArrayVector columns;
  for (const expr::ExprPtr& key : spec_.keys) {
    SLUICE_ASSIGN_OR_RETURN(auto column, expr::EvaluateToArray(*key, rows, eval_));
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(key_schema_.ToArrow(), rows.num_rows(), std::move(columns));
}

Status HashAggregateOperator::ProcessPartial(const Batch& batch, Output& out) {
  SLUICE_ASSIGN_OR_RETURN(const auto keys, EvaluateKeys(*batch.rows()));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> group_of_row, table_->GroupIds(*keys));
  SLUICE_RETURN_NOT_OK(ApplyBatch(batch, group_of_row));
  partial_rows_ += batch.row_count();
  if (passes_through_) return SendPartial(out);
  if (group_count() < kPartialGroups) return HoldMemory();
  // Gathering costs more than it saves when there are hardly two rows of a key.
  passes_through_ = partial_rows_ < 2 * group_count();
  return SendPartial(out);
}

Status HashAggregateOperator::SendPartial(Output& out) {
  if (partial_rows_ == 0) return {};
  SLUICE_ASSIGN_OR_RETURN(const auto rows, StateRows());
  for (int64_t begin = 0; begin < rows->num_rows(); begin += kTargetBatchRows) {
    SLUICE_RETURN_NOT_OK(out.Emit(Batch(rows->Slice(begin, kTargetBatchRows))));
  }
  partial_rows_ = 0;
  SLUICE_RETURN_NOT_OK(MakeTables());
  return HoldMemory();
}

Status HashAggregateOperator::Process(Batch batch, Output& out) {
  if (spec_.phase == AggregatePhase::kPartial) return ProcessPartial(batch, out);
  if (spec_.phase == AggregatePhase::kFinal) {
    SLUICE_RETURN_NOT_OK(MergeStateRows(*batch.rows()));
    return HoldMemory();
  }
  if (!spec_.streaming) {
    SLUICE_ASSIGN_OR_RETURN(const auto keys, EvaluateKeys(*batch.rows()));
    SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> group_of_row, table_->GroupIds(*keys));
    SLUICE_RETURN_NOT_OK(ApplyBatch(batch, group_of_row));
    return HoldMemory();
  }
  Changes changes;
  if (batch.row_count() > kRowByRowLimit) {
    SLUICE_RETURN_NOT_OK(ProcessChanges(batch, &changes));
  } else {
    for (int64_t row = 0; row < batch.row_count(); ++row) {
      SLUICE_RETURN_NOT_OK(ProcessChanges(batch.Slice(row, 1), &changes));
    }
  }
  SLUICE_RETURN_NOT_OK(HoldMemory());
  return EmitChanges(std::move(changes), out);
}

Status HashAggregateOperator::ApplyBatch(const Batch& batch,
                                         const std::vector<int32_t>& group_of_row) {
  const int64_t count = std::max(table_->group_count(), group_count());
  rows_of_group_.resize(static_cast<size_t>(count), 0);
  for (const auto& accumulator : accumulators_) SLUICE_RETURN_NOT_OK(accumulator->Resize(count));
  if (batch.row_kinds() == nullptr) return AddToGroups(batch, group_of_row);
  // Sums do not depend on the order, so the additions of a batch may go first.
  std::vector<int64_t> added;
  std::vector<int64_t> taken_back;
  std::vector<int32_t> added_groups;
  std::vector<int32_t> taken_back_groups;
  for (int64_t row = 0; row < batch.row_count(); ++row) {
    const bool back = TakesBack(batch.row_kind(row));
    (back ? taken_back : added).push_back(row);
    (back ? taken_back_groups : added_groups).push_back(group_of_row[static_cast<size_t>(row)]);
  }
  if (!added.empty()) {
    SLUICE_ASSIGN_OR_RETURN(const Batch rows, expr::TakeRows(batch, added, eval_.pool));
    SLUICE_RETURN_NOT_OK(AddToGroups(rows, added_groups));
  }
  if (taken_back.empty()) return {};
  SLUICE_ASSIGN_OR_RETURN(const Batch rows, expr::TakeRows(batch, taken_back, eval_.pool));
  return RetractFromGroups(rows, taken_back_groups);
}

Status HashAggregateOperator::AddToGroups(const Batch& batch,
                                          const std::vector<int32_t>& group_of_row) {
  if (const auto group = expr::OneGroup(group_of_row)) {
    rows_of_group_[static_cast<size_t>(*group)] += batch.row_count();
  } else {
    for (const int32_t of_row : group_of_row) ++rows_of_group_[static_cast<size_t>(of_row)];
  }
  for (size_t i = 0; i < accumulators_.size(); ++i) {
    SLUICE_RETURN_NOT_OK(
        expr::AddRows(spec_.calls[i], *accumulators_[i], *batch.rows(), group_of_row, eval_));
  }
  return {};
}

Status HashAggregateOperator::RetractFromGroups(const Batch& batch,
                                                const std::vector<int32_t>& group_of_row) {
  for (const int32_t group : group_of_row) --rows_of_group_[static_cast<size_t>(group)];
  for (size_t i = 0; i < accumulators_.size(); ++i) {
    const expr::AggregateCall& call = spec_.calls[i];
    std::shared_ptr<arrow::Array> values;
    if (!call.arguments.empty()) {
      SLUICE_ASSIGN_OR_RETURN(values,
                              expr::EvaluateToArray(*call.arguments[0], *batch.rows(), eval_));
    }
    std::shared_ptr<arrow::Array> selected;
    if (call.filter) {
      SLUICE_ASSIGN_OR_RETURN(selected, expr::EvaluateToArray(*call.filter, *batch.rows(), eval_));
    }
    SLUICE_RETURN_NOT_OK(accumulators_[i]->Retract(
        values.get(), group_of_row, static_cast<const arrow::BooleanArray*>(selected.get())));
  }
  return {};
}

Status HashAggregateOperator::ProcessChanges(const Batch& batch, Changes* changes) {
  SLUICE_ASSIGN_OR_RETURN(const auto keys, EvaluateKeys(*batch.rows()));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> group_of_row, table_->GroupIds(*keys));
  std::vector<int32_t> touched;  // In order of first appearance.
  std::vector<bool> seen(static_cast<size_t>(std::max(table_->group_count(), group_count())));
  for (const int32_t group : group_of_row) {
    if (!seen[static_cast<size_t>(group)]) touched.push_back(group);
    seen[static_cast<size_t>(group)] = true;
  }
  std::vector<int32_t> old_groups;
  for (const int32_t group : touched) {
    const auto index = static_cast<size_t>(group);
    if (index < rows_of_group_.size() && rows_of_group_[index] > 0) old_groups.push_back(group);
  }
  SLUICE_ASSIGN_OR_RETURN(const auto before, ResultsOf(old_groups));
  SLUICE_RETURN_NOT_OK(ApplyBatch(batch, group_of_row));
  SLUICE_ASSIGN_OR_RETURN(const auto after, ResultsOf(touched));
  int64_t old_row = 0;
  for (size_t i = 0; i < touched.size(); ++i) {
    const bool was_there =
        old_row < before->num_rows() && old_groups[static_cast<size_t>(old_row)] == touched[i];
    const bool is_there = rows_of_group_[static_cast<size_t>(touched[i])] > 0;
    const auto new_piece = after->Slice(static_cast<int64_t>(i), 1);
    if (!was_there) {
      if (is_there) changes->Add(new_piece, RowKind::kInsert);
      continue;
    }
    const auto old_piece = before->Slice(old_row++, 1);
    if (!is_there) {
      changes->Add(old_piece, RowKind::kDelete);
    } else if (!old_piece->Equals(*new_piece)) {
      changes->Add(old_piece, RowKind::kUpdateBefore);
      changes->Add(new_piece, RowKind::kUpdateAfter);
    }
  }
  return {};
}

Status HashAggregateOperator::EmitChanges(Changes changes, Output& out) {
  if (changes.rows.empty()) return {};
  SLUICE_ASSIGN_OR_RETURN(auto rows, Concatenate(changes.rows, output_schema_, eval_.pool));
  const bool only_inserts = std::all_of(changes.kinds.begin(), changes.kinds.end(),
                                        [](RowKind kind) { return kind == RowKind::kInsert; });
  if (only_inserts) return out.Emit(Batch(std::move(rows)));
  arrow::Int8Builder builder(eval_.pool);
  SLUICE_RETURN_ARROW(builder.AppendValues(reinterpret_cast<const int8_t*>(changes.kinds.data()),
                                           static_cast<int64_t>(changes.kinds.size())));
  std::shared_ptr<arrow::Int8Array> kinds;
  SLUICE_RETURN_ARROW(builder.Finish(&kinds));
  return out.Emit(Batch(std::move(rows), std::move(kinds)));
}

Result<std::shared_ptr<arrow::RecordBatch>> HashAggregateOperator::Results(int64_t begin,
                                                                           int64_t end) const {
  arrow::ArrayVector columns;
  if (!spec_.keys.empty()) {
    SLUICE_ASSIGN_OR_RETURN(const auto keys, table_->Keys(begin, end));
    columns = keys->columns();
  }
  for (const auto& accumulator : accumulators_) {
    SLUICE_ASSIGN_OR_RETURN(auto column, accumulator->Finish(begin, end));
    columns.push_back(std::move(column));
  }
  return arrow::RecordBatch::Make(output_schema_, end - begin, std::move(columns));
}

// Row i is the result of groups[i]. Runs of neighbouring groups are finished at once.
Result<std::shared_ptr<arrow::RecordBatch>> HashAggregateOperator::ResultsOf(
    const std::vector<int32_t>& groups) const {
  arrow::RecordBatchVector pieces;
  for (size_t begin = 0; begin < groups.size();) {
    size_t end = begin + 1;
    while (end < groups.size() && groups[end] == groups[end - 1] + 1) ++end;
    SLUICE_ASSIGN_OR_RETURN(auto piece, Results(groups[begin], groups[end - 1] + 1));
    pieces.push_back(std::move(piece));
    begin = end;
  }
  return Concatenate(pieces, output_schema_, eval_.pool);
}

Status HashAggregateOperator::PrepareSnapshot(const Barrier&, Output& out) {
  return spec_.phase == AggregatePhase::kPartial ? SendPartial(out) : Status();
}

Status HashAggregateOperator::FinishInput(Output& out) {
  if (spec_.phase == AggregatePhase::kPartial) return SendPartial(out);
  if (handed_out_) return {};  // Restored: the end comes again, the results must not.
  if (!spec_.streaming) {
    emit_at_ = 0;
    context().wake();
    return {};
  }
  // The one group of a query without GROUP BY exists without rows, too.
  if (!spec_.keys.empty() || rows_of_group_[0] > 0 || context().subtask != 0) return {};
  SLUICE_ASSIGN_OR_RETURN(auto rows, Results(0, 1));
  handed_out_ = true;
  return out.Emit(Batch(std::move(rows)));
}

Status HashAggregateOperator::Poll(Output& out) {
  if (emit_at_ < 0) return {};
  const int64_t end = std::min(emit_at_ + kTargetBatchRows, group_count());
  const bool emits = !spec_.keys.empty() || context().subtask == 0;
  if (emit_at_ < end && emits) {
    SLUICE_ASSIGN_OR_RETURN(auto rows, Results(emit_at_, end));
    SLUICE_RETURN_NOT_OK(out.Emit(Batch(std::move(rows))));
  }
  emit_at_ = end < group_count() ? end : -1;
  handed_out_ = emit_at_ < 0;
  context().wake();
  return {};
}

Status HashAggregateOperator::HoldMemory() {
  int64_t bytes = table_->memory_bytes() + static_cast<int64_t>(rows_of_group_.capacity()) * 8;
  for (const auto& accumulator : accumulators_) bytes += accumulator->memory_bytes();
  return memory_.Set(bytes);
}

std::shared_ptr<arrow::Schema> HashAggregateOperator::StateSchema() const {
  arrow::FieldVector fields = key_schema_.ToArrow()->fields();
  for (size_t i = 0; i < accumulators_.size(); ++i) {
    fields.push_back(
        arrow::field("accumulator" + std::to_string(i), accumulators_[i]->state_type()));
  }
  fields.push_back(arrow::field("rows", arrow::int64()));
  return arrow::schema(std::move(fields));
}

Result<std::shared_ptr<arrow::RecordBatch>> HashAggregateOperator::StateRows() const {
  arrow::ArrayVector columns;
  if (!spec_.keys.empty()) {
    SLUICE_ASSIGN_OR_RETURN(const auto keys, table_->Keys(0, group_count()));
    columns = keys->columns();
  }
  for (const auto& accumulator : accumulators_) {
    SLUICE_ASSIGN_OR_RETURN(auto column, accumulator->SaveState(0, group_count()));
    columns.push_back(std::move(column));
  }
  arrow::Int64Builder builder(eval_.pool);
  SLUICE_RETURN_ARROW(builder.AppendValues(rows_of_group_));
  std::shared_ptr<arrow::Array> rows;
  SLUICE_RETURN_ARROW(builder.Finish(&rows));
  columns.push_back(std::move(rows));
  return arrow::RecordBatch::Make(StateSchema(), group_count(), std::move(columns));
}

Status HashAggregateOperator::Snapshot(const Barrier&, StateWriter& state) {
  if (spec_.phase == AggregatePhase::kPartial) return {};
  if (handed_out_) {
    state.PutI64(kHandedOutField, 1);
    return {};
  }
  SLUICE_ASSIGN_OR_RETURN(const auto rows, StateRows());
  SLUICE_ASSIGN_OR_RETURN(std::string bytes, RowsToBytes(*rows));
  state.PutBytes(kStateField, std::move(bytes));
  return {};
}

Status HashAggregateOperator::Restore(const RestoredState& state) {
  if (spec_.phase == AggregatePhase::kPartial) return {};
  // The one group of all rows is subtask 0's, whatever the others say.
  handed_out_ =
      spec_.keys.empty() && !state.subtasks.empty() && state.subtasks.front().Has(kHandedOutField);
  for (const StateReader& reader : state.subtasks) {
    if (reader.Has(kHandedOutField)) continue;
    SLUICE_ASSIGN_OR_RETURN(const std::string bytes, reader.GetBytes(kStateField));
    SLUICE_ASSIGN_OR_RETURN(auto rows, RowsFromBytes(bytes, StateSchema()));
    if (rows->num_rows() == 0) continue;
    if (spec_.keys.empty()) {
      if (context().subtask != 0) continue;
    } else if (context().parallelism > 1) {
      std::vector<int> key_columns(spec_.keys.size());
      std::iota(key_columns.begin(), key_columns.end(), 0);
      SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> channel,
                              expr::RouteByKey(*rows, key_columns, context().parallelism));
      std::vector<int64_t> mine;
      for (int64_t row = 0; row < rows->num_rows(); ++row) {
        if (channel[static_cast<size_t>(row)] == context().subtask) mine.push_back(row);
      }
      SLUICE_ASSIGN_OR_RETURN(rows, expr::TakeRows(*rows, mine, eval_.pool));
    }
    SLUICE_RETURN_NOT_OK(MergeStateRows(*rows));
  }
  return HoldMemory();
}

Status HashAggregateOperator::MergeStateRows(const arrow::RecordBatch& rows) {
  const int key_count = static_cast<int>(spec_.keys.size());
  const auto keys = arrow::RecordBatch::Make(
      key_schema_.ToArrow(), rows.num_rows(),
      arrow::ArrayVector(rows.columns().begin(), rows.columns().begin() + key_count));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> group_of_row, table_->GroupIds(*keys));
  const int64_t count = std::max(table_->group_count(), group_count());
  rows_of_group_.resize(static_cast<size_t>(count), 0);
  for (size_t i = 0; i < accumulators_.size(); ++i) {
    SLUICE_RETURN_NOT_OK(accumulators_[i]->Resize(count));
    SLUICE_RETURN_NOT_OK(
        accumulators_[i]->MergeState(*rows.column(key_count + static_cast<int>(i)), group_of_row));
  }
  const auto& counts = static_cast<const arrow::Int64Array&>(*rows.column(rows.num_columns() - 1));
  for (int64_t row = 0; row < rows.num_rows(); ++row) {
    rows_of_group_[static_cast<size_t>(group_of_row[static_cast<size_t>(row)])] +=
        counts.Value(row);
  }
  return {};
}

}  // namespace sluice::runtime
