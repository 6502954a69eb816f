// Notices that the wall clock has been set back. Timers and ages are moments of the wall clock:
// behind a leap back they would wait until it has come there again.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

namespace sluice::runtime {

/// Not thread-safe.
class ClockWatch {
 public:
  /// By how many milliseconds the clock has been set back since the last call; 0 when it has not
  /// been, or by a second at most: services that keep the time correct it by milliseconds, which
  /// pass by themselves.
  int64_t SetBackBy(int64_t now_ms) {
    constexpr int64_t kLeastMillis = 1'000;
    const int64_t before_ms = std::exchange(seen_ms_, now_ms).value_or(now_ms);
    return before_ms - now_ms > kLeastMillis ? before_ms - now_ms : 0;
  }

 private:
  std::optional<int64_t> seen_ms_;
};

}  // namespace sluice::runtime
