// Time as the runtime sees it. Operators never read the machine's clock: a simulation drives time
// by hand.
#pragma once

#include <atomic>
#include <cstdint>

namespace sluice {

class Clock {
 public:
  virtual ~Clock() = default;
  /// Wall clock, milliseconds since 1970-01-01T00:00:00Z.
  virtual int64_t NowMillis() const = 0;
  /// Never goes back; microseconds since an arbitrary start.
  virtual int64_t MonotonicMicros() const = 0;

  /// The machine's clocks; lives for ever.
  static const Clock& System();
};

/// A clock that moves only when told to.
class VirtualClock final : public Clock {
 public:
  explicit VirtualClock(int64_t start_millis) : micros_(start_millis * 1000) {}
  int64_t NowMillis() const override { return micros_.load() / 1000; }
  int64_t MonotonicMicros() const override { return micros_.load(); }
  void AdvanceMillis(int64_t millis) { micros_ += millis * 1000; }

 private:
  std::atomic<int64_t> micros_;
};

}  // namespace sluice
