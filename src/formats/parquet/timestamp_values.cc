#include "formats/parquet/timestamp_values.h"

#include <cstring>

#include <arrow/api.h>

#include "types/arrow_status.h"
#include "types/calendar.h"
#include "types/value_text.h"

namespace sluice::formats::parquet_format {

namespace {

constexpr int64_t kJulianDayOfEpoch = 2440588;
constexpr int64_t kNanosPerSecond = 1'000'000'000;

int64_t UnitsPerSecond(arrow::TimeUnit::type unit) {
  switch (unit) {
    case arrow::TimeUnit::SECOND:
      return 1;
    case arrow::TimeUnit::MILLI:
      return 1000;
    case arrow::TimeUnit::MICRO:
      return 1'000'000;
    default:
      return kNanosPerSecond;
  }
}

constexpr char kNanosReach[] =
    "64-bit nanoseconds reach from 1677-09-21 to 2262-04-11. Declare a precision of at most 6.";

Status DoesNotFit(int64_t epoch_seconds, int32_t nanos, std::string_view holder,
                  std::string_view why = kNanosReach) {
  std::string text;
  AppendTimestampText(epoch_seconds, nanos, 9, &text);
  return Status::DataError("Timestamp " + text + " does not fit into " + std::string(holder) +
                           ": " + std::string(why));
}

Status DoesNotFitUnit(int64_t value, int64_t units_per_second, arrow::TimeUnit::type unit) {
  const bool nanos = unit == arrow::TimeUnit::NANO;
  int64_t seconds = 0;
  int32_t fraction = 0;
  SplitTimestamp(value, units_per_second, &seconds, &fraction);
  return DoesNotFit(seconds, fraction,
                    "an INT64 timestamp of 'parquet.timestamp.time.unit' = '" +
                        std::string(nanos ? "nanos'" : "micros'"),
                    nanos ? "64-bit nanoseconds reach from 1677-09-21 to 2262-04-11. Take "
                            "'micros'."
                          : "64-bit microseconds reach some 292,000 years from 1970. Take "
                            "'millis'.");
}

// Fills an array of timestamps (or their int64) value by value.
class Filler {
 public:
  Filler(std::shared_ptr<arrow::DataType> type, arrow::MemoryPool* pool)
      : type_(std::move(type)), pool_(pool) {}

  Status Start(int64_t row_count) {
    row_count_ = row_count;
    SLUICE_ASSIGN_ARROW(buffer_, arrow::AllocateBuffer(row_count * 8, pool_));
    out_ = reinterpret_cast<int64_t*>(buffer_->mutable_data());
    return {};
  }
  void Set(int64_t row, int64_t value) { out_[row] = value; }

  std::shared_ptr<arrow::Array> Finish(std::shared_ptr<arrow::Buffer> validity,
                                       int64_t null_count) {
    return arrow::MakeArray(arrow::ArrayData::Make(
        type_, row_count_, {std::move(validity), std::move(buffer_)}, null_count));
  }

