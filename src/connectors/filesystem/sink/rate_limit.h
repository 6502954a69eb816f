// Bounds how many bytes in a second some pieces of work write together.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace sluice::connectors::filesystem {

/// Thread-safe. Real time, not a job's Clock: it paces work that blocks on a thread of its own.
class RateLimit {
 public:
  /// 0: not bounded.
  explicit RateLimit(int64_t bytes_per_second) : bytes_per_second_(bytes_per_second) {}

  /// Waits until these bytes may be written. What was not used is not saved up.
  void Take(int64_t bytes) {
    if (bytes_per_second_ <= 0) return;
    std::unique_lock lock(mutex_);
    const auto may_begin = std::max(free_at_, std::chrono::steady_clock::now());
    free_at_ = may_begin + std::chrono::microseconds(bytes * 1'000'000 / bytes_per_second_);
    changed_.wait_until(lock, may_begin, [this] { return stopped_; });
  }
  /// Nobody waits any more: the work is to end.
  void Stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }

 private:
  const int64_t bytes_per_second_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
  std::chrono::steady_clock::time_point free_at_{};
};

}  // namespace sluice::connectors::filesystem
