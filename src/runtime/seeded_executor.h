// Runs actors, I/O and compute jobs on the calling thread, in an order drawn from a seed, under a
// clock that it moves itself. The same task code as in production; a failing order can be repeated.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "common/clock.h"
#include "common/random.h"
#include "runtime/executor.h"

namespace sluice::runtime {

struct SeededExecutorOptions {
  /// I/O takes between 0 and this long, in virtual time.
  int64_t io_delay_ms_max = 20;
  /// One in so many I/O calls takes `slow_io_ms` instead; 0 = never.
  uint64_t slow_io_one_in = 0;
  int64_t slow_io_ms = 5'000;
};

// Thread: everything on one thread, wakers included.
class SeededExecutor final : public Executor {
 public:
  SeededExecutor(uint64_t seed, VirtualClock* clock, SeededExecutorOptions options = {});
  ~SeededExecutor() override;

  std::shared_ptr<Waker> Add(std::shared_ptr<Actor> actor) override;
  IoPool& compute_pool() override;
  IoPool& io_pool();

  /// Does one thing; moves the clock when nothing else is left to do. False: nothing will ever
  /// happen again.
  bool RunOne();
  /// Steps until `done` or nothing is left; false when `limit` steps did not suffice.
  bool RunUntil(const std::function<bool()>& done, int64_t limit = 1'000'000);
  int64_t step_count() const;

 private:
  struct Core;
  std::shared_ptr<Core> core_;
};

}  // namespace sluice::runtime
