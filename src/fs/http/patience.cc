#include "fs/http/patience.h"

#include <atomic>

#include "common/clock.h"

namespace sluice::fs {
namespace {

std::atomic<int64_t> end_us{0};  // 0: no end.

}  // namespace

void LimitPatience(int64_t millis) {
  int64_t none = 0;
  end_us.compare_exchange_strong(none, Clock::System().MonotonicMicros() + millis * 1000);
}

bool PatienceIsOver() {
  const int64_t end = end_us.load(std::memory_order_relaxed);
  return end != 0 && Clock::System().MonotonicMicros() > end;
}

}  // namespace sluice::fs
