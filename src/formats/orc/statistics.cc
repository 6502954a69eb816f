#include "formats/orc/statistics.h"

#include <cmath>

#include "types/calendar.h"
#include "types/value_text.h"

namespace sluice::formats::orc_format {

namespace {

template <typename T>
void KeepRange(const std::optional<T>& min, const std::optional<T>& max,
               std::optional<Range<T>>* range) {
  if (min && max) *range = Range<T>{*min, *max};
}

void ReadIntegers(std::string_view bytes, ColumnStatistics* statistics, bool* ok) {
  std::optional<int64_t> min;
  std::optional<int64_t> max;
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.field() == 1) min = reader.signed_number();
    if (reader.field() == 2) max = reader.signed_number();
    if (reader.field() == 3) statistics->integer_sum = reader.signed_number();
  }
  *ok = *ok && reader.ok();
  KeepRange(min, max, &statistics->integers);
}

void ReadReals(std::string_view bytes, ColumnStatistics* statistics, bool* ok) {
  std::optional<double> min;
  std::optional<double> max;
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.field() == 1) min = reader.real();
    if (reader.field() == 2) max = reader.real();
  }
  *ok = *ok && reader.ok();
  // A first value of NaN stays in other writers' bounds.
  if (min && max && !std::isnan(*min) && !std::isnan(*max)) KeepRange(min, max, &statistics->reals);
}

void ReadTexts(std::string_view bytes, ColumnStatistics* statistics, bool* ok) {
  std::optional<std::string> min;
  std::optional<std::string> max;
  WireReader reader(bytes);
  while (reader.Next()) {
    // 4 and 5 stand for bounds that were cut: a lower one is still lower, an upper one still upper.
    if (reader.field() == 1 || reader.field() == 4) min = reader.text();
    if (reader.field() == 2 || reader.field() == 5) max = reader.text();
  }
  *ok = *ok && reader.ok();
  KeepRange(min, max, &statistics->texts);
}

void ReadDecimals(std::string_view bytes, const OrcType& type, ColumnStatistics* statistics,
                  bool* ok) {
  std::optional<arrow::Decimal128> bounds[2];
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.field() != 1 && reader.field() != 2) continue;
    arrow::Decimal128 value;
    if (ParseDecimalText(reader.text(), 38, static_cast<int>(type.scale), &value) ==
        TextError::kNone) {
      bounds[reader.field() - 1] = value;
    }
  }
  *ok = *ok && reader.ok();
  KeepRange(bounds[0], bounds[1], &statistics->decimals);
}

void ReadMoments(std::string_view bytes, ColumnStatistics* statistics, bool* ok) {
  std::optional<int64_t> min_ms;
  std::optional<int64_t> max_ms;
  int32_t min_nanos = 0;
  int32_t max_nanos = 999'999;  // Of the millisecond; without them the bound is rounded outward.
  WireReader reader(bytes);
  while (reader.Next()) {
    // 1 and 2 are in the writer's zone, which older writers did not tell: not used.
    if (reader.field() == 3) min_ms = reader.signed_number();
    if (reader.field() == 4) max_ms = reader.signed_number();
    const bool in_range = reader.number() >= 1 && reader.number() <= 1'000'000;
    if (reader.field() == 5 && in_range) min_nanos = static_cast<int32_t>(reader.number() - 1);
    if (reader.field() == 6 && in_range) max_nanos = static_cast<int32_t>(reader.number() - 1);
  }
  *ok = *ok && reader.ok();
  if (!min_ms || !max_ms) return;
  const auto moment = [](int64_t ms, int32_t nanos) {
    return Moment{FloorDiv(ms, 1000), static_cast<int32_t>(FloorMod(ms, 1000)) * 1'000'000 + nanos};
  };
  statistics->moments = Range<Moment>{moment(*min_ms, min_nanos), moment(*max_ms, max_nanos)};
}

void WriteMoments(const Range<Moment>& range, WireWriter* out) {
  WireWriter inner;
  const auto millis = [](const Moment& moment) {
    return moment.seconds * 1000 + moment.nanos / 1'000'000;
  };
  inner.Signed(3, millis(range.min));
  inner.Signed(4, millis(range.max));
  inner.Number(5, static_cast<uint64_t>(range.min.nanos % 1'000'000) + 1);
  inner.Number(6, static_cast<uint64_t>(range.max.nanos % 1'000'000) + 1);
  out->Message(9, inner);
}

// Longer ones would fill the footer; a reader without bounds reads the stripe.
constexpr size_t kLongestBound = 1024;

void WriteTexts(const ColumnStatistics& statistics, WireWriter* out) {
  WireWriter inner;
  if (statistics.texts && statistics.texts->min.size() <= kLongestBound &&
      statistics.texts->max.size() <= kLongestBound) {
    inner.Bytes(1, statistics.texts->min);
    inner.Bytes(2, statistics.texts->max);
  }
  inner.Signed(3, static_cast<int64_t>(statistics.total_bytes));
  out->Message(4, inner);
}

