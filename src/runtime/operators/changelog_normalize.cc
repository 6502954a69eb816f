#include "runtime/operators/changelog_normalize.h"

#include <numeric>

#include <arrow/array/builder_primitive.h>

#include "expr/key_split.h"
#include "expr/sort.h"
#include "runtime/operators/rows_in_state.h"
#include "types/arrow_status.h"

namespace sluice::runtime {
namespace {

constexpr std::string_view kStateField = "last_rows";
constexpr int64_t kCleanUpRows = 64 << 10;  // Not worth the work below.

}  // namespace

struct ChangelogNormalizeOperator::Changes {
  arrow::RecordBatchVector rows;  // One row each.
  std::vector<int8_t> kinds;

  void Add(std::shared_ptr<arrow::RecordBatch> row, RowKind kind) {
    rows.push_back(std::move(row));
    kinds.push_back(static_cast<int8_t>(kind));
  }
};

ChangelogNormalizeOperator::ChangelogNormalizeOperator(std::vector<int> key_columns, Schema schema)
    : key_columns_(std::move(key_columns)),
      schema_(std::move(schema)),
      arrow_schema_(schema_.ToArrow()) {}

Status ChangelogNormalizeOperator::Open(TaskContext& context) {
  SLUICE_RETURN_NOT_OK(Operator::Open(context));
  memory_.Open(context.budget, "table.exec.source.cdc-events-duplicate");
  MakeTables();
  return {};
}

void ChangelogNormalizeOperator::MakeTables() {
  keys_ = std::make_unique<expr::GroupTable>(schema_.Select(key_columns_), context().memory_pool);
  rows_ = std::make_unique<expr::GroupTable>(schema_, context().memory_pool);
  last_of_key_.clear();
  live_count_ = 0;
}

Result<std::shared_ptr<arrow::RecordBatch>> ChangelogNormalizeOperator::KeysOf(
    const arrow::RecordBatch& rows) const {
  return FromArrow(rows.SelectColumns(key_columns_));
}

Status ChangelogNormalizeOperator::Process(Batch batch, Output& out) {
  SLUICE_ASSIGN_OR_RETURN(const auto keys, KeysOf(*batch.rows()));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> key_ids, keys_->GroupIds(*keys));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> row_ids, rows_->GroupIds(*batch.rows()));
  last_of_key_.resize(static_cast<size_t>(keys_->group_count()), -1);
  Changes changes;
  for (int64_t row = 0; row < batch.row_count(); ++row) {
    const auto at = static_cast<size_t>(row);
    int32_t* last = &last_of_key_[static_cast<size_t>(key_ids[at])];
    switch (batch.row_kind(row)) {
      case RowKind::kInsert:
      case RowKind::kUpdateAfter:
        SLUICE_RETURN_NOT_OK(Keep(batch, row, last, row_ids[at], &changes));
        break;
      case RowKind::kDelete:
        SLUICE_RETURN_NOT_OK(Remove(last, &changes));
        break;
      case RowKind::kUpdateBefore:
        break;
    }
  }
  SLUICE_RETURN_NOT_OK(CleanUp());
  SLUICE_RETURN_NOT_OK(HoldMemory());
  if (changes.rows.empty()) return {};
  SLUICE_ASSIGN_OR_RETURN(auto rows,
                          Concatenate(changes.rows, arrow_schema_, context().memory_pool));
  arrow::Int8Builder builder(context().memory_pool);
  SLUICE_RETURN_ARROW(builder.AppendValues(changes.kinds));
  std::shared_ptr<arrow::Int8Array> kinds;
  SLUICE_RETURN_ARROW(builder.Finish(&kinds));
  return out.Emit(Batch(std::move(rows), std::move(kinds)));
}

