// One memory budget for a job: writers and state ask it for room and give it back.
#pragma once

#include <atomic>
#include <cstdint>

namespace sluice {

/// Counts bytes that somebody holds against a limit. It never refuses: holders look at `over()` and
/// shrink (end a row group, close the coldest bucket). Thread-safe.
class MemoryBudget {
 public:
  explicit MemoryBudget(int64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  void Take(int64_t bytes) {
    const int64_t now = used_bytes_.fetch_add(bytes) + bytes;
    int64_t peak = peak_bytes_.load();
    while (now > peak && !peak_bytes_.compare_exchange_weak(peak, now)) {
    }
  }
  void Return(int64_t bytes) { used_bytes_.fetch_sub(bytes); }

  bool over() const { return used_bytes_.load() > limit_bytes_; }
  int64_t used_bytes() const { return used_bytes_.load(); }
  int64_t peak_bytes() const { return peak_bytes_.load(); }
  int64_t limit_bytes() const { return limit_bytes_; }

 private:
  const int64_t limit_bytes_;
  std::atomic<int64_t> used_bytes_{0};
  std::atomic<int64_t> peak_bytes_{0};
};

}  // namespace sluice
