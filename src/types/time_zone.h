// Time zones by IANA name or GMT+08:00 form, on the system's tz database (override: ZONEINFO /
// TZDIR directory).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "common/result.h"

namespace sluice {

/// A loaded zone. Cheap to copy; thread-safe.
class TimeZone {
 public:
  TimeZone();  // UTC.
  /// Accepts IANA names, "UTC", "Z", "GMT+08:00", "GMT-8", "UTC+8"-like offsets; fails with
  /// kInvalidArgument and the nearest name.
  static Result<TimeZone> Find(std::string_view name);
  /// The machine's zone (TZ, /etc/localtime), UTC when unknown.
  static TimeZone Local();

  const std::string& name() const;
  bool is_utc() const;
  /// Offset from UTC at an instant, in seconds.
  int32_t OffsetSecondsAt(int64_t epoch_seconds) const;
  /// Instant of a wall-clock time given as seconds since 1970-01-01 00:00:00 of that wall clock. A
  /// time in a gap moves forward by the gap, an ambiguous one takes the earlier offset (Java's
  /// rule, sql.md §5.5).
  int64_t LocalToInstantSeconds(int64_t local_seconds) const;
  int64_t LocalToInstantMillis(int64_t local_ms) const;
  int64_t InstantToLocalMillis(int64_t instant_ms) const;
  /// [begin, end) in epoch seconds around `epoch_seconds` within which the offset does not change:
  /// lets kernels convert whole batches with one look-up.
  struct OffsetRange {
    int64_t begin_seconds;
    int64_t end_seconds;
    int32_t offset_seconds;
  };
  OffsetRange RangeAt(int64_t epoch_seconds) const;

  /// Version of the tz database in use ("2025b"), "unknown" when it does not say.
  static std::string DatabaseVersion();

 private:
  struct Rep;
  explicit TimeZone(std::shared_ptr<const Rep> rep);
  std::shared_ptr<const Rep> rep_;
};

}  // namespace sluice
