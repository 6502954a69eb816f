#include "runtime/operators/join_marks.h"

#include <arrow/array/builder_primitive.h>

#include "runtime/operators/join_rows.h"
#include "types/arrow_status.h"

namespace sluice::runtime {
namespace {

/// The group of each row, then the member values: what TRUE is looked up by.
Result<std::shared_ptr<arrow::RecordBatch>> WithGroups(const std::vector<int32_t>& groups,
                                                       const arrow::RecordBatch& members,
                                                       arrow::MemoryPool* pool) {
  arrow::Int32Builder builder(pool);
  SLUICE_RETURN_ARROW(builder.AppendValues(groups));
  std::shared_ptr<arrow::Array> column;
  SLUICE_RETURN_ARROW(builder.Finish(&column));
  const auto added = members.AddColumn(0, "group", column);
  if (!added.ok()) return Status::Internal(added.status().message());
  return *added;
}

Schema MemberSchema(const std::vector<expr::ExprPtr>& members) {
  std::vector<Column> columns = {{"group", SqlType::Int()}};
  const Schema schema = KeySchema(members);
  for (const Column& column : schema.columns()) columns.push_back(column);
  return Schema(std::move(columns));
}

}  // namespace

Result<std::unique_ptr<JoinMarks>> JoinMarks::Make(const JoinSpec& spec, const JoinTable& table,
                                                   const expr::EvalContext& eval) {
  std::unique_ptr<JoinMarks> marks(new JoinMarks(spec, table));
  if (spec.membership == nullptr || marks->ByPairsOnly()) return marks;
  SLUICE_ASSIGN_OR_RETURN(const auto keys, EvaluateKeys(spec.right_keys, table.rows(), eval));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> groups, table.Find(*keys));
  SLUICE_ASSIGN_OR_RETURN(const auto members, EvaluateKeys(spec.right_members, table.rows(), eval));
  const std::vector<bool> with_null = RowsWithNull(*members);
  for (size_t row = 0; row < groups.size(); ++row) {
    if (groups[row] < 0 || !with_null[row]) continue;
    const auto group = static_cast<size_t>(groups[row]);
    if (marks->group_has_null_.size() <= group) marks->group_has_null_.resize(group + 1);
    marks->group_has_null_[group] = true;
  }
  // Rows with a NULL stay in the table of members: a value without NULL never equals them.
  SLUICE_ASSIGN_OR_RETURN(const auto rows, WithGroups(groups, *members, eval.pool));
  marks->members_ = std::make_unique<expr::GroupTable>(MemberSchema(spec.right_members), eval.pool);
  SLUICE_RETURN_NOT_OK(marks->members_->GroupIds(*rows).status());
  return marks;
}

bool JoinMarks::ByPairsOnly() const {
  return spec_.residual != nullptr || (spec_.membership != nullptr && spec_.left_members.empty());
}

Result<std::shared_ptr<arrow::Array>> JoinMarks::Of(const arrow::RecordBatch& rows,
                                                    const std::vector<int32_t>& groups,
                                                    const expr::EvalContext& eval) const {
  std::vector<Mark> marks(groups.size(), Mark::kFalse);
  std::vector<int64_t> undecided;
  if (ByPairsOnly()) {
    for (size_t row = 0; row < groups.size(); ++row) {
      if (groups[row] >= 0) undecided.push_back(static_cast<int64_t>(row));
    }
  } else if (spec_.membership == nullptr) {
    for (size_t row = 0; row < groups.size(); ++row) {
      if (groups[row] >= 0 && !table_.RowsOf(groups[row]).empty()) marks[row] = Mark::kTrue;
    }
  } else {
    SLUICE_RETURN_NOT_OK(MarkMembers(rows, groups, eval, &marks, &undecided));
  }
  SLUICE_RETURN_NOT_OK(MarkPairs(rows, groups, undecided, eval, &marks));
  arrow::BooleanBuilder builder(eval.pool);
  SLUICE_RETURN_ARROW(builder.Reserve(static_cast<int64_t>(marks.size())));
  for (const Mark mark : marks) {
    if (mark == Mark::kUnknown) {
      builder.UnsafeAppendNull();
    } else {
      builder.UnsafeAppend(mark == Mark::kTrue);
    }
  }
  std::shared_ptr<arrow::Array> column;
  SLUICE_RETURN_ARROW(builder.Finish(&column));
  return column;
}

