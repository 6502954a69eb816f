#include "runtime/operators/result_queue.h"

#include <chrono>

namespace sluice::runtime {

bool ResultQueue::Push(Batch batch, const std::function<void()>& wake) {
  const std::lock_guard lock(mutex_);
  if (static_cast<int64_t>(batches_.size()) >= capacity_batches_) {
    wake_producer_ = wake;
    return false;
  }
  batches_.push_back(std::move(batch));
  changed_.notify_one();
  return true;
}

void ResultQueue::Close(Status status) {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  final_status_ = std::move(status);
  changed_.notify_all();
}

Result<std::optional<Batch>> ResultQueue::Pop(int64_t timeout_ms) {
  std::unique_lock lock(mutex_);
  const auto ready = [this] { return closed_ || !batches_.empty(); };
  if (timeout_ms < 0) {
    changed_.wait(lock, ready);
  } else if (!changed_.wait_for(lock, std::chrono::milliseconds(timeout_ms), ready)) {
    return std::optional<Batch>(Batch());
  }
  if (batches_.empty()) {
    if (!final_status_.ok()) return final_status_;
    return std::optional<Batch>();
  }
  Batch batch = std::move(batches_.front());
  batches_.pop_front();
  std::function<void()> wake = std::move(wake_producer_);
  wake_producer_ = nullptr;
  lock.unlock();
  if (wake) wake();
  return std::optional<Batch>(std::move(batch));
}

Status CollectOperator::Process(Batch batch, Output&) {
  if (!waiting_.empty() || !queue_->Push(batch, context().wake))
    waiting_.push_back(std::move(batch));
  return {};
}

Status CollectOperator::Poll(Output&) {
  while (!waiting_.empty() && queue_->Push(waiting_.front(), context().wake)) waiting_.pop_front();
  return {};
}

}  // namespace sluice::runtime
