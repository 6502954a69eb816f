// An operator: single-threaded, sees elements in order, never blocks. A chain of operators makes a
// task.
//
// The task calls, in this order: Open, Restore (only after a restart), then any number of Process /
// ProcessWatermark / ProcessIdle / Poll / checkpoint calls, FinishInput once, and still checkpoint
// calls after it. Slow work goes to the I/O pool, whose completion calls TaskContext::wake; the
// task then calls Poll. While Ready() is false the task delivers no element to the whole chain.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <arrow/memory_pool.h>

#include "common/clock.h"
#include "common/io_pool.h"
#include "common/memory_budget.h"
#include "common/random.h"
#include "common/result.h"
#include "runtime/element.h"
#include "runtime/metrics.h"
#include "runtime/state.h"
#include "types/batch.h"

namespace sluice::runtime {

class Fence;

/// The world as one operator or source reader sees it. References outlive the task.
struct TaskContext {
  /// The same for every start and restart of the job until it ends: names what it owns.
  std::string job_id;
  /// Changes with every start and restart of the job: part of hidden names, fences leftovers of
  /// earlier attempts.
  std::string attempt_id;
  /// True when an earlier attempt or start of this job may have left something behind.
  bool begun_before = false;
  std::string operator_id;
  int subtask = 0;
  int parallelism = 1;
  const Clock* clock = nullptr;
  IoPool* io_pool = nullptr;       // Blocking work.
  IoPool* compute_pool = nullptr;  // CPU work beside the tasks (decoding in parallel).
  arrow::MemoryPool* memory_pool = nullptr;
  MemoryBudget* budget = nullptr;
  Metrics* metrics = nullptr;
  /// Null where no other process can take the job's place (queries, tests).
  const Fence* fence = nullptr;
  uint64_t random_seed = 0;
  /// Makes the task run soon. Thread-safe; may be called after the task is gone.
  std::function<void()> wake;
  /// Makes the task run at or soon after a wall-clock time in ms (only the earliest pending one is
  /// kept).
  std::function<void(int64_t at_ms)> wake_at;
  /// Asks for a checkpoint before the next periodic one; may come to nothing, and several are one.
  /// Thread-safe; null where nobody listens.
  std::function<void()> request_checkpoint;
};

/// Where an operator puts what it makes: the next operator of the chain, or the channels at its
/// end. Never blocks: channels over their bound make the task wait before its next step.
class Output {
 public:
  virtual ~Output() = default;
  virtual Status Emit(Batch batch) = 0;
  virtual Status EmitWatermark(int64_t millis) = 0;
  virtual Status EmitIdle(bool idle) = 0;
  /// No more input is needed (LIMIT reached): sources upstream of this chain may end early. Rows
  /// that still come are dropped.
  virtual Status StopInput() = 0;
};

class Operator {
 public:
  virtual ~Operator() = default;

  virtual Status Open(TaskContext& context) {
    context_ = &context;
    return {};
  }
  /// `state` holds all old subtasks; each operator takes its share (by key group, by hash, or
  /// subtask 0 takes all).
  virtual Status Restore(const RestoredState& state) {
    (void)state;
    return {};
  }

  virtual Status Process(Batch batch, Output& out) = 0;
  /// For operators with several inputs that differ (joins). Unions just take every batch.
  virtual Status ProcessInput(int input_index, Batch batch, Output& out) {
    (void)input_index;
    return Process(std::move(batch), out);
  }
  /// The minimum over active inputs has moved to `millis`.
  virtual Status ProcessWatermark(int64_t millis, Output& out) { return out.EmitWatermark(millis); }
  virtual Status ProcessIdle(bool idle, Output& out) { return out.EmitIdle(idle); }
  /// Called after a wake-up: collects finished I/O, looks at timers.
  virtual Status Poll(Output& out) {
    (void)out;
    return {};
  }
  /// False while the operator cannot take more (I/O pending, memory over budget): it must wake the
  /// task later.
  virtual bool Ready() const { return true; }
  /// All inputs have ended. What was started here may finish in Poll: the task forwards the end
  /// only when Ready() is true again.
  virtual Status FinishInput(Output& out) {
    (void)out;
    return {};
  }

  /// Step 1 of a checkpoint: flush, close files, emit what downstream must see before the barrier.
  /// May start I/O; Snapshot follows when Ready().
  virtual Status PrepareSnapshot(const Barrier& barrier, Output& out) {
    (void)barrier;
    (void)out;
    return {};
  }
  /// Step 2: synchronous and small. Not called for operators without state? It is: write nothing
  /// then.
  virtual Status Snapshot(const Barrier& barrier, StateWriter& state) {
    (void)barrier;
    (void)state;
    return {};
  }
  /// Checkpoint `id` is durable; covers every id below. May start I/O. Called again for the
  /// restored checkpoint right after Restore, so that what a crash cut off is done (publishing is
  /// idempotent).
  virtual Status CheckpointComplete(CheckpointId id, Output& out) {
    (void)id;
    (void)out;
    return {};
  }
  /// False while work started by CheckpointComplete goes on: the job does not end before.
  virtual bool Drained() const { return true; }

 protected:
  TaskContext& context() const { return *context_; }

 private:
  TaskContext* context_ = nullptr;
};

}  // namespace sluice::runtime