// What a lookup can tell; rows for which right rows must be looked at one by one are `undecided`.
Status JoinMarks::MarkMembers(const arrow::RecordBatch& rows, const std::vector<int32_t>& groups,
                              const expr::EvalContext& eval, std::vector<Mark>* marks,
                              std::vector<int64_t>* undecided) const {
  SLUICE_ASSIGN_OR_RETURN(const auto members, EvaluateKeys(spec_.left_members, rows, eval));
  SLUICE_ASSIGN_OR_RETURN(const auto keys, WithGroups(groups, *members, eval.pool));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> found, members_->FindGroupIds(*keys));
  const std::vector<bool> with_null = RowsWithNull(*members);
  for (size_t row = 0; row < groups.size(); ++row) {
    if (groups[row] < 0 || table_.RowsOf(groups[row]).empty()) continue;
    const auto group = static_cast<size_t>(groups[row]);
    const bool right_null = group < group_has_null_.size() && group_has_null_[group];
    if (found[row] >= 0 && !with_null[row]) {
      (*marks)[row] = Mark::kTrue;
    } else if (with_null[row] || right_null) {
      if (spec_.left_members.size() == 1) {
        (*marks)[row] = Mark::kUnknown;
      } else {
        undecided->push_back(static_cast<int64_t>(row));
      }
    }
  }
  return {};
}

Status JoinMarks::MarkPairs(const arrow::RecordBatch& rows, const std::vector<int32_t>& groups,
                            const std::vector<int64_t>& undecided, const expr::EvalContext& eval,
                            std::vector<Mark>* marks) const {
  std::vector<int64_t> left;
  std::vector<int64_t> right;
  const auto evaluate = [&]() -> Status {
    SLUICE_ASSIGN_OR_RETURN(const auto pairs,
                            SideBySide({rows, left, spec_.left_width},
                                       {table_.rows(), right, spec_.right_width}, eval.pool));
    std::shared_ptr<arrow::Array> fits;
    std::shared_ptr<arrow::Array> equal;
    if (spec_.residual) {
      SLUICE_ASSIGN_OR_RETURN(fits, expr::EvaluateToArray(*spec_.residual, *pairs, eval));
    }
    if (spec_.membership) {
      SLUICE_ASSIGN_OR_RETURN(equal, expr::EvaluateToArray(*spec_.membership, *pairs, eval));
    }
    const auto* fit = static_cast<const arrow::BooleanArray*>(fits.get());
    const auto* same = static_cast<const arrow::BooleanArray*>(equal.get());
    for (size_t i = 0; i < left.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      if (fit != nullptr && (fit->IsNull(at) || !fit->Value(at))) continue;
      const Mark mark = same == nullptr    ? Mark::kTrue
                        : same->IsNull(at) ? Mark::kUnknown
                        : same->Value(at)  ? Mark::kTrue
                                           : Mark::kFalse;
      Mark& of_row = (*marks)[static_cast<size_t>(left[i])];
      of_row = std::max(of_row, mark);
    }
    left.clear();
    right.clear();
    return {};
  };
  for (const int64_t row : undecided) {
    for (const int32_t match : table_.RowsOf(groups[static_cast<size_t>(row)])) {
      left.push_back(row);
      right.push_back(match);
      if (static_cast<int64_t>(left.size()) < kTargetBatchRows) continue;
      SLUICE_RETURN_NOT_OK(evaluate());
      if ((*marks)[static_cast<size_t>(row)] == Mark::kTrue) break;
    }
  }
  return left.empty() ? Status() : evaluate();
}

int64_t JoinMarks::memory_bytes() const { return members_ ? members_->memory_bytes() : 0; }

}  // namespace sluice::runtime
