#include "common/io_pool.h"

namespace sluice {

ThreadIoPool::ThreadIoPool(int thread_limit) : thread_limit_(thread_limit < 1 ? 1 : thread_limit) {}

ThreadIoPool::~ThreadIoPool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadIoPool::Submit(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  queue_.push_back(std::move(work));
  if (static_cast<int>(queue_.size()) > idle_threads_ &&
      static_cast<int>(threads_.size()) < thread_limit_) {
    threads_.emplace_back([this] { Run(); });
  } else {
    wake_.notify_one();
  }
}

void ThreadIoPool::Run() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_threads_;
    wake_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    --idle_threads_;
    if (queue_.empty()) return;  // Only when stopping.
    std::function<void()> work = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    work();
    work = nullptr;  // Captured objects die outside the lock.
    lock.lock();
  }
}

}  // namespace sluice
