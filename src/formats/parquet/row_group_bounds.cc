#include "formats/parquet/row_group_bounds.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include <arrow/api.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/reader.h>
#include <parquet/bloom_filter.h>
#include <parquet/bloom_filter_reader.h>
#include <parquet/page_index.h>
#include <parquet/statistics.h>

#include "formats/parquet/column_plan.h"
#include "formats/parquet/timestamp_values.h"
#include "formats/pruning/bounds.h"
#include "types/calendar.h"
#include "types/value_text.h"

namespace sluice::formats::parquet_format {

namespace {

using pruning::ColumnBounds;
using pruning::RowRange;
using pruning::RowRanges;

// The offsets of one zone differ by less than this over its whole history.
constexpr int64_t kZoneSpreadSeconds = 26 * 3600;

// A flat column of the table in the file.
struct FlatLeaf {
  int leaf = -1;   // -1: not in the file.
  int field = -1;  // Among the top-level fields.
};

// nullopt for columns that are nested or repeated in the file.
std::optional<FlatLeaf> FindFlatLeaf(const RowGroupView& view, int column) {
  const ::parquet::SchemaDescriptor& schema = *view.reader.metadata()->schema();
  FlatLeaf found;
  found.field = FindField(schema, view.physical.column(column).name);
  if (found.field < 0) return found;
  const auto& node = schema.group_node()->field(found.field);
  if (!node->is_primitive()) return std::nullopt;
  found.leaf = 0;
  while (schema.GetColumnRoot(found.leaf) != node.get()) ++found.leaf;
  if (schema.Column(found.leaf)->max_repetition_level() > 0) return std::nullopt;
  return found;
}

std::shared_ptr<arrow::Array> TwoScalars(const std::shared_ptr<arrow::Scalar>& min,
                                         const std::shared_ptr<arrow::Scalar>& max,
                                         arrow::MemoryPool* pool) {
  const auto first = arrow::MakeArrayFromScalar(*min, 1, pool);
  const auto second = arrow::MakeArrayFromScalar(*max, 1, pool);
  if (!first.ok() || !second.ok()) return nullptr;
  const auto both = arrow::Concatenate({*first, *second}, pool);
  return both.ok() ? *both : nullptr;
}

// Bounds in the file's form as two values of the table's type; null when they say nothing.
std::shared_ptr<arrow::Array> ConvertBounds(const RowGroupView& view, int column,
                                            const FlatLeaf& place,
                                            const ::parquet::Statistics& statistics) {
  const SqlType& type = view.physical.column(column).type;
  const ::parquet::ColumnDescriptor& leaf = *view.reader.metadata()->schema()->Column(place.leaf);
  // Padding makes the order of CHAR another one; a shift between zones is not monotonous.
  if (type.kind() == TypeKind::kChar || leaf.physical_type() == ::parquet::Type::INT96)
    return nullptr;
  if (!CanRead(*view.file_columns.field(place.field)->type(), type)) return nullptr;
  WallClock wall_clock(view.options.wall_clock_zone);
  const bool shifted = type.kind() == TypeKind::kTimestamp && leaf.logical_type()->is_timestamp() &&
                       static_cast<const ::parquet::TimestampLogicalType&>(*leaf.logical_type())
                           .is_adjusted_to_utc();
  if (shifted && !wall_clock.is_utc()) return nullptr;
  std::shared_ptr<arrow::Scalar> min;
  std::shared_ptr<arrow::Scalar> max;
  if (!::parquet::arrow::StatisticsAsScalars(statistics, &min, &max).ok()) return nullptr;
  const auto both = TwoScalars(min, max, view.pool);
  if (both == nullptr || !CanRead(*both->type(), type)) return nullptr;
  // The text of a UUID has the order of its bytes.
  const std::array<int, 1> uuid_leaf = {IsUuid(leaf) ? place.leaf : -1};
  int64_t bad_row = -1;
  const auto converted = ReadConverter(&wall_clock, view.pool)
                             .Convert(both, type, {uuid_leaf, nullptr, place.leaf}, &bad_row);
  return converted.ok() ? *converted : nullptr;
}

struct Instant {
  int64_t seconds = 0;
  int32_t nanos = 0;
};

std::optional<Instant> ParseInstant(const arrow::KeyValueMetadata& metadata, const char* key) {
  const auto text = metadata.Get(key);
  if (!text.ok()) return std::nullopt;
  Instant instant;
  const char* const end = text->data() + text->size();
  const auto seconds = std::from_chars(text->data(), end, instant.seconds);
  if (seconds.ec != std::errc() || seconds.ptr == end || *seconds.ptr != ' ') return std::nullopt;
  const auto nanos = std::from_chars(seconds.ptr + 1, end, instant.nanos);
  if (nanos.ec != std::errc() || nanos.ptr != end) return std::nullopt;
  return instant;
}

// Bounds of an INT96 column that our writer left beside the chunk.
std::shared_ptr<arrow::Array> Int96Bounds(const RowGroupView& view, const SqlType& type,
                                          const ::parquet::ColumnChunkMetaData& chunk) {
  const auto& metadata = chunk.key_value_metadata();
  if (!type.is_timestamp() || metadata == nullptr) return nullptr;
  auto min = ParseInstant(*metadata, kInt96MinKey);
  auto max = ParseInstant(*metadata, kInt96MaxKey);
  if (!min || !max) return nullptr;
  WallClock wall_clock(view.options.wall_clock_zone);
  if (type.kind() == TypeKind::kTimestamp && !wall_clock.is_utc()) {
    min->seconds = wall_clock.InstantToLocal(min->seconds) - kZoneSpreadSeconds;
    max->seconds = wall_clock.InstantToLocal(max->seconds) + kZoneSpreadSeconds;
  }
  arrow::TimestampBuilder builder(type.ToArrow(), view.pool);
  for (const Instant& bound : {*min, *max}) {
    int64_t value = 0;
    if (!JoinTimestamp(bound.seconds, bound.nanos, type.precision(), &value) ||
        !builder.Append(value).ok()) {
      return nullptr;
    }
  }
  const auto finished = builder.Finish();
  return finished.ok() ? *finished : nullptr;
}

// Of a decimal, when the file has it with the same scale.
std::optional<uint64_t> HashOfDecimal(const arrow::Decimal128& value, int scale,
                                      const ::parquet::ColumnDescriptor& leaf,
                                      const ::parquet::BloomFilter& filter) {
  const auto& logical = leaf.logical_type();
  if (logical == nullptr || !logical->is_decimal() ||
      static_cast<const ::parquet::DecimalLogicalType&>(*logical).scale() != scale)
    return std::nullopt;
  const auto low = static_cast<int64_t>(value.low_bits());
  const bool fits = value.high_bits() == low >> 63;
  switch (leaf.physical_type()) {
    case ::parquet::Type::INT32:
      if (!fits || low != static_cast<int32_t>(low)) return std::nullopt;
      return filter.Hash(static_cast<int32_t>(low));
    case ::parquet::Type::INT64:
      return fits ? std::optional(filter.Hash(low)) : std::nullopt;
    case ::parquet::Type::FIXED_LEN_BYTE_ARRAY: {
      const auto width = static_cast<size_t>(leaf.type_length());
      std::array<uint8_t, 16> bytes = value.ToBytes();
      if (width > bytes.size()) return std::nullopt;
      std::reverse(bytes.begin(), bytes.end());  // Most significant first, cut to the width.
      const ::parquet::FLBA cut(bytes.data() + bytes.size() - width);
      return filter.Hash(&cut, static_cast<uint32_t>(width));
    }
    default:
      return std::nullopt;  // Writers differ in the length of a BYTE_ARRAY.
  }
}

// Of a time in the file's unit: that of the table or a coarser one, else many values of the file
// are the same to the table.
std::optional<uint64_t> HashOfTime(const arrow::TimestampScalar& value, const SqlType& type,
                                   const WallClock& wall_clock,
                                   const ::parquet::ColumnDescriptor& leaf,
                                   const ::parquet::BloomFilter& filter) {
  const auto& logical = leaf.logical_type();
  if (leaf.physical_type() != ::parquet::Type::INT64 || logical == nullptr ||
      !logical->is_timestamp() || type.precision() % 3 != 0 || type.precision() == 0)
    return std::nullopt;
  const auto& times = static_cast<const ::parquet::TimestampLogicalType&>(*logical);
  if (times.is_adjusted_to_utc() && type.kind() == TypeKind::kTimestamp && !wall_clock.is_utc())
    return std::nullopt;
  int64_t file_units = 1'000;
  if (times.time_unit() == ::parquet::LogicalType::TimeUnit::MICROS) file_units = 1'000'000;
  if (times.time_unit() == ::parquet::LogicalType::TimeUnit::NANOS) file_units = 1'000'000'000;
  const int64_t units = TimestampUnitsPerSecond(type.precision());
  if (file_units > units || value.value % (units / file_units) != 0) return std::nullopt;
  return filter.Hash(value.value / (units / file_units));
}

// The hash that the file's writer made of `value`; nullopt for types whose form in the file is not
// known here.
std::optional<uint64_t> HashOf(const arrow::Scalar& value, const SqlType& type,
                               const WallClock& wall_clock, const ::parquet::ColumnDescriptor& leaf,
                               const ::parquet::BloomFilter& filter) {
  using Physical = ::parquet::Type;
  switch (value.type->id()) {
    case arrow::Type::INT8:
    case arrow::Type::INT16:
    case arrow::Type::INT32:
    case arrow::Type::INT64:
    case arrow::Type::DATE32: {
      const auto wide =
          value.type->id() == arrow::Type::DATE32
              ? arrow::Result<std::shared_ptr<arrow::Scalar>>(std::make_shared<arrow::Int64Scalar>(
                    static_cast<const arrow::Date32Scalar&>(value).value))
              : value.CastTo(arrow::int64());
      if (!wide.ok()) return std::nullopt;
      const int64_t number = static_cast<const arrow::Int64Scalar&>(**wide).value;
      if (leaf.physical_type() == Physical::INT64) return filter.Hash(number);
      if (leaf.physical_type() == Physical::INT32 && number == static_cast<int32_t>(number))
        return filter.Hash(static_cast<int32_t>(number));
      return std::nullopt;
    }
    case arrow::Type::FLOAT: {
      const float number = static_cast<const arrow::FloatScalar&>(value).value;
      // Zeros of both signs are equal and hash apart.
      if (leaf.physical_type() != Physical::FLOAT || number == 0) return std::nullopt;
      return filter.Hash(number);
    }
    case arrow::Type::DOUBLE: {
      const double number = static_cast<const arrow::DoubleScalar&>(value).value;
      if (leaf.physical_type() != Physical::DOUBLE || number == 0) return std::nullopt;
      return filter.Hash(number);
    }
    case arrow::Type::STRING:
    case arrow::Type::BINARY: {
      if (leaf.physical_type() != Physical::BYTE_ARRAY) return std::nullopt;
      const auto& bytes = *static_cast<const arrow::BaseBinaryScalar&>(value).value;
      return filter.Hash(::parquet::ByteArray(static_cast<uint32_t>(bytes.size()), bytes.data()));
    }
    case arrow::Type::DECIMAL128:
      return HashOfDecimal(static_cast<const arrow::Decimal128Scalar&>(value).value, type.scale(),
                           leaf, filter);
    case arrow::Type::TIMESTAMP:
      return HashOfTime(static_cast<const arrow::TimestampScalar&>(value), type, wall_clock, leaf,
                        filter);
    default:
      return std::nullopt;
  }
}

// Statistics and bloom filters of the column chunks.
class ChunkBounds final : public pruning::BoundsSource {
 public:
  explicit ChunkBounds(const RowGroupView& view)
      : view_(view), row_group_(view.reader.metadata()->RowGroup(view.part)) {}

