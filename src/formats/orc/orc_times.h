// How ORC stores times, and the calendar of old files.
#pragma once

#include <cstdint>

#include "common/result.h"
#include "formats/orc/metadata.h"

namespace sluice::formats::orc_format {

/// 2015-01-01 00:00:00 in seconds since 1970: stored seconds count from it.
constexpr int64_t kBaseSeconds = 1'420'070'400;

/// Seconds from 2015 that are neither read nor written: far outside every calendar.
constexpr int64_t kMostSeconds = int64_t{1} << 50;

/// 1582-10-15, the first day of the Gregorian calendar, since 1970.
constexpr int64_t kFirstGregorianDay = -141'427;

/// A time as its two streams hold it.
struct StoredTime {
  int64_t seconds = 0;  // Since 2015, in the writer's zone for a wall time.
  uint64_t nanos = 0;   // Trailing zeros counted in the three lowest bits.
};

/// Every library that reads or writes ORC divides times before 1970 with a fraction toward zero,
/// and when reading takes a second off again where the time is negative. For the last second before
/// 1970 that ends at zero: others read 23:59:59.1 as 00:00:00.1 of the next day. We mark such a
/// time by leaving the zeros of its nanoseconds uncounted, which no other writer does and all can
/// read, and take the second off. Fails with kDataError when there are no zeros to leave (eight or
/// nine digits in that one second), and for times that no calendar reaches.
Result<StoredTime> ToStored(const Moment& moment);

/// `base_seconds`: the instant of 2015-01-01 00:00:00 in the writer's zone.
Moment FromStored(const StoredTime& stored, int64_t base_seconds);

/// The day number of the same year, month and day in the proleptic Gregorian calendar: days before
/// 1582-10-15 of a hybrid calendar are Julian.
int64_t HybridToProlepticDays(int64_t days);

}  // namespace sluice::formats::orc_format
