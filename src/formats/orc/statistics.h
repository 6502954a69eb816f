// Statistics of a column, as row indexes, stripes and the footer hold them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <arrow/util/decimal.h>

#include "formats/orc/orc_type.h"
#include "formats/orc/wire.h"

namespace sluice::formats::orc_format {

template <typename T>
struct Range {
  T min;
  T max;
};

template <typename T>
void AddToRange(const T& value, std::optional<Range<T>>* range) {
  if (!range->has_value()) {
    *range = Range<T>{value, value};
  } else if (value < (*range)->min) {
    (*range)->min = value;
  } else if ((*range)->max < value) {
    (*range)->max = value;
  }
}

/// Floor seconds and nanoseconds; a wall time counts as if it were UTC.
struct Moment {
  int64_t seconds = 0;
  int32_t nanos = 0;
  friend auto operator<=>(const Moment&, const Moment&) = default;
};

/// Statistics of a column in a stride, a stripe or the file. Which ranges are used depends on the
/// column's kind; one that is not set is unknown.
struct ColumnStatistics {
  uint64_t value_count = 0;  // Not NULL.
  bool has_null = false;
  std::optional<Range<int64_t>> integers;  // Also days of dates.
  std::optional<int64_t> integer_sum;      // Unknown once it overflows.
  std::optional<Range<double>> reals;
  bool has_nan = false;  // Then `reals` is not written: NaN has no place in an order.
  std::optional<Range<std::string>> texts;
  uint64_t total_bytes = 0;  // Of texts and binaries.
  uint64_t true_count = 0;
  std::optional<Range<arrow::Decimal128>> decimals;
  std::optional<Range<Moment>> moments;

  /// Notes a value in the range and the sum; not in the count.
  void AddInteger(int64_t value);
  void Merge(const ColumnStatistics& other);
};

/// `type` tells which fields are written.
void WriteStatistics(const ColumnStatistics& statistics, const OrcType& type, WireWriter* out);
/// False when the bytes are damaged.
bool ReadStatistics(std::string_view bytes, const OrcType& type, ColumnStatistics* statistics);

}  // namespace sluice::formats::orc_format
