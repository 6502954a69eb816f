#include "formats/orc/stripe_bounds.h"

#include <arrow/api.h>
#include <arrow/compute/api.h>

#include "formats/orc/orc_times.h"
#include "types/calendar.h"
#include "types/value_text.h"

namespace sluice::formats::orc_format {

namespace {

using ArrayPtr = std::shared_ptr<arrow::Array>;

template <typename Builder, typename Value>
ArrayPtr TwoValues(Builder* builder, const Value& min, const Value& max) {
  if (!builder->Append(min).ok() || !builder->Append(max).ok()) return nullptr;
  const auto finished = builder->Finish();
  return finished.ok() ? *finished : nullptr;
}

ArrayPtr CastTo(const ArrayPtr& bounds, const SqlType& type) {
  if (bounds == nullptr || bounds->type()->Equals(*type.ToArrow())) return bounds;
  const auto cast = arrow::compute::Cast(*bounds, type.ToArrow());
  return cast.ok() ? *cast : nullptr;
}

ArrayPtr MomentBounds(const SqlType& type, const Range<Moment>& range) {
  int64_t values[2] = {};
  if (!JoinTimestamp(range.min.seconds, range.min.nanos, type.precision(), &values[0]) ||
      !JoinTimestamp(range.max.seconds, range.max.nanos, type.precision(), &values[1])) {
    return nullptr;
  }
  arrow::TimestampBuilder builder(type.ToArrow(), arrow::default_memory_pool());
  return TwoValues(&builder, values[0], values[1]);
}

void Move(Moment* moment) {
  const int64_t days = FloorDiv(moment->seconds, kSecondsPerDay);
  moment->seconds += (HybridToProlepticDays(days) - days) * kSecondsPerDay;
}

bool IsFileInteger(OrcKind kind) { return kind >= OrcKind::kByte && kind <= OrcKind::kLong; }

}  // namespace

std::optional<pruning::ColumnBounds> StripeBounds::Bounds(int column) const {
  pruning::ColumnBounds bounds;
  bounds.row_count = file_.row_count(static_cast<int>(part_));
  const OrcType& root = file_.footer_.types[0];
  const int field = FindField(file_.schema_.physical, column, root);
  if (field < 0) {
    bounds.null_count = bounds.row_count;
    return bounds;
  }
  const uint64_t id = root.children[static_cast<size_t>(field)];
  const auto& of_stripes = file_.stripe_statistics_;
  if (of_stripes.size() != file_.footer_.stripes.size() || id >= of_stripes[part_].size())
    return std::nullopt;
  return Of(column, of_stripes[part_][id], bounds.row_count);
}

ColumnFacts StripeBounds::Facts(int column) const {
  ColumnFacts facts;
  const SqlType& type = file_.schema_.physical.column(column).type;
  const std::optional<pruning::ColumnBounds> bounds = Bounds(column);
  if (!bounds || type.is_nested()) return facts;
  const OrcType& root = file_.footer_.types[0];
  const int field = FindField(file_.schema_.physical, column, root);
  if (field >= 0) {
    // A file without statistics of the column looks like one whose values are all NULL, which says
    // so.
    const uint64_t id = root.children[static_cast<size_t>(field)];
    const ColumnStatistics& statistics = file_.stripe_statistics_[part_][id];
    if (bounds->null_count > 0 && !statistics.has_null) return facts;
  }
  facts.null_count = bounds->null_count;
  const bool plain_dates = type.kind() == TypeKind::kDate && !file_.calendar_.hybrid_dates();
  if (type.is_integer() || plain_dates) facts.min_max = bounds->min_max;
  return facts;
}

std::optional<pruning::ColumnBounds> StripeBounds::Of(int column,
                                                      const ColumnStatistics& statistics,
                                                      int64_t row_count) const {
  const Column& wanted = file_.schema_.physical.column(column);
  const OrcType& root = file_.footer_.types[0];
  const auto field = static_cast<size_t>(FindField(file_.schema_.physical, column, root));
  pruning::ColumnBounds bounds;
  bounds.row_count = row_count;
  const auto rows = static_cast<uint64_t>(row_count);
  if (statistics.value_count > rows) return std::nullopt;
  bounds.null_count = static_cast<int64_t>(rows - statistics.value_count);
  bounds.min_max = MinMax(wanted.type, file_.footer_.types[root.children[field]], statistics);
  return bounds;
}

ArrayPtr StripeBounds::MinMax(const SqlType& type, const OrcType& file_type,
                              const ColumnStatistics& statistics) const {
  switch (type.kind()) {
    case TypeKind::kTinyint:
    case TypeKind::kSmallint:
    case TypeKind::kInt:
    case TypeKind::kBigint: {
      if (!IsFileInteger(file_type.kind) || !statistics.integers) return nullptr;
      arrow::Int64Builder builder;
      return CastTo(TwoValues(&builder, statistics.integers->min, statistics.integers->max), type);
    }
    case TypeKind::kDate: {
      if (file_type.kind != OrcKind::kDate || !statistics.integers) return nullptr;
      file_.calendar_.TellOfDay(statistics.integers->min);
      const bool hybrid = file_.calendar_.hybrid_dates();
      const auto day = [hybrid](int64_t value) {
        return static_cast<int32_t>(hybrid ? HybridToProlepticDays(value) : value);
      };
      arrow::Date32Builder builder;
      return TwoValues(&builder, day(statistics.integers->min), day(statistics.integers->max));
    }
    case TypeKind::kFloat:
    case TypeKind::kDouble: {
      if (!statistics.reals) return nullptr;
      arrow::DoubleBuilder builder;
      return CastTo(TwoValues(&builder, statistics.reals->min, statistics.reals->max), type);
    }
    case TypeKind::kVarchar: {
      // The order of char(n) is another one once its blanks are cut.
      if (file_type.kind == OrcKind::kChar || !statistics.texts) return nullptr;
      arrow::StringBuilder builder;
      return TwoValues(&builder, statistics.texts->min, statistics.texts->max);
    }
    case TypeKind::kDecimal: {
      if (!statistics.decimals || file_type.scale != static_cast<uint64_t>(type.scale()))
        return nullptr;
      arrow::Decimal128Builder builder(type.ToArrow());
      return TwoValues(&builder, statistics.decimals->min, statistics.decimals->max);
    }
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: {
      const bool instants = file_type.kind == OrcKind::kTimestampInstant;
      if (!statistics.moments || instants != (type.kind() == TypeKind::kTimestampLtz))
        return nullptr;
      Range<Moment> range = *statistics.moments;
      if (file_.calendar_.hybrid_times()) {
        Move(&range.min);
        Move(&range.max);
      }
      return MomentBounds(type, range);
    }
    default:
      return nullptr;
  }
}

}  // namespace sluice::formats::orc_format
