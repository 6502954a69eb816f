// Hands the rows of a query from the job's tasks to the one who asked for them.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "runtime/operator.h"

namespace sluice::runtime {

/// A bounded queue between the collecting task and the client. Thread-safe.
class ResultQueue {
 public:
  explicit ResultQueue(int64_t capacity_batches = 64) : capacity_batches_(capacity_batches) {}

  /// Producer: false when full; `wake` is then called once there is room.
  bool Push(Batch batch, const std::function<void()>& wake);
  /// Producer: nothing follows. `status` is what the job ended with.
  void Close(Status status);

  /// Consumer: blocks for the next batch; nullopt at the end, or the failure of the job. With
  /// `timeout_ms` >= 0 an empty batch (no rows()) after that time.
  Result<std::optional<Batch>> Pop(int64_t timeout_ms = -1);

 private:
  const int64_t capacity_batches_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch> batches_;
  std::function<void()> wake_producer_;
  bool closed_ = false;
  Status final_status_;
};

/// The last operator of a query. Thread: the task's, parallelism 1. State: none, a query is not
/// resumed.
class CollectOperator final : public Operator {
 public:
  explicit CollectOperator(std::shared_ptr<ResultQueue> queue) : queue_(std::move(queue)) {}
  Status Process(Batch batch, Output& out) override;
  Status Poll(Output& out) override;
  bool Ready() const override { return waiting_.empty(); }

 private:
  const std::shared_ptr<ResultQueue> queue_;
  std::deque<Batch> waiting_;  // One batch may become several on its way through the chain.
};

}  // namespace sluice::runtime
