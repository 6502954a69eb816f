// Who runs tasks: a pool of threads, or one thread in an order drawn from a seed.
#pragma once

#include <cstdint>
#include <memory>

#include "common/io_pool.h"

namespace sluice::runtime {

enum class StepResult {
  kProgress,  // There may be more to do at once.
  kBlocked,   // Nothing to do until woken.
  kDone,      // Never step again.
};

/// Something that is stepped: a task, or the master of a job. Runs on one thread at a time.
class Actor {
 public:
  virtual ~Actor() = default;
  /// Does a small piece of work (at most one batch); never blocks, never sleeps.
  virtual StepResult Step() = 0;
};

/// The bell of one actor. Thread-safe; stays a valid object when actor and executor are gone.
class Waker {
 public:
  virtual ~Waker() = default;
  /// Makes the actor run soon. A ring during its step makes it run once more.
  virtual void Wake() = 0;
  /// Rings at or soon after a wall-clock time in ms; only the earliest pending time is kept.
  virtual void WakeAt(int64_t at_ms) = 0;
};

class Executor {
 public:
  virtual ~Executor() = default;
  /// Takes an actor over; it runs first when it is woken and is let go after kDone.
  virtual std::shared_ptr<Waker> Add(std::shared_ptr<Actor> actor) = 0;
  /// CPU work beside the tasks, on the same threads and ahead of them.
  virtual IoPool& compute_pool() = 0;
};

}  // namespace sluice::runtime