std::string DecimalText(const arrow::Decimal128& value, uint64_t scale) {
  std::string text;
  AppendDecimalText(value, static_cast<int>(scale), &text);
  return text;
}

template <typename T>
void MergeRange(const std::optional<Range<T>>& other, std::optional<Range<T>>* range) {
  if (!other) return;
  AddToRange(other->min, range);
  AddToRange(other->max, range);
}

}  // namespace

void ColumnStatistics::AddInteger(int64_t value) {
  const bool first = !integers;
  AddToRange(value, &integers);
  int64_t sum = 0;
  if (first) {
    integer_sum = value;
  } else if (integer_sum) {
    const bool overflows = __builtin_add_overflow(*integer_sum, value, &sum);
    integer_sum = overflows ? std::nullopt : std::optional<int64_t>(sum);
  }
}

void ColumnStatistics::Merge(const ColumnStatistics& other) {
  const bool had_values = value_count > 0;
  value_count += other.value_count;
  has_null = has_null || other.has_null;
  MergeRange(other.integers, &integers);
  if (!had_values) {
    integer_sum = other.integer_sum;
  } else if (other.value_count > 0) {
    int64_t sum = 0;
    const bool known = integer_sum && other.integer_sum &&
                       !__builtin_add_overflow(*integer_sum, *other.integer_sum, &sum);
    integer_sum = known ? std::optional<int64_t>(sum) : std::nullopt;
  }
  MergeRange(other.reals, &reals);
  has_nan = has_nan || other.has_nan;
  MergeRange(other.texts, &texts);
  total_bytes += other.total_bytes;
  true_count += other.true_count;
  MergeRange(other.decimals, &decimals);
  MergeRange(other.moments, &moments);
}

void WriteStatistics(const ColumnStatistics& statistics, const OrcType& type, WireWriter* out) {
  out->Number(1, statistics.value_count);
  WireWriter inner;
  switch (type.kind) {
    case OrcKind::kByte:
    case OrcKind::kShort:
    case OrcKind::kInt:
    case OrcKind::kLong:
      if (!statistics.integers) break;
      inner.Signed(1, statistics.integers->min);
      inner.Signed(2, statistics.integers->max);
      if (statistics.integer_sum) inner.Signed(3, *statistics.integer_sum);
      out->Message(2, inner);
      break;
    case OrcKind::kFloat:
    case OrcKind::kDouble:
      if (!statistics.reals || statistics.has_nan) break;
      inner.Real(1, statistics.reals->min);
      inner.Real(2, statistics.reals->max);
      out->Message(3, inner);
      break;
    case OrcKind::kString:
    case OrcKind::kVarchar:
    case OrcKind::kChar:
      if (statistics.value_count > 0) WriteTexts(statistics, out);
      break;
    case OrcKind::kBoolean:
      inner.Packed(1, {statistics.true_count});
      out->Message(5, inner);
      break;
    case OrcKind::kDecimal:
      if (!statistics.decimals) break;
      inner.Bytes(1, DecimalText(statistics.decimals->min, type.scale));
      inner.Bytes(2, DecimalText(statistics.decimals->max, type.scale));
      out->Message(6, inner);
      break;
    case OrcKind::kDate:
      if (!statistics.integers) break;
      inner.Signed(1, statistics.integers->min);
      inner.Signed(2, statistics.integers->max);
      out->Message(7, inner);
      break;
    case OrcKind::kBinary:
      inner.Signed(1, static_cast<int64_t>(statistics.total_bytes));
      out->Message(8, inner);
      break;
    case OrcKind::kTimestamp:
    case OrcKind::kTimestampInstant:
      if (statistics.moments) WriteMoments(*statistics.moments, out);
      break;
    default:
      break;
  }
  out->Number(10, statistics.has_null ? 1 : 0);
}

bool ReadStatistics(std::string_view bytes, const OrcType& type, ColumnStatistics* statistics) {
  bool ok = true;
  statistics->has_null = true;  // Until the field says otherwise.
  WireReader reader(bytes);
  while (reader.Next()) {
    switch (reader.field()) {
      case 1:
        statistics->value_count = reader.number();
        break;
      case 2:
        ReadIntegers(reader.bytes(), statistics, &ok);
        break;
      case 3:
        ReadReals(reader.bytes(), statistics, &ok);
        break;
      case 4:
        ReadTexts(reader.bytes(), statistics, &ok);
        break;
      case 6:
        ReadDecimals(reader.bytes(), type, statistics, &ok);
        break;
      case 7:
        ReadIntegers(reader.bytes(), statistics, &ok);
        break;
      case 9:
        ReadMoments(reader.bytes(), statistics, &ok);
        break;
      case 10:
        statistics->has_null = reader.number() != 0;
        break;
      default:
        break;
    }
  }
  return ok && reader.ok();
}

}  // namespace sluice::formats::orc_format
