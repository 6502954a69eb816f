#include "formats/orc/stride_judge.h"

#include <algorithm>
#include <cmath>

#include <arrow/api.h>

#include "formats/orc/bloom_filter.h"
#include "formats/orc/orc_schema.h"
#include "formats/orc/stripe_bounds.h"
#include "formats/pruning/bounds.h"
#include "types/value_text.h"

namespace sluice::formats::orc_format {

namespace {

// Since ORC-135 times are hashed in UTC; the library for C++ began with this number.
constexpr uint64_t kFirstExactVersion = 6;

// Of one column, by stride.
struct ColumnIndex {
  std::vector<ColumnStatistics> statistics;
  std::vector<std::optional<BloomFilter>> filters;
};

// What the hashes of a column's bloom filters were made of.
struct HashedForm {
  const OrcType& type;
  const SqlType& wanted;
  bool hybrid;       // Days and times before 1582 are counted otherwise.
  bool exact_times;  // Hashed as wall times of UTC, decimals as texts: not by old libraries.
};

std::optional<uint64_t> HashOfDay(int32_t day, const HashedForm& form) {
  if (form.type.kind != OrcKind::kDate || (form.hybrid && day < kFirstGregorianDay))
    return std::nullopt;
  return HashOfInteger(day);
}

std::optional<uint64_t> HashOfTime(int64_t value, const HashedForm& form) {
  constexpr int64_t kFirstGregorianSecond = -12'219'292'800;
  const bool instants = form.type.kind == OrcKind::kTimestampInstant;
  if (!form.exact_times || (!instants && form.type.kind != OrcKind::kTimestamp) ||
      instants != (form.wanted.kind() == TypeKind::kTimestampLtz) || form.wanted.precision() < 3)
    return std::nullopt;  // With fewer digits than milliseconds many values of the file are equal.
  Moment moment;
  SplitTimestamp(value, TimestampUnitsPerSecond(form.wanted.precision()), &moment.seconds,
                 &moment.nanos);
  if (form.hybrid && moment.seconds < kFirstGregorianSecond) return std::nullopt;
  // The second before 1970 comes back a second late from files of others (ToStored).
  if (moment.seconds == 0 || moment.seconds == -1) return std::nullopt;
  return HashOfMoment(moment);
}

std::optional<uint64_t> HashOfNumber(const arrow::Decimal128& value, const HashedForm& form) {
  if (!form.exact_times || form.type.kind != OrcKind::kDecimal || form.type.scale == 0 ||
      form.wanted.scale() == 0)
    return std::nullopt;
  return HashOfDecimal(value, form.wanted.scale());
}

std::optional<uint64_t> HashOf(const arrow::Scalar& value, const HashedForm& form) {
  const OrcType& type = form.type;
  const bool integer = type.kind >= OrcKind::kByte && type.kind <= OrcKind::kLong;
  switch (value.type->id()) {
    case arrow::Type::INT8:
      if (!integer) return std::nullopt;
      return HashOfInteger(static_cast<const arrow::Int8Scalar&>(value).value);
    case arrow::Type::INT16:
      if (!integer) return std::nullopt;
      return HashOfInteger(static_cast<const arrow::Int16Scalar&>(value).value);
    case arrow::Type::INT32:
      if (!integer) return std::nullopt;
      return HashOfInteger(static_cast<const arrow::Int32Scalar&>(value).value);
    case arrow::Type::INT64:
      if (!integer) return std::nullopt;
      return HashOfInteger(static_cast<const arrow::Int64Scalar&>(value).value);
    case arrow::Type::DATE32:
      return HashOfDay(static_cast<const arrow::Date32Scalar&>(value).value, form);
    case arrow::Type::TIMESTAMP:
      return HashOfTime(static_cast<const arrow::TimestampScalar&>(value).value, form);
    case arrow::Type::DECIMAL128:
      return HashOfNumber(static_cast<const arrow::Decimal128Scalar&>(value).value, form);
    case arrow::Type::FLOAT:
    case arrow::Type::DOUBLE: {
      if (type.kind != OrcKind::kFloat && type.kind != OrcKind::kDouble) return std::nullopt;
      const double real = value.type->id() == arrow::Type::FLOAT
                              ? static_cast<const arrow::FloatScalar&>(value).value
                              : static_cast<const arrow::DoubleScalar&>(value).value;
      // Zeros of both signs are equal and hash apart, NaN has many bits.
      if (real == 0 || std::isnan(real)) return std::nullopt;
      return HashOfReal(real);
    }
    case arrow::Type::STRING:
      // char(n) is hashed with or without its blanks, by library.
      if (type.kind != OrcKind::kString && type.kind != OrcKind::kVarchar) return std::nullopt;
      break;
    case arrow::Type::BINARY:
      if (type.kind != OrcKind::kBinary) return std::nullopt;
      break;
    default:
      return std::nullopt;
  }
  return HashOfBytes(
      static_cast<std::string_view>(*static_cast<const arrow::BaseBinaryScalar&>(value).value));
}

class StrideBounds final : public pruning::BoundsSource {
 public:
  StrideBounds(const StripeBounds& stripe, const ColumnIndex& index, const HashedForm& form,
               size_t stride, int64_t row_count)
      : stripe_(stripe), index_(index), form_(form), stride_(stride), row_count_(row_count) {}