Status ChangelogNormalizeOperator::Keep(const Batch& batch, int64_t row, int32_t* last,
                                        int32_t row_id, Changes* changes) {
  if (*last == row_id) return {};
  const auto now = batch.rows()->Slice(row, 1);
  if (*last < 0) {
    changes->Add(now, RowKind::kInsert);
    ++live_count_;
  } else {
    SLUICE_ASSIGN_OR_RETURN(auto before, rows_->Keys(*last, *last + 1));
    changes->Add(std::move(before), RowKind::kUpdateBefore);
    changes->Add(now, RowKind::kUpdateAfter);
  }
  *last = row_id;
  return {};
}

Status ChangelogNormalizeOperator::Remove(int32_t* last, Changes* changes) {
  if (*last < 0) return {};
  SLUICE_ASSIGN_OR_RETURN(auto gone, rows_->Keys(*last, *last + 1));
  changes->Add(std::move(gone), RowKind::kDelete);
  *last = -1;
  --live_count_;
  return {};
}

Result<std::shared_ptr<arrow::RecordBatch>> ChangelogNormalizeOperator::LastRows() const {
  std::vector<int64_t> live;
  for (const int32_t id : last_of_key_) {
    if (id >= 0) live.push_back(id);
  }
  SLUICE_ASSIGN_OR_RETURN(const auto rows, rows_->Keys(0, rows_->group_count()));
  return expr::TakeRows(*rows, live, context().memory_pool);
}

Status ChangelogNormalizeOperator::Remember(const arrow::RecordBatch& rows) {
  SLUICE_ASSIGN_OR_RETURN(const auto keys, KeysOf(rows));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> key_ids, keys_->GroupIds(*keys));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> row_ids, rows_->GroupIds(rows));
  last_of_key_.resize(static_cast<size_t>(keys_->group_count()), -1);
  for (size_t i = 0; i < key_ids.size(); ++i) {
    last_of_key_[static_cast<size_t>(key_ids[i])] = row_ids[i];
  }
  live_count_ = keys_->group_count();
  return {};
}

Status ChangelogNormalizeOperator::CleanUp() {
  const int64_t dead = rows_->group_count() + keys_->group_count() - 2 * live_count_;
  if (dead < kCleanUpRows || dead < 2 * live_count_) return {};
  SLUICE_ASSIGN_OR_RETURN(const auto rows, LastRows());
  MakeTables();
  return Remember(*rows);
}

Status ChangelogNormalizeOperator::HoldMemory() {
  return memory_.Set(keys_->memory_bytes() + rows_->memory_bytes() +
                     static_cast<int64_t>(last_of_key_.capacity()) * 4);
}

Status ChangelogNormalizeOperator::Snapshot(const Barrier&, StateWriter& state) {
  SLUICE_ASSIGN_OR_RETURN(const auto rows, LastRows());
  SLUICE_ASSIGN_OR_RETURN(std::string bytes, RowsToBytes(*rows));
  state.PutBytes(kStateField, std::move(bytes));
  return {};
}

Status ChangelogNormalizeOperator::Restore(const RestoredState& state) {
  for (const StateReader& reader : state.subtasks) {
    SLUICE_ASSIGN_OR_RETURN(const std::string bytes, reader.GetBytes(kStateField));
    SLUICE_ASSIGN_OR_RETURN(auto rows, RowsFromBytes(bytes, arrow_schema_));
    if (rows->num_rows() == 0) continue;
    if (context().parallelism > 1) {
      SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> channel,
                              expr::RouteByKey(*rows, key_columns_, context().parallelism));
      std::vector<int64_t> mine;
      for (int64_t row = 0; row < rows->num_rows(); ++row) {
        if (channel[static_cast<size_t>(row)] == context().subtask) mine.push_back(row);
      }
      SLUICE_ASSIGN_OR_RETURN(rows, expr::TakeRows(*rows, mine, context().memory_pool));
    }
    SLUICE_RETURN_NOT_OK(Remember(*rows));
  }
  return HoldMemory();
}

}  // namespace sluice::runtime
