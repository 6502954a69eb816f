// Runs actors on a fixed number of threads, the caller's included: a job with one worker starts no
// thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "runtime/executor.h"

namespace sluice::runtime {

// Invariants:
//  - An actor is in the ready queue at most once and runs on one worker at a time.
//  - Compute jobs go first: they are what a task waits for.
// Thread: Add and wakers from any thread; Run from one thread.
class ThreadExecutor final : public Executor {
 public:
  /// `clock` must outlive the executor. Fewer than one worker counts as one.
  ThreadExecutor(int worker_count, const Clock* clock);
  /// Joins the workers. Actors that are not done are dropped.
  ~ThreadExecutor() override;

  std::shared_ptr<Waker> Add(std::shared_ptr<Actor> actor) override;
  IoPool& compute_pool() override;

  /// Works on the calling thread until Quit; other workers start when there is work for them.
  void Run();
  /// Makes Run return and the workers end after what they are doing. Thread-safe.
  void Quit();

 private:
  struct Core;
  std::shared_ptr<Core> core_;
};

}  // namespace sluice::runtime