  std::optional<ColumnBounds> Bounds(int column) const override {
    ColumnBounds bounds;
    bounds.row_count = row_group_->num_rows();
    const auto place = FindFlatLeaf(view_, column);
    if (!place) return std::nullopt;
    if (place->leaf < 0) {
      bounds.null_count = bounds.row_count;
      return bounds;
    }
    const ::parquet::ColumnDescriptor& leaf =
        *view_.reader.metadata()->schema()->Column(place->leaf);
    const auto chunk = row_group_->ColumnChunk(place->leaf);
    const auto statistics = chunk->statistics();
    if (statistics != nullptr && statistics->HasNullCount())
      bounds.null_count = statistics->null_count();
    if (leaf.max_definition_level() == 0) bounds.null_count = 0;
    if (leaf.physical_type() == ::parquet::Type::INT96) {
      bounds.min_max = Int96Bounds(view_, view_.physical.column(column).type, *chunk);
    } else if (statistics != nullptr && statistics->HasMinMax()) {
      bounds.min_max = ConvertBounds(view_, column, *place, *statistics);
    }
    return bounds;
  }

  bool MayContain(int column, const arrow::Scalar& value) const override {
    const SqlType& type = view_.physical.column(column).type;
    const auto place = FindFlatLeaf(view_, column);
    // CHAR compares without its padding.
    if (!place || place->leaf < 0 || type.kind() == TypeKind::kChar) return true;
    if (!row_group_->ColumnChunk(place->leaf)->bloom_filter_offset()) return true;
    const auto group = view_.reader.GetBloomFilterReader().RowGroup(view_.part);
    const auto filter = group == nullptr ? nullptr : group->GetColumnBloomFilter(place->leaf);
    if (filter == nullptr) return true;
    const auto hash = HashOf(value, type, WallClock(view_.options.wall_clock_zone),
                             *view_.reader.metadata()->schema()->Column(place->leaf), *filter);
    return !hash || filter->FindHash(*hash);
  }

