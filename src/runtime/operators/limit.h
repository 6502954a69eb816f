// LIMIT and OFFSET without order: the first rows that come.
#pragma once

#include <cstdint>

#include "runtime/operator.h"

namespace sluice::runtime {

/// Thread: the task's; runs with parallelism 1. State: what is left to skip and to pass.
class LimitOperator final : public Operator {
 public:
  /// `limit_rows` < 0: no limit, only OFFSET.
  LimitOperator(int64_t offset_rows, int64_t limit_rows)
      : to_skip_(offset_rows), remaining_rows_(limit_rows) {}

  Status Process(Batch batch, Output& out) override {
    if (to_skip_ > 0) {
      const int64_t skipped = std::min(to_skip_, batch.row_count());
      to_skip_ -= skipped;
      batch = batch.Slice(skipped, batch.row_count() - skipped);
    }
    if (remaining_rows_ < 0) return batch.row_count() == 0 ? Status() : out.Emit(std::move(batch));
    if (remaining_rows_ < batch.row_count()) batch = batch.Slice(0, remaining_rows_);
    remaining_rows_ -= batch.row_count();
    if (batch.row_count() > 0) SLUICE_RETURN_NOT_OK(out.Emit(std::move(batch)));
    return remaining_rows_ == 0 ? out.StopInput() : Status();
  }

  Status Snapshot(const Barrier&, StateWriter& state) override {
    state.PutI64("to_skip", to_skip_);
    state.PutI64("remaining_rows", remaining_rows_);
    return {};
  }

  Status Restore(const RestoredState& state) override {
    if (state.subtasks.empty()) return {};
    SLUICE_ASSIGN_OR_RETURN(to_skip_, state.subtasks[0].GetI64("to_skip"));
    SLUICE_ASSIGN_OR_RETURN(remaining_rows_, state.subtasks[0].GetI64("remaining_rows"));
    return {};
  }

 private:
  int64_t to_skip_;
  int64_t remaining_rows_;
};

}  // namespace sluice::runtime
