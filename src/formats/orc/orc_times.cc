#include "formats/orc/orc_times.h"

#include <algorithm>

#include "types/calendar.h"

namespace sluice::formats::orc_format {

namespace {

constexpr int32_t kNanosPerMilli = 1'000'000;
constexpr int64_t kNanosPerSecond = 1'000'000'000;
constexpr int64_t kMostNanos = kNanosPerSecond - 1;

uint64_t CountZeros(uint64_t nanos) {
  if (nanos == 0 || nanos % 100 != 0) return nanos << 3;
  nanos /= 100;
  uint64_t zeros = 1;  // One more than this are left out.
  for (; nanos % 10 == 0 && zeros < 7; nanos /= 10) ++zeros;
  return nanos << 3 | zeros;
}

}  // namespace

Result<StoredTime> ToStored(const Moment& moment) {
  StoredTime stored{moment.seconds, CountZeros(static_cast<uint64_t>(moment.nanos))};
  if (moment.seconds < 0 && moment.nanos >= kNanosPerMilli) ++stored.seconds;
  if (moment.seconds == -1 && stored.seconds == 0) {
    if (moment.nanos % 100 != 0) {
      return Status::DataError(
          "A time in the last second before 1970 with more than seven digits of a fraction has no "
          "form in ORC. Cut it to TIMESTAMP(7).");
    }
    stored.nanos = static_cast<uint64_t>(moment.nanos) << 3;
  }
  stored.seconds -= kBaseSeconds;
  if (stored.seconds > -kMostSeconds && stored.seconds < kMostSeconds) return stored;
  return Status::DataError("The time " + std::to_string(moment.seconds) +
                           " seconds from 1970 is further than ORC's calendar reaches.");
}

Moment FromStored(const StoredTime& stored, int64_t base_seconds) {
  // Arrow's writer leaves the fraction of times before 1970 negative.
  int64_t nanos = static_cast<int64_t>(stored.nanos) >> 3;
  const uint64_t zeros = stored.nanos & 7;
  const bool marked = zeros == 0 && nanos > 0 && nanos % 100 == 0;
  nanos = std::clamp(nanos, -kMostNanos, kMostNanos);
  for (uint64_t i = 0; zeros > 0 && i <= zeros; ++i) nanos *= 10;
  nanos = std::clamp(nanos, -kMostNanos, kMostNanos);
  Moment moment;
  moment.seconds = static_cast<int64_t>(static_cast<uint64_t>(stored.seconds) +
                                        static_cast<uint64_t>(base_seconds));
  const bool was_cut = moment.seconds < 0 && nanos >= kNanosPerMilli;
  if (was_cut || nanos < 0 || (marked && moment.seconds == 0)) --moment.seconds;
  moment.nanos = static_cast<int32_t>(nanos < 0 ? nanos + kNanosPerSecond : nanos);
  return moment;
}

int64_t HybridToProlepticDays(int64_t days) {
  // Outside this range of years nothing is a date, and the arithmetic below would overflow.
  constexpr int64_t kMostDays = int64_t{1} << 40;
  if (days >= kFirstGregorianDay || days < -kMostDays) return days;
  // The Julian calendar: 1461 days in four years, which begin in March.
  const int64_t since_march = days + 2440588 + 32082;
  const int64_t year = FloorDiv(4 * since_march + 3, 1461);
  const int64_t day_of_year = since_march - FloorDiv(1461 * year, 4);
  const int64_t month = (5 * day_of_year + 2) / 153;
  const auto day = static_cast<int32_t>(day_of_year - (153 * month + 2) / 5 + 1);
  return DaysFromCivil(year - 4800 + month / 10,
                       static_cast<int32_t>(month + 3 - 12 * (month / 10)), day);
}

}  // namespace sluice::formats::orc_format
