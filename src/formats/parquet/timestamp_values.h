// Timestamps between their Arrow form in tables and what Parquet files hold: units, zones, 96-bit
// values.
#pragma once

#include <cstdint>
#include <memory>

#include <arrow/array/array_base.h>
#include <arrow/memory_pool.h>
#include <parquet/types.h>

#include "common/result.h"
#include "types/sql_type.h"
#include "types/time_zone.h"

namespace sluice::formats::parquet_format {

/// Moves instants to the wall clock of a zone and back, batch by batch: looks the zone up only
/// where its offset changes.
class WallClock {
 public:
  explicit WallClock(TimeZone zone) : zone_(std::move(zone)), is_utc_(zone_.is_utc()) {}
  bool is_utc() const { return is_utc_; }
  int64_t InstantToLocal(int64_t epoch_seconds) {
    if (is_utc_) return epoch_seconds;
    if (epoch_seconds < range_.begin_seconds || epoch_seconds >= range_.end_seconds) {
      range_ = zone_.RangeAt(epoch_seconds);
    }
    return epoch_seconds + range_.offset_seconds;
  }
  int64_t LocalToInstant(int64_t local_seconds) {
    return is_utc_ ? local_seconds : zone_.LocalToInstantSeconds(local_seconds);
  }

 private:
  TimeZone zone_;
  bool is_utc_;
  TimeZone::OffsetRange range_{0, 0, 0};
};

/// How an instant in a file becomes a value of a column.
struct TimestampTarget {
  SqlType type;                // TIMESTAMP or TIMESTAMP_LTZ.
  bool to_wall_clock = false;  // Shift from UTC to the wall clock.
};

/// Seconds (floor) and nanoseconds of a 96-bit timestamp. The nanoseconds of the day may be
/// negative: Flink writes times before 1970 so.
void SplitInt96(const ::parquet::Int96& value, int64_t* epoch_seconds, int32_t* nanos);

/// `values` (count) spread over `validity` (one byte a row, null for all valid) as an array of
/// target.type. Fails with kDataError for a value that the type's unit cannot hold.
Result<std::shared_ptr<arrow::Array>> Int96ToTimestamps(
    const ::parquet::Int96* values, const int16_t* definition_levels, int64_t row_count,
    const TimestampTarget& target, WallClock* wall_clock, arrow::MemoryPool* pool);

/// A timestamp array in any unit as an array of target.type; finer fractions are cut toward the
/// past.
Result<std::shared_ptr<arrow::Array>> ConvertTimestamps(const arrow::Array& values,
                                                        const TimestampTarget& target,
                                                        WallClock* wall_clock,
                                                        arrow::MemoryPool* pool);

/// For writing: INT64 values in `unit` as int64, fractions cut toward the past.
Result<std::shared_ptr<arrow::Array>> TimestampsToInt64(const arrow::Array& values,
                                                        arrow::TimeUnit::type unit,
                                                        arrow::MemoryPool* pool);
/// For writing INT96: fails with kDataError for a day that it cannot hold.
Status CheckInt96Days(const arrow::Array& values);
/// For writing INT96: the wall clock turned into instants; the array itself when the zone is UTC.
Result<std::shared_ptr<arrow::Array>> WallClockToInstants(
    const std::shared_ptr<arrow::Array>& values, WallClock* wall_clock, arrow::MemoryPool* pool);

}  // namespace sluice::formats::parquet_format
