// ORDER BY, with or without LIMIT and OFFSET.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "expr/sort.h"
#include "runtime/operators/held_rows.h"
#include "runtime/operators/memory_hold.h"
#include "runtime/operators/project_filter.h"

namespace sluice::runtime {

struct SortExpression {
  expr::ExprPtr expression;
  bool descending = false;
  bool nulls_first = true;
};

struct SortSpec {
  std::vector<SortExpression> keys;
  std::optional<int64_t> limit_rows;
  int64_t offset_rows = 0;
  Schema schema;  // Of input and output.
  EvalSettings eval;
  /// False: sorted rows once, at the end of input. True (needs a limit): the first rows as a
  /// changelog that follows the input.
  bool emit_changes = false;
  /// The input may take rows back: those behind the limit are kept, they may move up.
  bool input_changes = false;
};

// Holds the rows in memory; with a limit over an input of inserts only those that can still be
// among the first. Rows that the input takes back are cancelled against equal ones.
//
// Thread: the task's, parallelism 1. State: the rows held and those that stand as emitted.
class SortOperator final : public Operator {
 public:
  explicit SortOperator(SortSpec spec);

  Status Open(TaskContext& context) override;
  Status Restore(const RestoredState& state) override;
  Status Process(Batch batch, Output& out) override;
  Status FinishInput(Output& out) override;
  Status Poll(Output& out) override;
  bool Ready() const override { return sorted_ == nullptr; }
  Status Snapshot(const Barrier& barrier, StateWriter& state) override;

 private:
  Result<std::vector<int64_t>> SortedIndices(const arrow::RecordBatch& rows, int64_t limit) const;
  Result<std::shared_ptr<arrow::RecordBatch>> FirstRows();
  Status EmitDifference(Output& out);
  int64_t wanted_rows() const {
    return spec_.limit_rows ? spec_.offset_rows + *spec_.limit_rows : -1;
  }

  const SortSpec spec_;
  expr::EvalContext eval_;
  HeldRows held_;  // Every row once one was taken back: each may be needed again.
  MemoryHold memory_;
  std::shared_ptr<arrow::RecordBatch> emitted_;  // emit_changes: what stands downstream.
  std::shared_ptr<arrow::RecordBatch> sorted_;   // While the end is emitted.
  int64_t emit_at_ = 0;
};

}  // namespace sluice::runtime
