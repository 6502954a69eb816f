#include "formats/orc/stride_judge.h"

#include <algorithm>
#include <cmath>

#include <arrow/api.h>

#include "formats/orc/bloom_filter.h"
#include "formats/orc/orc_schema.h"
#include "formats/orc/stripe_bounds.h"
#include "formats/pruning/bounds.h"

namespace sluice::formats::orc_format {

namespace {

// Of one column, by stride.
struct ColumnIndex {
  std::vector<ColumnStatistics> statistics;
  std::vector<std::optional<BloomFilter>> filters;
};

std::optional<uint64_t> HashOf(const arrow::Scalar& value, const OrcType& type, bool hybrid) {
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
      if (type.kind != OrcKind::kDate || hybrid) return std::nullopt;
      return HashOfInteger(static_cast<const arrow::Date32Scalar&>(value).value);
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
  StrideBounds(const StripeBounds& stripe, const ColumnIndex& index, const OrcType& type,
               bool hybrid, size_t stride, int64_t row_count)
      : stripe_(stripe),
        index_(index),
        type_(type),
        hybrid_(hybrid),
        stride_(stride),
        row_count_(row_count) {}

  std::optional<pruning::ColumnBounds> Bounds(int column) const override {
    return stripe_.Of(column, index_.statistics[stride_], row_count_);
  }
  bool MayContain(int, const arrow::Scalar& value) const override {
    if (stride_ >= index_.filters.size() || !index_.filters[stride_]) return true;
    const auto hash = HashOf(value, type_, hybrid_);
    return !hash || index_.filters[stride_]->MayContain(*hash);
  }

 private:
  const StripeBounds& stripe_;
  const ColumnIndex& index_;
  const OrcType& type_;
  const bool hybrid_;
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
        stride_rows_(static_cast<int64_t>(file.footer_.row_index_stride)) {}

  bool MayMatch(std::span<const expr::ExprPtr> filters) {
    if (stride_rows_ <= 0 || filters.empty() || stripe_.index_bytes == 0) return true;
    auto footer = file_.ReadStripeFooter(stripe_);
    if (!footer.ok()) return true;  // Reading the rows will tell.
    footer_ = std::move(*footer);
    const auto rows = static_cast<int64_t>(stripe_.row_count);
    std::vector<bool> may_match(static_cast<size_t>((rows + stride_rows_ - 1) / stride_rows_),
                                true);
    for (const expr::ExprPtr& filter : filters) Exclude(*filter, &may_match);
    return std::find(may_match.begin(), may_match.end(), true) != may_match.end();
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
    for (size_t i = 0; i < may_match->size(); ++i) {
      const int64_t begin = static_cast<int64_t>(i) * stride_rows_;
      const StrideBounds bounds(stripe, index, type, file_.hybrid_calendar(), i,
                                std::min(stride_rows_, rows - begin));
      if (!pruning::MayMatch(filter, bounds)) (*may_match)[i] = false;
    }
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

bool StridesMayMatch(const OrcFile& file, int part, std::span<const expr::ExprPtr> filters) {
  return StrideJudge(file, part).MayMatch(filters);
}

}  // namespace sluice::formats::orc_format
