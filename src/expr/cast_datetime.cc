// Casts among DATE, TIME, TIMESTAMP and TIMESTAMP_LTZ. Fractions are cut toward the past.
#include "expr/cast_internal.h"
#include "expr/zone_offsets.h"
#include "types/calendar.h"
#include "types/value_text.h"

namespace sluice::expr::internal {

namespace {

Status DoesNotFit(const SqlType& type) {
  return Status::DataError("A time does not fit " + type.WithNullable(true).ToString() +
                           ": nanosecond precision reaches from 1677 to 2262. Use TIMESTAMP(6).");
}

/// Seconds and nanoseconds of the wall clock or instant that a value of `from` shows.
struct Moment {
  int64_t seconds;
  int32_t nanos;
};

/// Turns moments of `from` into moments of `to` through the session zone.
int64_t Shift(const SqlType& from, const SqlType& to, int64_t seconds, ZoneOffsets& offsets) {
  const bool from_instant = from.kind() == TypeKind::kTimestampLtz;
  const bool to_instant = to.kind() == TypeKind::kTimestampLtz;
  if (from_instant && !to_instant) return offsets.ToLocal(seconds);
  if (!from_instant && to_instant) return offsets.ToInstant(seconds);
  return seconds;
}

Result<int64_t> ToTimestampValue(const SqlType& to, Moment moment) {
  int64_t value = 0;
  if (!JoinTimestamp(moment.seconds, moment.nanos, to.precision(), &value)) return DoesNotFit(to);
  return value;
}

int32_t CutMillis(int32_t millis, int precision) {
  static constexpr int32_t kCut[] = {1000, 100, 10, 1};
  const int32_t cut = kCut[std::min(precision, 3)];
  return millis / cut * cut;
}

template <typename T, typename Split>
Result<ArrayPtr> FromMoments(const CastJob& job, const NumberOperand<T>& input, Split split) {
  const KernelCall call = job.call();
  ZoneOffsets offsets(job.context.session_zone);
  const auto moment = [&](T value) {
    Moment at = split(value);
    at.seconds = Shift(job.from, job.to, at.seconds, offsets);
    return at;
  };
  switch (job.to.kind()) {
    case TypeKind::kDate:
      return MapValues<int32_t>(
          call,
          [&](T value) {
            return static_cast<int32_t>(FloorDiv(moment(value).seconds, kSecondsPerDay));
          },
          input);
    case TypeKind::kTime: {
      const int precision = job.to.precision();
      return MapValues<int32_t>(
          call,
          [&](T value) {
            const Moment at = moment(value);
            const auto second = static_cast<int32_t>(FloorMod(at.seconds, kSecondsPerDay));
            return CutMillis(second * 1000 + at.nanos / 1000000, precision);
          },
          input);
    }
    default:
      return MapValues<int64_t>(
          call, [&](T value) { return ToTimestampValue(job.to, moment(value)); }, input);
  }
}

}  // namespace

Result<ArrayPtr> CastDatetime(const CastJob& job) {
  switch (job.from.kind()) {
    case TypeKind::kDate:
      return FromMoments(job, NumberOperand<int32_t>(job.argument()), [](int32_t days) {
        return Moment{static_cast<int64_t>(days) * kSecondsPerDay, 0};
      });
    case TypeKind::kTime: {
      if (job.to.kind() == TypeKind::kTime) {
        const int precision = job.to.precision();
        return MapValues<int32_t>(
            job.call(), [=](int32_t millis) { return CutMillis(millis, precision); },
            NumberOperand<int32_t>(job.argument()));
      }
      return FromMoments(job, NumberOperand<int32_t>(job.argument()), [](int32_t millis) {
        return Moment{millis / 1000, millis % 1000 * 1000000};
      });
    }
    default: {
      const int64_t units = TimestampUnitsPerSecond(job.from.precision());
      return FromMoments(job, NumberOperand<int64_t>(job.argument()), [units](int64_t value) {
        Moment at{};
        SplitTimestamp(value, units, &at.seconds, &at.nanos);
        return at;
      });
    }
  }
}

}  // namespace sluice::expr::internal