 private:
  const RowGroupView& view_;
  const std::unique_ptr<::parquet::RowGroupMetaData> row_group_;
};

// Whether bounds of the column, once converted, are values that it has.
bool HasExactBounds(const RowGroupView& view, int column, int leaf_index) {
  const SqlType& type = view.physical.column(column).type;
  const ::parquet::ColumnDescriptor& leaf = *view.reader.metadata()->schema()->Column(leaf_index);
  // Those of wall times are widened where the zone has an offset.
  if (leaf.physical_type() == ::parquet::Type::INT96)
    return type.kind() == TypeKind::kTimestampLtz ||
           WallClock(view.options.wall_clock_zone).is_utc();
  if (leaf.physical_type() != ::parquet::Type::INT32 &&
      leaf.physical_type() != ::parquet::Type::INT64) {
    return false;
  }
  // Rescaling may fail for values between the bounds, which must be told.
  if (type.kind() == TypeKind::kDecimal && leaf.type_scale() != type.scale()) return false;
  const auto statistics =
      view.reader.metadata()->RowGroup(view.part)->ColumnChunk(leaf_index)->statistics();
  return statistics != nullptr && statistics->is_min_value_exact().value_or(true) &&
         statistics->is_max_value_exact().value_or(true);
}

// The bounds of one page of the only column that a filter uses.
class PageBounds final : public pruning::BoundsSource {
 public:
  explicit PageBounds(ColumnBounds bounds) : bounds_(std::move(bounds)) {}
  std::optional<ColumnBounds> Bounds(int) const override { return bounds_; }

