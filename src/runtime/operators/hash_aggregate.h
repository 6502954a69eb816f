// GROUP BY and SELECT DISTINCT over a hash table.
#pragma once

#include <memory>
#include <vector>

#include "expr/aggregate.h"
#include "expr/group_table.h"
#include "runtime/operators/memory_hold.h"
#include "runtime/operators/project_filter.h"

namespace sluice::runtime {

/// Which part of an aggregation an operator does. Batch only, and only for calls whose state can be
/// merged in any order (COUNT, SUM, AVG, MIN, MAX): kPartial aggregates what it sees before the
/// exchange and sends state rows (keys, a state a call, rows of the group); kFinal merges them.
enum class AggregatePhase { kWhole, kPartial, kFinal };

struct AggregateSpec {
  std::vector<expr::ExprPtr> keys;         // Empty: one group that is always there.
  std::vector<expr::AggregateCall> calls;  // Empty: DISTINCT over the keys.
  Schema output;                           // Keys, then calls.
  /// Batch: results once, at the end of input. Streaming: a changelog as rows come.
  bool streaming = false;
  /// The input carries updates or deletes.
  bool input_changes = false;
  AggregatePhase phase = AggregatePhase::kWhole;
  EvalSettings eval;
};

// Streaming output: +I for a new group, -U and +U when a result changes, -D when the last row of a
// group was taken back. Batches of up to 256 rows give one change a row, as Flink does; larger ones
// one change a group, as Flink does with mini-batches.
//
// Thread: the task's. With several subtasks the exchange in front must hash by the keys, in their
// order. State: keys, accumulators and row counts as one Arrow batch; restored by hash of the key,
// at any parallelism. kPartial has none: it sends everything before a barrier.
class HashAggregateOperator final : public Operator {
 public:
  explicit HashAggregateOperator(AggregateSpec spec);
  ~HashAggregateOperator() override;

  Status Open(TaskContext& context) override;
  Status Restore(const RestoredState& state) override;
  Status Process(Batch batch, Output& out) override;
  Status ProcessWatermark(int64_t millis, Output& out) override;
  Status FinishInput(Output& out) override;
  Status Poll(Output& out) override;
  bool Ready() const override { return emit_at_ < 0; }
  Status PrepareSnapshot(const Barrier& barrier, Output& out) override;
  Status Snapshot(const Barrier& barrier, StateWriter& state) override;

 private:
  struct Changes;  // Output rows of one input batch.

  Status MakeTables();
  Result<std::shared_ptr<arrow::RecordBatch>> EvaluateKeys(const arrow::RecordBatch& rows);
  Status AddToGroups(const Batch& batch, const std::vector<int32_t>& group_of_row);
  Status RetractFromGroups(const Batch& batch, const std::vector<int32_t>& group_of_row);
  Status ApplyBatch(const Batch& batch, const std::vector<int32_t>& group_of_row);
  Status ProcessChanges(const Batch& batch, Changes* changes);
  Status EmitChanges(Changes changes, Output& out);
  Result<std::shared_ptr<arrow::RecordBatch>> Results(int64_t begin, int64_t end) const;
  Result<std::shared_ptr<arrow::RecordBatch>> ResultsOf(const std::vector<int32_t>& groups) const;
  Result<std::shared_ptr<arrow::RecordBatch>> StateRows() const;
  std::shared_ptr<arrow::Schema> StateSchema() const;
  Status MergeStateRows(const arrow::RecordBatch& rows);
  Status ProcessPartial(const Batch& batch, Output& out);
  Status SendPartial(Output& out);
  int64_t group_count() const;
  Status HoldMemory();

  const AggregateSpec spec_;
  const Schema key_schema_;
  const std::shared_ptr<arrow::Schema> output_schema_;
  expr::EvalContext eval_;
  std::unique_ptr<expr::GroupTable> table_;
  std::vector<std::unique_ptr<expr::Accumulator>> accumulators_;
  std::vector<int64_t> rows_of_group_;  // Rows added minus rows taken back.
  MemoryHold memory_;
  int64_t partial_rows_ = 0;     // kPartial: that went into the present groups.
  bool passes_through_ = false;  // kPartial: nearly every row has a key of its own.
  int64_t emit_at_ = -1;     // Next group to emit at the end of a batch input; -1: not emitting.
  bool handed_out_ = false;  // The results of the end of input are behind the operator.
};

}  // namespace sluice::runtime
