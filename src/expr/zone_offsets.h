// Zone offsets for whole batches: times of one batch mostly share one offset, so the zone is asked
// once and again only when a value leaves the range in which the offset holds.
#pragma once

#include <cstdint>
#include <limits>

#include "types/calendar.h"
#include "types/time_zone.h"

namespace sluice::expr {

class ZoneOffsets {
 public:
  explicit ZoneOffsets(const TimeZone& zone) : zone_(zone) {}

  /// Offset from UTC at an instant, in seconds.
  int64_t AtInstant(int64_t epoch_seconds) {
    if (epoch_seconds < range_.begin_seconds || epoch_seconds >= range_.end_seconds) [[unlikely]] {
      range_ = zone_.RangeAt(epoch_seconds);
    }
    return range_.offset_seconds;
  }
  int64_t ToLocal(int64_t epoch_seconds) { return epoch_seconds + AtInstant(epoch_seconds); }

  /// Instant of a wall time; gaps and ambiguous times as TimeZone::LocalToInstantSeconds.
  int64_t ToInstant(int64_t local_seconds) {
    const int64_t guess = local_seconds - range_.offset_seconds;
    // A day's distance from both ends: no other offset can claim this wall time.
    if (guess - kSecondsPerDay >= range_.begin_seconds &&
        guess < range_.end_seconds - kSecondsPerDay) [[likely]] {
      return guess;
    }
    const int64_t instant = zone_.LocalToInstantSeconds(local_seconds);
    range_ = Widened(zone_.RangeAt(instant));
    return instant;
  }

 private:
  /// Keeps the arithmetic above from overflowing at open ends.
  static TimeZone::OffsetRange Widened(TimeZone::OffsetRange range) {
    constexpr int64_t kFar = std::numeric_limits<int64_t>::max() / 4;
    if (range.begin_seconds < -kFar) range.begin_seconds = -kFar;
    if (range.end_seconds > kFar) range.end_seconds = kFar;
    return range;
  }

  const TimeZone& zone_;
  TimeZone::OffsetRange range_{1, 0, 0};  // Empty: the first value asks.
};

}  // namespace sluice::expr