 private:
  const ColumnBounds bounds_;
};

class PageJudge {
 public:
  explicit PageJudge(const RowGroupView& view)
      : view_(view), row_count_(view.reader.metadata()->RowGroup(view.part)->num_rows()) {}

  RowRanges Matching(std::span<const expr::ExprPtr> filters) const {
    RowRanges rows = {{0, row_count_}};
    const auto indexes = view_.reader.GetPageIndexReader();
    const auto row_group = indexes == nullptr ? nullptr : indexes->RowGroup(view_.part);
    if (row_group == nullptr) return rows;
    for (const expr::ExprPtr& filter : filters) {
      const auto matching = MatchingOne(*filter, row_group.get());
      if (matching) rows = pruning::Intersect(rows, *matching);
    }
    return rows;
  }

 private:
  /// The rows of the pages that may match; nullopt when nothing is known.
  std::optional<RowRanges> MatchingOne(const expr::Expr& filter,
                                       ::parquet::RowGroupPageIndexReader* row_group) const {
    const std::vector<int> columns = expr::UsedColumns(filter);
    if (columns.size() != 1) return std::nullopt;
    const auto place = FindFlatLeaf(view_, columns[0]);
    if (!place || place->leaf < 0) return std::nullopt;
    const auto bounds = row_group->GetColumnIndex(place->leaf);
    const auto offsets = row_group->GetOffsetIndex(place->leaf);
    if (bounds == nullptr || offsets == nullptr) return std::nullopt;
    const auto& pages = offsets->page_locations();
    if (bounds->null_pages().size() != pages.size() || !AreInOrder(pages)) return std::nullopt;
    RowRanges matching;
    for (size_t page = 0; page < pages.size(); ++page) {
      const RowRange rows = {pages[page].first_row_index, page + 1 < pages.size()
                                                              ? pages[page + 1].first_row_index
                                                              : row_count_};
      const PageBounds page_bounds(BoundsOf(columns[0], *place, *bounds, page, rows));
      if (pruning::MayMatch(filter, page_bounds)) pruning::Append(rows, &matching);
    }
    return matching;
  }

