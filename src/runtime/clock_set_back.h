// When the wall clock counts as set back. Timers and ages are moments of the wall clock: behind a
// leap back they would wait until it has come there again.
#pragma once

#include <cstdint>

namespace sluice::runtime {

/// Less is left to pass by itself: services that keep the time correct it by milliseconds.
inline constexpr int64_t kClockSetBackMillis = 1'000;

}  // namespace sluice::runtime