  std::optional<pruning::ColumnBounds> Bounds(int column) const override {
    return stripe_.Of(column, index_.statistics[stride_], row_count_);
  }
  bool MayContain(int, const arrow::Scalar& value) const override {
    if (stride_ >= index_.filters.size() || !index_.filters[stride_]) return true;
    const auto hash = HashOf(value, form_);
    return !hash || index_.filters[stride_]->MayContain(*hash);
  }

 private:
  const StripeBounds& stripe_;
  const ColumnIndex& index_;
  const HashedForm& form_;
  const size_t stride_;
  const int64_t row_count_;
};

}  // namespace

class StrideJudge {
 public:
  StrideJudge(const OrcFile& file, int part)
      : file_(file),
        part_(part),
        stripe_(file.footer_.stripes[static_cast<size_t>(part)]),
        stride_rows_(file.stride_rows(part)) {}

  pruning::RowRanges Matching(std::span<const expr::ExprPtr> filters) {
    const auto rows = static_cast<int64_t>(stripe_.row_count);
    const pruning::RowRanges all = {{0, rows}};
    if (stride_rows_ <= 0 || filters.empty() || stripe_.index_bytes == 0) return all;
    auto footer = file_.ReadStripeFooter(stripe_);
    if (!footer.ok()) return all;  // Reading the rows will tell.
    footer_ = std::move(*footer);
    std::vector<bool> may_match(static_cast<size_t>((rows + stride_rows_ - 1) / stride_rows_),
                                true);
    for (const expr::ExprPtr& filter : filters) Exclude(*filter, &may_match);
    pruning::RowRanges matching;
    for (size_t i = 0; i < may_match.size(); ++i) {
      const int64_t begin = static_cast<int64_t>(i) * stride_rows_;
      if (may_match[i]) pruning::Append({begin, std::min(begin + stride_rows_, rows)}, &matching);
    }
    return matching;
  }

 private:
  void Exclude(const expr::Expr& filter, std::vector<bool>* may_match) const {
    const std::vector<int> columns = expr::UsedColumns(filter);
    if (columns.size() != 1) return;
    const OrcType& root = file_.footer_.types[0];
    const int field = FindField(file_.schema_.physical, columns[0], root);
    if (field < 0) return;
    const uint64_t id = root.children[static_cast<size_t>(field)];
    const OrcType& type = file_.footer_.types[id];
    const ColumnIndex index = Load(id, type);
    if (index.statistics.size() != may_match->size()) return;
    const StripeBounds stripe(file_, part_);
    const auto rows = static_cast<int64_t>(stripe_.row_count);
    const HashedForm form{type, file_.schema_.physical.column(columns[0]).type,
                          type.kind == OrcKind::kDate ? file_.calendar_.hybrid_dates()
                                                      : file_.calendar_.hybrid_times(),
                          file_.writer_version_ >= kFirstExactVersion && WritesInUtc()};
    for (size_t i = 0; i < may_match->size(); ++i) {
      const int64_t begin = static_cast<int64_t>(i) * stride_rows_;
      const StrideBounds bounds(stripe, index, form, i, std::min(stride_rows_, rows - begin));
      if (!pruning::MayMatch(filter, bounds)) (*may_match)[i] = false;
    }
  }

  bool WritesInUtc() const {
    const std::string& zone = footer_.writer_zone;
    return zone.empty() || zone == "UTC" || zone == "GMT";
  }

  ColumnIndex Load(uint64_t column, const OrcType& type) const {
    ColumnIndex index;
    ForEachEntry(column, StreamKind::kRowIndex, [&](std::string_view entry) {
      ColumnStatistics statistics;
      bool found = false;
      WireReader reader(entry);
      while (reader.Next()) {
        if (reader.field() == 2) found = ReadStatistics(reader.bytes(), type, &statistics);
      }
      if (found && reader.ok()) index.statistics.push_back(std::move(statistics));
    });
    ForEachEntry(column, StreamKind::kBloomFilterUtf8, [&](std::string_view entry) {
      index.filters.push_back(BloomFilter::Parse(entry));
    });
    return index;
  }

  /// Calls `take` with each message of field 1 of the stream; not at all when it cannot be read.
  template <typename Take>
  void ForEachEntry(uint64_t column, StreamKind kind, const Take& take) const {
    uint64_t offset = stripe_.offset;
    const uint64_t end = stripe_.offset + stripe_.index_bytes;
    for (const StreamInfo& stream : footer_.streams) {
      if (stream.length > end - offset) return;  // The indexes come first.
      if (stream.kind != static_cast<uint32_t>(kind) || stream.column != column) {
        offset += stream.length;
        continue;
      }
      const auto bytes = file_.ReadBytes(offset, stream.length);
      if (!bytes.ok()) return;
      constexpr size_t kMostIndexBytes = 64 << 20;
      const auto content = file_.codec_->DecodeAll(
          {(*bytes)->data_as<char>(), static_cast<size_t>((*bytes)->size())}, kMostIndexBytes);
      if (!content.ok()) return;
      WireReader reader(*content);
      while (reader.Next()) {
        if (reader.field() == 1) take(reader.bytes());
      }
      return;
    }
  }

  const OrcFile& file_;
  const int part_;
  const StripeInfo& stripe_;
  const int64_t stride_rows_;
  StripeFooter footer_;
};

pruning::RowRanges MatchingStrides(const OrcFile& file, int part,
                                   std::span<const expr::ExprPtr> filters) {
  return StrideJudge(file, part).Matching(filters);
}

}  // namespace sluice::formats::orc_format