  /// Pages of a damaged index prove nothing.
  bool AreInOrder(const std::vector<::parquet::PageLocation>& pages) const {
    int64_t least = 0;
    for (const ::parquet::PageLocation& page : pages) {
      if (page.first_row_index < least || page.first_row_index >= row_count_) return false;
      if (least == 0 && page.first_row_index != 0) return false;
      least = page.first_row_index + 1;
    }
    return !pages.empty();
  }

  ColumnBounds BoundsOf(int column, const FlatLeaf& place, const ::parquet::ColumnIndex& index,
                        size_t page, const RowRange& rows) const {
    ColumnBounds bounds;
    bounds.row_count = rows.end - rows.begin;
    if (index.has_null_counts()) bounds.null_count = index.null_counts()[page];
    if (index.null_pages()[page]) {
      bounds.null_count = bounds.row_count;
      return bounds;
    }
    const auto statistics = ::parquet::Statistics::Make(
        view_.reader.metadata()->schema()->Column(place.leaf), index.encoded_min_values()[page],
        index.encoded_max_values()[page], bounds.row_count, 0, 0, true, false, false, view_.pool);
    bounds.min_max = ConvertBounds(view_, column, place, *statistics);
    return bounds;
  }

  const RowGroupView& view_;
  const int64_t row_count_;
};

}  // namespace

ColumnFacts ExactFacts(const RowGroupView& view, int column) {
  ColumnFacts facts;
  const std::optional<ColumnBounds> bounds = ChunkBounds(view).Bounds(column);
  if (!bounds) return facts;
  if (bounds->null_count <= bounds->row_count) facts.null_count = bounds->null_count;
  if (bounds->min_max == nullptr || bounds->min_max->null_count() > 0) return facts;
  const auto place = FindFlatLeaf(view, column);
  if (HasExactBounds(view, column, place->leaf)) facts.min_max = bounds->min_max;
  return facts;
}

RowRanges MatchingRows(const RowGroupView& view, std::span<const expr::ExprPtr> filters) {
  const ChunkBounds chunks(view);
  for (const expr::ExprPtr& filter : filters) {
    if (!pruning::MayMatch(*filter, chunks)) return {};
  }
  if (filters.empty()) return {{0, view.reader.metadata()->RowGroup(view.part)->num_rows()}};
  return PageJudge(view).Matching(filters);
}

std::string Int96BoundText(int64_t value, int64_t units_per_second) {
  int64_t seconds = 0;
  int32_t nanos = 0;
  SplitTimestamp(value, units_per_second, &seconds, &nanos);
  return std::to_string(seconds) + " " + std::to_string(nanos);
}

}  // namespace sluice::formats::parquet_format
