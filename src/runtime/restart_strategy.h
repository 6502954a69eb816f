// After a failure: try again after how long, or give up.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "common/random.h"
#include "runtime/job.h"

namespace sluice::runtime {

/// Thread: the master of one job. State: none in checkpoints; a new process starts with a clean
/// slate.
class RestartStrategy {
 public:
  RestartStrategy(const RestartSettings& settings, uint64_t seed);

  /// Milliseconds to wait before the next attempt, nullopt to give up. `now_ms` is the time of the
  /// failure.
  std::optional<int64_t> OnFailure(int64_t now_ms);
  /// Failures so far that were answered with a restart.
  int restart_count() const { return restart_count_; }

 private:
  std::optional<int64_t> ExponentialDelay(int64_t now_ms);
  std::optional<int64_t> FailureRateDelay(int64_t now_ms);

  const RestartSettings settings_;
  Random random_;
  int restart_count_ = 0;
  double backoff_ms_;
  int64_t attempts_since_reset_ = 0;
  std::optional<int64_t> last_start_ms_;
  std::deque<int64_t> failures_ms_;
};

}  // namespace sluice::runtime
