// One subtask of one vertex: a source reader or input channels, a chain of operators, and the
// exchanges behind it.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/channel.h"
#include "runtime/checkpoint/checkpoint_data.h"
#include "runtime/exchange.h"
#include "runtime/executor.h"
#include "runtime/input_order.h"
#include "runtime/input_watermarks.h"
#include "runtime/operator.h"
#include "runtime/source.h"

namespace sluice::runtime {

/// What a task tells the master of its job. Thread-safe; called on task threads.
class TaskEvents {
 public:
  virtual ~TaskEvents() = default;
  /// The reader has answered the barrier: the part that FreezeSplits waits for.
  virtual void OnReaderSnapshot(CheckpointId id, const std::string& source_id, int subtask,
                                StateFields fields) = 0;
  /// All operators of the task have answered the barrier; `counts` is what it has counted by then.
  virtual void OnTaskSnapshot(CheckpointId id, int task_index, std::vector<OperatorState> states,
                              Counts counts) = 0;
  /// The end of all input has passed through the task.
  virtual void OnInputEnded(int task_index) = 0;
  /// The task is over and its operators are gone: OK, kCancelled, or the failure.
  virtual void OnTaskGone(int task_index, Status status) = 0;
};

/// One operator and the world it sees.
struct ChainLink {
  std::string id;
  std::string name;
  std::unique_ptr<Operator> op;
  TaskContext context;
};

struct TaskInput {
  std::shared_ptr<Channel> channel;
  int input_index = 0;
};

/// What a task is made of.
struct TaskParts {
  std::shared_ptr<Metrics> metrics;  // That of all contexts below.
  int task_index = 0;                // Within the job.
  std::string name;                  // "Source: orders (2/4)".
  std::string source_id;
  std::unique_ptr<SourceReader> reader;  // Null for tasks with inputs.
  TaskContext reader_context;
  std::vector<ChainLink> chain;
  std::vector<TaskInput> inputs;
  std::vector<std::unique_ptr<ExchangeWriter>> outputs;
  std::shared_ptr<const CheckpointData> restored;  // Null on a fresh start.
  const Clock* clock = nullptr;
};

// Steps of its life: open and restore; elements; the end of input, operator by operator;
// checkpoints still; and when the job's last checkpoint is complete and everything it started is
// done, close the outputs and go.
//
// Invariants:
//  - While any operator of the chain is not Ready no element is delivered. Poll and
//  CheckpointComplete are, and what they emit goes
//    down the chain and into the channels, after the end of input too (reports of published files).
//  - Between an operator's Snapshot and the moment the barrier leaves the task, that operator and
//  those before it are not polled: what
//    they would emit belongs to the next checkpoint.
//  - Several inputs are aligned: a channel whose barrier has come is not read until it has come on
//  all.
// Thread: Step on one thread at a time; the other public methods from any.
class Task final : public Actor {
 public:
  Task(TaskParts parts, TaskEvents* events);
  ~Task() override;

  /// Called once, before the first step; also gives the operators their wake functions.
  void SetWaker(std::shared_ptr<Waker> waker);

  StepResult Step() override;

  /// For tasks with a reader: snapshot and send the barrier.
  void TriggerCheckpoint(const Barrier& barrier);
  /// For tasks with a reader: what it has emitted is all.
  void EndSource();
  /// Checkpoint `id` is durable. `last`: nothing but draining follows.
  void NotifyComplete(CheckpointId id, bool last);
  /// Ends at the next step without closing anything.
  void Cancel();

  const std::string& name() const { return parts_.name; }
  bool is_source() const { return is_source_; }

 private:
  class ChainOutput;
  struct Signal;
  struct Mail {
    std::optional<Barrier> trigger;
    bool end_source = false;
    CheckpointId complete_id = 0;
    bool last = false;
  };
  enum class Sequence { kNone, kSnapshot, kFinish };

  Status Start();
  Status RestoreOperator(ChainLink& link);
  Result<StepResult> Advance();
  StepResult Leave(Status status);

  void ReadMail();
  Status DeliverCompletes();
  void TakeDueTimers();
  Status PollOperators();
  bool ReadyFrom(size_t first) const;
  Result<bool> AllDrained() const;
  bool OutputsHaveRoom() const;
  void StopInputWhenUnwanted();

  Result<StepResult> PollReader();
  Result<StepResult> ReadInputs();
  Status Deliver(size_t input, StreamElement element);
  Status OnEnd(size_t input);
  Status DeliverEventTime();
  Status OnBarrier(size_t input, const Barrier& barrier);

  Status BeginSnapshot(const Barrier& barrier);
  Status BeginFinish();
  Result<StepResult> AdvanceSnapshot();
  Result<StepResult> AdvanceFinish();
  void SendControl(const StreamElement& element);
  Status Named(Status status, size_t link) const;
  void RearmTimers();

  TaskParts parts_;
  TaskEvents* const events_;
  const bool is_source_;
  InputOrder* const input_order_;  // The first operator, when it is one.
  std::vector<std::unique_ptr<ChainOutput>>
      outputs_of_;  // [i] is where operator i - 1 emits; [0] the head.
  std::shared_ptr<Signal> signal_;

  bool started_ = false;
  bool input_stopped_ = false;  // LIMIT: nobody wants more data.
  bool halted_ = false;         // A stopping barrier has passed: no more reading.
  bool ended_ = false;
  bool last_complete_ = false;
  std::deque<Barrier> triggers_;
  std::deque<CheckpointId> completes_;
  size_t complete_position_ = 0;  // Operators, from the last, that know of the first of them.
  bool poll_held_back_ = false;   // Some were not polled because the next was not ready.

  InputWatermarks watermarks_;
  std::vector<bool> aligned_;
  std::vector<bool> input_ended_;
  size_t next_input_ = 0;

  Sequence sequence_ = Sequence::kNone;
  Barrier barrier_;
  size_t position_ = 0;    // Operator whose turn it is in the sequence.
  bool prepared_ = false;  // Its first call has been made.
  std::vector<OperatorState> states_;
};

}  // namespace sluice::runtime
