// Where slow calls go: fsync, rename, listing, HTTP. A task hands over a function and is woken when
// it is done.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace sluice {

/// Runs functions outside the task threads. Thread-safe.
class IoPool {
 public:
  virtual ~IoPool() = default;
  /// Runs `work` soon. `work` must not throw and must not block on another function of the same
  /// pool.
  virtual void Submit(std::function<void()> work) = 0;
};

/// Threads started as work arrives, up to `thread_limit`; joined by the destructor after the queue
/// is empty.
class ThreadIoPool final : public IoPool {
 public:
  explicit ThreadIoPool(int thread_limit);
  ~ThreadIoPool() override;
  void Submit(std::function<void()> work) override;

 private:
  void Run();

  const int thread_limit_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> queue_;
  std::vector<std::thread> threads_;
  int idle_threads_ = 0;
  bool stopping_ = false;
};

/// Runs each function at once on the caller's thread: for batch planning and tests.
class InlineIoPool final : public IoPool {
 public:
  void Submit(std::function<void()> work) override { work(); }
};

}  // namespace sluice
