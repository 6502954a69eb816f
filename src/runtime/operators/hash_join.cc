#include "runtime/operators/hash_join.h"

#include <algorithm>

#include <arrow/array/util.h>

#include "common/text.h"
#include "expr/key_split.h"
#include "expr/sort.h"
#include "runtime/operators/join_marks.h"
#include "runtime/operators/join_rows.h"
#include "runtime/operators/rows_in_state.h"
#include "types/arrow_status.h"

namespace sluice::runtime {
namespace {

constexpr std::string_view kLeftField = "left";
constexpr std::string_view kRightField = "right";
constexpr std::string_view kMatchedField = "right_matched";
constexpr std::string_view kHandedOutField = "handed_out";

bool PadsRight(JoinKind kind) {
  return kind == JoinKind::kLeft || kind == JoinKind::kFull || kind == JoinKind::kSingle;
}
bool PadsLeft(JoinKind kind) { return kind == JoinKind::kRight || kind == JoinKind::kFull; }

}  // namespace

HashJoinOperator::HashJoinOperator(JoinSpec spec)
    : spec_(std::move(spec)),
      output_schema_(spec_.output.ToArrow()),
      key_schema_(KeySchema(spec_.right_keys)),
      left_(spec_.left),
      right_(spec_.right) {}

HashJoinOperator::~HashJoinOperator() = default;

Status HashJoinOperator::Open(TaskContext& context) {
  SLUICE_RETURN_NOT_OK(Operator::Open(context));
  eval_.session_zone = spec_.eval.session_zone;
  eval_.fixed_now_ms = spec_.eval.fixed_now_ms;
  eval_.clock = context.clock;
  eval_.pool = context.memory_pool;
  memory_.Open(context.budget, spec_.kind == JoinKind::kMark || spec_.kind == JoinKind::kSingle
                                   ? "A subquery"
                                   : "JOIN");
  return {};
}

Status HashJoinOperator::ProcessInput(int input_index, Batch batch, Output& out) {
  if (input_index == 1) {
    SLUICE_RETURN_NOT_OK(right_.Add(batch, eval_.pool));
    return HoldMemory();
  }
  if (!right_ended_ || spec_.left_changes) {
    SLUICE_RETURN_NOT_OK(left_.Add(batch, eval_.pool));
    return HoldMemory();
  }
  SLUICE_RETURN_NOT_OK(StartProbe(batch.rows()));
  return ContinueProbe(out);
}

// A watermark must not overtake rows that wait here.
Status HashJoinOperator::ProcessWatermark(int64_t millis, Output& out) {
  eval_.watermark_ms = millis;
  const bool held = !right_ended_ || busy_ || spec_.left_changes || PadsLeft(spec_.kind);
  if (!held) return out.EmitWatermark(millis);
  watermark_ms_ = millis;
  return {};
}

Status HashJoinOperator::FinishOneInput(int input_index, Output&) {
  if (input_index != 1) return {};
  SLUICE_RETURN_NOT_OK(BuildTable());
  right_ended_ = true;
  if (spec_.left_changes || left_.row_count() == 0) return {};
  SLUICE_ASSIGN_OR_RETURN(waiting_, left_.Settle(eval_.pool));
  waiting_at_ = 0;
  busy_ = true;
  context().wake();
  return {};
}

Status HashJoinOperator::BuildTable() {
  SLUICE_ASSIGN_OR_RETURN(auto rows, right_.Settle(eval_.pool));
  if (spec_.kind == JoinKind::kSingle && rows->num_rows() > 1) {
    return Status::DataError(
        "A scalar subquery returned more than one row: " + WithThousands(rows->num_rows()) +
        ". Use an aggregate such as MAX, or LIMIT 1.");
  }
  SLUICE_ASSIGN_OR_RETURN(const auto keys, EvaluateKeys(spec_.right_keys, *rows, eval_));
  right_matched_.resize(static_cast<size_t>(rows->num_rows()));
  SLUICE_ASSIGN_OR_RETURN(table_, JoinTable::Make(std::move(rows), *keys, key_schema_, eval_.pool));
  if (spec_.kind == JoinKind::kMark) {
    SLUICE_ASSIGN_OR_RETURN(marks_, JoinMarks::Make(spec_, *table_, eval_));
  }
  return HoldMemory();
}

Status HashJoinOperator::StartProbe(const std::shared_ptr<arrow::RecordBatch>& rows) {
  Probe probe;
  probe.rows = rows;
  SLUICE_ASSIGN_OR_RETURN(const auto keys, EvaluateKeys(spec_.left_keys, *rows, eval_));
  SLUICE_ASSIGN_OR_RETURN(probe.groups, table_->Find(*keys));
  probe.matched.resize(probe.groups.size());
  probe_ = std::move(probe);
  busy_ = true;
  return {};
}

// One batch of pairs a call: a left row may have any number of partners.
Status HashJoinOperator::ContinueProbe(Output& out) {
  if (marks_) return EmitMarks(out);
  Probe& probe = *probe_;
  std::vector<int64_t> left;
  std::vector<int64_t> right;
  while (probe.row < probe.groups.size() && static_cast<int64_t>(left.size()) < kTargetBatchRows) {
    const int32_t group = probe.groups[probe.row];
    const auto matches = group < 0 ? std::span<const int32_t>() : table_->RowsOf(group);
    if (probe.at >= matches.size()) {
      ++probe.row;
      probe.at = 0;
      continue;
    }
    left.push_back(static_cast<int64_t>(probe.row));
    right.push_back(matches[probe.at++]);
  }
  if (!left.empty()) SLUICE_RETURN_NOT_OK(EmitPairs(left, right, out));
  if (probe.row == probe.groups.size()) {
    if (PadsRight(spec_.kind)) SLUICE_RETURN_NOT_OK(EmitUnmatchedLeft(out));
    probe_.reset();
  }
  context().wake();
  busy_ = probe_ || waiting_ || all_ended_;
  return {};
}

Status HashJoinOperator::EmitPairs(const std::vector<int64_t>& left,
                                   const std::vector<int64_t>& right, Output& out) {
  SLUICE_ASSIGN_OR_RETURN(auto pairs,
                          SideBySide({*probe_->rows, left, spec_.left_width},
                                     {table_->rows(), right, spec_.right_width}, eval_.pool));
  std::shared_ptr<arrow::Array> fits;
  if (spec_.residual) {
    SLUICE_ASSIGN_OR_RETURN(fits, expr::EvaluateToArray(*spec_.residual, *pairs, eval_));
  }
  const auto* fit = static_cast<const arrow::BooleanArray*>(fits.get());
  for (size_t i = 0; i < left.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    if (fit != nullptr && (fit->IsNull(at) || !fit->Value(at))) continue;
    probe_->matched[static_cast<size_t>(left[i])] = true;
    right_matched_[static_cast<size_t>(right[i])] = true;
  }
  Batch batch(arrow::RecordBatch::Make(output_schema_, pairs->num_rows(), pairs->columns()));
  if (fits) {
    SLUICE_ASSIGN_OR_RETURN(batch, expr::FilterRows(batch, arrow::Datum(fits), eval_.pool));
  }
  return batch.row_count() == 0 ? Status() : out.Emit(std::move(batch));
}

Status HashJoinOperator::EmitUnmatchedLeft(Output& out) {
  std::vector<int64_t> alone;
  for (size_t row = 0; row < probe_->matched.size(); ++row) {
    if (!probe_->matched[row]) alone.push_back(static_cast<int64_t>(row));
  }
  if (alone.empty()) return {};
  SLUICE_ASSIGN_OR_RETURN(const auto rows, expr::TakeRows(*probe_->rows, alone, eval_.pool));
  arrow::ArrayVector columns;
  for (int i = 0; i < output_schema_->num_fields(); ++i) {
    if (i < spec_.left_width) {
      columns.push_back(rows->column(i));
      continue;
    }
    SLUICE_ASSIGN_ARROW(auto padding, arrow::MakeArrayOfNull(output_schema_->field(i)->type(),
                                                             rows->num_rows(), eval_.pool));
    columns.push_back(std::move(padding));
  }
  return out.Emit(
      Batch(arrow::RecordBatch::Make(output_schema_, rows->num_rows(), std::move(columns))));
}

Status HashJoinOperator::EmitUnmatchedRight(Output& out) {
  std::vector<int64_t> alone;
  const int64_t count = table_->rows().num_rows();
  while (unmatched_at_ < count && static_cast<int64_t>(alone.size()) < kTargetBatchRows) {
    if (!right_matched_[static_cast<size_t>(unmatched_at_)]) alone.push_back(unmatched_at_);
    ++unmatched_at_;
  }
  if (alone.empty()) return {};
  SLUICE_ASSIGN_OR_RETURN(const auto rows, expr::TakeRows(table_->rows(), alone, eval_.pool));
  arrow::ArrayVector columns;
  for (int i = 0; i < spec_.left_width; ++i) {
    SLUICE_ASSIGN_ARROW(auto padding, arrow::MakeArrayOfNull(output_schema_->field(i)->type(),
                                                             rows->num_rows(), eval_.pool));
    columns.push_back(std::move(padding));
  }
  for (int i = 0; i < spec_.right_width; ++i) columns.push_back(rows->column(i));
  return out.Emit(
      Batch(arrow::RecordBatch::Make(output_schema_, rows->num_rows(), std::move(columns))));
}

Status HashJoinOperator::EmitMarks(Output& out) {
  SLUICE_ASSIGN_OR_RETURN(auto marks, marks_->Of(*probe_->rows, probe_->groups, eval_));
  arrow::ArrayVector columns;
  for (int i = 0; i < spec_.left_width; ++i) columns.push_back(probe_->rows->column(i));
  columns.push_back(std::move(marks));
  const int64_t count = probe_->rows->num_rows();
  probe_.reset();
  context().wake();
  busy_ = waiting_ || all_ended_;
  return out.Emit(Batch(arrow::RecordBatch::Make(output_schema_, count, std::move(columns))));
}

Status HashJoinOperator::FinishInput(Output&) {
  all_ended_ = true;
  busy_ = true;
  if (spec_.left_changes) {
    SLUICE_ASSIGN_OR_RETURN(waiting_, left_.Settle(eval_.pool));
    waiting_at_ = 0;
  }
  context().wake();
  return {};
}

Status HashJoinOperator::Poll(Output& out) {
  if (!busy_) return {};
  if (probe_) return ContinueProbe(out);
  if (waiting_) {
    const auto rows = waiting_->Slice(waiting_at_, kTargetBatchRows);
    waiting_at_ += rows->num_rows();
    if (waiting_at_ >= waiting_->num_rows()) {
      waiting_ = nullptr;
      left_.Clear();
      SLUICE_RETURN_NOT_OK(HoldMemory());
    }
    if (rows->num_rows() > 0) {
      SLUICE_RETURN_NOT_OK(StartProbe(rows));
      return ContinueProbe(out);
    }
  }
  if (all_ended_ && PadsLeft(spec_.kind) && unmatched_at_ < table_->rows().num_rows()) {
    SLUICE_RETURN_NOT_OK(EmitUnmatchedRight(out));
  }
  const bool more =
      waiting_ || (all_ended_ && PadsLeft(spec_.kind) && unmatched_at_ < table_->rows().num_rows());
  busy_ = more;
  context().wake();
  if (busy_ || !watermark_ms_ || (PadsLeft(spec_.kind) && !all_ended_)) return {};
  return out.EmitWatermark(*std::exchange(watermark_ms_, std::nullopt));
}

Status HashJoinOperator::HoldMemory() {
  int64_t bytes = left_.bytes() + right_.bytes();
  if (table_) bytes += table_->memory_bytes() + static_cast<int64_t>(right_matched_.size() / 8);
  if (marks_) bytes += marks_->memory_bytes();
  return memory_.Set(bytes);
}

Status HashJoinOperator::Snapshot(const Barrier&, StateWriter& state) {
  if (all_ended_) {  // All is handed out: the end comes again after a restart, its rows must not.
    state.PutI64(kHandedOutField, 1);
    return {};
  }
  SLUICE_ASSIGN_OR_RETURN(const auto right, right_.Settle(eval_.pool));
  SLUICE_ASSIGN_OR_RETURN(std::string right_bytes, RowsToBytes(*right));
  state.PutBytes(kRightField, std::move(right_bytes));
  SLUICE_ASSIGN_OR_RETURN(const auto left, left_.Settle(eval_.pool));
  SLUICE_ASSIGN_OR_RETURN(std::string left_bytes, RowsToBytes(*left));
  state.PutBytes(kLeftField, std::move(left_bytes));
  std::string matched(static_cast<size_t>(right->num_rows()), '\0');
  for (size_t row = 0; row < std::min(matched.size(), right_matched_.size()); ++row) {
    matched[row] = right_matched_[row] ? '\1' : '\0';
  }
  state.PutBytes(kMatchedField, std::move(matched));
  return {};
}

// Rows of this subtask among those of an old one: by key, or in turn where keys do not tell.
Result<std::vector<int64_t>> HashJoinOperator::ShareOf(
    const arrow::RecordBatch& rows, const std::vector<expr::ExprPtr>& keys) const {
  const int parallelism = context().parallelism;
  std::vector<int32_t> subtask_of_row;
  if (parallelism > 1 && !spec_.right_everywhere) {
    SLUICE_ASSIGN_OR_RETURN(const auto key_rows, EvaluateKeys(keys, rows, eval_));
    std::vector<int> columns;
    for (int i = 0; i < key_rows->num_columns(); ++i) columns.push_back(i);
    SLUICE_ASSIGN_OR_RETURN(subtask_of_row, expr::RouteByKey(*key_rows, columns, parallelism));
  }
  std::vector<int64_t> mine;
  for (int64_t row = 0; row < rows.num_rows(); ++row) {
    const int64_t subtask =
        subtask_of_row.empty() ? row % parallelism : subtask_of_row[static_cast<size_t>(row)];
    if (subtask == context().subtask) mine.push_back(row);
  }
  return mine;
}

Status HashJoinOperator::Restore(const RestoredState& state) {
  for (const StateReader& reader : state.subtasks) {
    if (reader.Has(kHandedOutField)) continue;
    SLUICE_ASSIGN_OR_RETURN(const std::string left_bytes, reader.GetBytes(kLeftField));
    SLUICE_ASSIGN_OR_RETURN(const auto left, RowsFromBytes(left_bytes, left_.arrow_schema()));
    SLUICE_ASSIGN_OR_RETURN(const std::vector<int64_t> mine, ShareOf(*left, spec_.left_keys));
    SLUICE_ASSIGN_OR_RETURN(auto rows, expr::TakeRows(*left, mine, eval_.pool));
    if (rows->num_rows() > 0) SLUICE_RETURN_NOT_OK(left_.Add(Batch(std::move(rows)), eval_.pool));
  }
  for (const StateReader& reader : state.subtasks) {
    if (reader.Has(kHandedOutField)) continue;
    SLUICE_ASSIGN_OR_RETURN(const std::string bytes, reader.GetBytes(kRightField));
    SLUICE_ASSIGN_OR_RETURN(auto rows, RowsFromBytes(bytes, right_.arrow_schema()));
    SLUICE_ASSIGN_OR_RETURN(const std::string matched, reader.GetBytes(kMatchedField));
    if (matched.size() != static_cast<size_t>(rows->num_rows())) {
      return Status::Corrupt("The state of a join does not tell for each row if it was matched.");
    }
    if (spec_.right_everywhere) {  // Each old subtask held all rows.
      SLUICE_RETURN_NOT_OK(right_.Add(Batch(std::move(rows)), eval_.pool));
      break;
    }
    SLUICE_ASSIGN_OR_RETURN(const std::vector<int64_t> mine, ShareOf(*rows, spec_.right_keys));
    for (const int64_t row : mine) {
      right_matched_.push_back(matched[static_cast<size_t>(row)] != '\0');
    }
    SLUICE_ASSIGN_OR_RETURN(rows, expr::TakeRows(*rows, mine, eval_.pool));
    SLUICE_RETURN_NOT_OK(right_.Add(Batch(std::move(rows)), eval_.pool));
  }
  return HoldMemory();
}

}  // namespace sluice::runtime