 private:
  std::shared_ptr<arrow::DataType> type_;
  arrow::MemoryPool* pool_;
  int64_t row_count_ = 0;
  std::shared_ptr<arrow::Buffer> buffer_;
  int64_t* out_ = nullptr;
};

// The validity of `values` as a bitmap without offset; null when there are no nulls.
Result<std::shared_ptr<arrow::Buffer>> CopyValidity(const arrow::Array& values,
                                                    arrow::MemoryPool* pool) {
  if (values.null_count() == 0) return std::shared_ptr<arrow::Buffer>();
  if (values.offset() == 0) return values.null_bitmap();
  SLUICE_ASSIGN_ARROW(std::shared_ptr<arrow::Buffer> bitmap,
                      arrow::internal::CopyBitmap(pool, values.null_bitmap_data(), values.offset(),
                                                  values.length()));
  return bitmap;
}

int64_t RawValue(const arrow::Array& values, int64_t row) {
  return values.data()->GetValues<int64_t>(1)[row];
}

}  // namespace

void SplitInt96(const ::parquet::Int96& value, int64_t* epoch_seconds, int32_t* nanos) {
  int64_t nanos_of_day = 0;
  std::memcpy(&nanos_of_day, value.value.data(), sizeof(nanos_of_day));
  const int64_t days = static_cast<int32_t>(value.value[2]) - kJulianDayOfEpoch;
  const int64_t seconds = FloorDiv(nanos_of_day, kNanosPerSecond);
  *epoch_seconds = days * kSecondsPerDay + seconds;
  *nanos = static_cast<int32_t>(nanos_of_day - seconds * kNanosPerSecond);
}

Result<std::shared_ptr<arrow::Array>> Int96ToTimestamps(
    const ::parquet::Int96* values, const int16_t* definition_levels, int64_t row_count,
    const TimestampTarget& target, WallClock* wall_clock, arrow::MemoryPool* pool) {
  Filler filler(target.type.ToArrow(), pool);
  SLUICE_RETURN_NOT_OK(filler.Start(row_count));
  std::shared_ptr<arrow::Buffer> validity;
  int64_t null_count = 0;
  if (definition_levels != nullptr) {
    SLUICE_ASSIGN_ARROW(validity, arrow::AllocateEmptyBitmap(row_count, pool));
  }
  const int precision = target.type.precision();
  for (int64_t row = 0; row < row_count; ++row) {
    if (definition_levels != nullptr) {
      if (definition_levels[row] == 0) {
        filler.Set(row, 0);
        ++null_count;
        continue;
      }
      arrow::bit_util::SetBit(validity->mutable_data(), row);
    }
    int64_t seconds = 0;
    int32_t nanos = 0;
    SplitInt96(*values++, &seconds, &nanos);
    if (target.to_wall_clock) seconds = wall_clock->InstantToLocal(seconds);
    int64_t value = 0;
    if (!JoinTimestamp(seconds, nanos, precision, &value)) {
      return DoesNotFit(seconds, nanos, target.type.WithNullable(true).ToString());
    }
    filler.Set(row, value);
  }
  return filler.Finish(null_count == 0 ? nullptr : std::move(validity), null_count);
}

Result<std::shared_ptr<arrow::Array>> ConvertTimestamps(const arrow::Array& values,
                                                        const TimestampTarget& target,
                                                        WallClock* wall_clock,
                                                        arrow::MemoryPool* pool) {
  const auto target_type = target.type.ToArrow();
  const auto& source = static_cast<const arrow::TimestampType&>(*values.type());
  const int64_t source_units = UnitsPerSecond(source.unit());
  const int64_t target_units = TimestampUnitsPerSecond(target.type.precision());
  const bool shift = target.to_wall_clock && !wall_clock->is_utc();
  if (!shift && source_units == target_units) return values.View(target_type).ValueOrDie();
  Filler filler(target_type, pool);
  SLUICE_RETURN_NOT_OK(filler.Start(values.length()));
  for (int64_t row = 0; row < values.length(); ++row) {
    if (values.IsNull(row)) {
      filler.Set(row, 0);
      continue;
    }
    int64_t seconds = 0;
    int32_t nanos = 0;
    SplitTimestamp(RawValue(values, row), source_units, &seconds, &nanos);
    if (shift) seconds = wall_clock->InstantToLocal(seconds);
    int64_t value = 0;
    if (!JoinTimestamp(seconds, nanos, target.type.precision(), &value)) {
      return DoesNotFit(seconds, nanos, target.type.WithNullable(true).ToString());
    }
    filler.Set(row, value);
  }
  SLUICE_ASSIGN_OR_RETURN(auto validity, CopyValidity(values, pool));
  return filler.Finish(std::move(validity), values.null_count());
}

Result<std::shared_ptr<arrow::Array>> TimestampsToInt64(const arrow::Array& values,
                                                        arrow::TimeUnit::type unit,
                                                        arrow::MemoryPool* pool) {
  const int64_t source_units =
      UnitsPerSecond(static_cast<const arrow::TimestampType&>(*values.type()).unit());
  const int64_t target_units = UnitsPerSecond(unit);
  if (source_units == target_units) return values.View(arrow::int64()).ValueOrDie();
  Filler filler(arrow::int64(), pool);
  SLUICE_RETURN_NOT_OK(filler.Start(values.length()));
  for (int64_t row = 0; row < values.length(); ++row) {
    int64_t value = 0;
    if (values.IsValid(row)) {
      const int64_t source = RawValue(values, row);
      if (source_units > target_units) {
        value = FloorDiv(source, source_units / target_units);
      } else if (__builtin_mul_overflow(source, target_units / source_units, &value)) {
        return DoesNotFitUnit(source, source_units, unit);
      }
    }
    filler.Set(row, value);
  }
  SLUICE_ASSIGN_OR_RETURN(auto validity, CopyValidity(values, pool));
  return filler.Finish(std::move(validity), values.null_count());
}

Status CheckInt96Days(const arrow::Array& values) {
  const int64_t units =
      UnitsPerSecond(static_cast<const arrow::TimestampType&>(*values.type()).unit());
  if (units > 1000) return {};  // 64 bits end before 32 bits of days do.
  const int64_t first = (INT32_MIN - kJulianDayOfEpoch) * kSecondsPerDay * units;
  const int64_t last = (INT32_MAX - kJulianDayOfEpoch + 1) * kSecondsPerDay * units - 1;
  for (int64_t row = 0; row < values.length(); ++row) {
    const int64_t value = RawValue(values, row);
    if (values.IsNull(row) || (value >= first && value <= last)) continue;
    return DoesNotFit(FloorDiv(value, units), 0, "INT96",
                      "its 32-bit Julian day reaches some 5,800,000 years from 1970. Set "
                      "'parquet.write.int64.timestamp' = 'true' and "
                      "'parquet.timestamp.time.unit' = 'millis'.");
  }
  return {};
}

Result<std::shared_ptr<arrow::Array>> WallClockToInstants(
    const std::shared_ptr<arrow::Array>& values, WallClock* wall_clock, arrow::MemoryPool* pool) {
  if (wall_clock->is_utc()) return values;
  const int64_t units =
      UnitsPerSecond(static_cast<const arrow::TimestampType&>(*values->type()).unit());
  Filler filler(values->type(), pool);
  SLUICE_RETURN_NOT_OK(filler.Start(values->length()));
  for (int64_t row = 0; row < values->length(); ++row) {
    int64_t value = 0;
    if (values->IsValid(row)) {
      const int64_t local = RawValue(*values, row);
      const int64_t seconds = FloorDiv(local, units);
      // A shift of hours at the very ends of the range wraps in nanoseconds only: keep the value's
      // own bits then.
      if (__builtin_add_overflow(local, (wall_clock->LocalToInstant(seconds) - seconds) * units,
                                 &value)) {
        return DoesNotFit(seconds, 0, "nanoseconds in UTC");
      }
    }
    filler.Set(row, value);
  }
  SLUICE_ASSIGN_OR_RETURN(auto validity, CopyValidity(*values, pool));
  return filler.Finish(std::move(validity), values->null_count());
}

}  // namespace sluice::formats::parquet_format
