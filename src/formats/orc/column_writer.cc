#include "formats/orc/column_writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include <arrow/api.h>

#include "common/varint.h"
#include "formats/orc/orc_times.h"
#include "formats/orc/text_writer.h"
#include "formats/orc/wire.h"
#include "types/map_keys.h"
#include "types/value_text.h"

namespace sluice::formats::orc_format {

namespace {

class BooleanWriter final : public ColumnWriter {
 public:
  BooleanWriter(uint64_t column, const OrcType& type, const EncodeSettings* settings)
      : ColumnWriter(column, type, settings), data_(settings->codec.get()) {}
  size_t size() const override { return present_size() + data_.size(); }

 private:
  Status AppendValid(const arrow::Array& values, int64_t begin, int64_t end) override {
    const auto& booleans = static_cast<const arrow::BooleanArray&>(values);
    for (int64_t row = begin; row < end; ++row) {
      stride_.true_count += booleans.Value(row) ? 1 : 0;
      SLUICE_RETURN_NOT_OK(data_.Append(booleans.Value(row)));
    }
    return {};
  }
  Status AppendPositions(std::vector<uint64_t>* positions) override {
    return data_.AppendPosition(positions);
  }
  Status FinishStreams(StripeContent* stripe) override {
    SLUICE_ASSIGN_OR_RETURN(std::string bytes, data_.Finish());
    AddStream(StreamKind::kData, std::move(bytes), stripe);
    return {};
  }

  BitEncoder data_;
};

class ByteWriter final : public ColumnWriter {
 public:
  ByteWriter(uint64_t column, const OrcType& type, const EncodeSettings* settings)
      : ColumnWriter(column, type, settings), output_(settings->codec.get()), data_(&output_) {}
  size_t size() const override { return present_size() + output_.size(); }

 private:
  Status AppendValid(const arrow::Array& values, int64_t begin, int64_t end) override {
    const auto& bytes = static_cast<const arrow::Int8Array&>(values);
    for (int64_t row = begin; row < end; ++row) {
      stride_.AddInteger(bytes.Value(row));
      if (bloom() != nullptr) bloom()->Add(HashOfInteger(bytes.Value(row)));
      SLUICE_RETURN_NOT_OK(data_.Append(static_cast<uint8_t>(bytes.Value(row))));
    }
    return {};
  }
  Status AppendPositions(std::vector<uint64_t>* positions) override {
    SLUICE_RETURN_NOT_OK(data_.Flush());
    output_.AppendPosition(positions);
    positions->push_back(0);
    return {};
  }
  Status FinishStreams(StripeContent* stripe) override {
    SLUICE_RETURN_NOT_OK(data_.Flush());
    SLUICE_ASSIGN_OR_RETURN(std::string bytes, output_.Finish());
    AddStream(StreamKind::kData, std::move(bytes), stripe);
    return {};
  }

  StreamOutput output_;
  ByteRunEncoder data_;
};

// SMALLINT, INT, BIGINT and DATE.
template <typename ArrowArray>
class IntegerWriter final : public ColumnWriter {
 public:
  IntegerWriter(uint64_t column, const OrcType& type, const EncodeSettings* settings)
      : ColumnWriter(column, type, settings), data_(settings->codec.get(), true) {}
  size_t size() const override { return present_size() + data_.size(); }

 private:
  Status AppendValid(const arrow::Array& values, int64_t begin, int64_t end) override {
    const auto& integers = static_cast<const ArrowArray&>(values);
    for (int64_t row = begin; row < end; ++row) {
      stride_.AddInteger(integers.Value(row));
      if (bloom() != nullptr) bloom()->Add(HashOfInteger(integers.Value(row)));
      SLUICE_RETURN_NOT_OK(data_.Append(integers.Value(row)));
    }
    return {};
  }
  Status AppendPositions(std::vector<uint64_t>* positions) override {
    return data_.AppendPosition(positions);
  }
  Status FinishStreams(StripeContent* stripe) override {
    SLUICE_ASSIGN_OR_RETURN(std::string bytes, data_.Finish());
    AddStream(StreamKind::kData, std::move(bytes), stripe);
    return {};
  }
  ColumnEncoding encoding() const override { return {EncodingKind::kDirectV2, 0}; }

  IntegerEncoder data_;
};

template <typename ArrowArray>
class RealWriter final : public ColumnWriter {
 public:
  RealWriter(uint64_t column, const OrcType& type, const EncodeSettings* settings)
      : ColumnWriter(column, type, settings), data_(settings->codec.get()) {}
  size_t size() const override { return present_size() + data_.size(); }

 private:
  Status AppendValid(const arrow::Array& values, int64_t begin, int64_t end) override {
    const auto& reals = static_cast<const ArrowArray&>(values);
    for (int64_t row = begin; row < end; ++row) {
      const double value = reals.Value(row);
      stride_.has_nan = stride_.has_nan || std::isnan(value);
      if (!std::isnan(value)) AddToRange(value, &stride_.reals);
      if (bloom() != nullptr) bloom()->Add(HashOfReal(value));
    }
    const auto* const first = reals.raw_values() + begin;
    return data_.Append(
        {reinterpret_cast<const char*>(first), static_cast<size_t>(end - begin) * sizeof(*first)});
  }
  Status AppendPositions(std::vector<uint64_t>* positions) override {
    data_.AppendPosition(positions);
    return {};
  }
  Status FinishStreams(StripeContent* stripe) override {
    SLUICE_ASSIGN_OR_RETURN(std::string bytes, data_.Finish());
    AddStream(StreamKind::kData, std::move(bytes), stripe);
    return {};
  }

  StreamOutput data_;
};

class BinaryWriter final : public ColumnWriter {
 public:
  BinaryWriter(uint64_t column, const OrcType& type, const EncodeSettings* settings)
      : ColumnWriter(column, type, settings),
        data_(settings->codec.get()),
        lengths_(settings->codec.get(), false) {}
  size_t size() const override { return present_size() + data_.size() + lengths_.size(); }

 private:
  Status AppendValid(const arrow::Array& values, int64_t begin, int64_t end) override {
    const auto& binaries = static_cast<const arrow::BinaryArray&>(values);
    for (int64_t row = begin; row < end; ++row) {
      const std::string_view value = binaries.GetView(row);
      stride_.total_bytes += value.size();
      if (bloom() != nullptr) bloom()->Add(HashOfBytes(value));
      SLUICE_RETURN_NOT_OK(data_.Append(value));
      SLUICE_RETURN_NOT_OK(lengths_.Append(static_cast<int64_t>(value.size())));
    }
    return {};
  }
  Status AppendPositions(std::vector<uint64_t>* positions) override {
    data_.AppendPosition(positions);
    return lengths_.AppendPosition(positions);
  }
  Status FinishStreams(StripeContent* stripe) override {
    SLUICE_ASSIGN_OR_RETURN(std::string bytes, data_.Finish());
    SLUICE_ASSIGN_OR_RETURN(std::string lengths, lengths_.Finish());
    AddStream(StreamKind::kData, std::move(bytes), stripe);
    AddStream(StreamKind::kLength, std::move(lengths), stripe);
    return {};
  }
  ColumnEncoding encoding() const override { return {EncodingKind::kDirectV2, 0}; }

  StreamOutput data_;
  IntegerEncoder lengths_;
};

class DecimalWriter final : public ColumnWriter {
 public:
  DecimalWriter(uint64_t column, const OrcType& type, const EncodeSettings* settings)
      : ColumnWriter(column, type, settings),
        data_(settings->codec.get()),
        scales_(settings->codec.get(), true) {}
  size_t size() const override { return present_size() + data_.size() + scales_.size(); }

 private:
  Status AppendValid(const arrow::Array& values, int64_t begin, int64_t end) override {
    const auto& decimals = static_cast<const arrow::Decimal128Array&>(values);
    std::string bytes;
    for (int64_t row = begin; row < end; ++row) {
      const arrow::Decimal128 value(decimals.GetValue(row));
      AddToRange(value, &stride_.decimals);
      if (bloom() != nullptr) bloom()->Add(HashOfDecimal(value, static_cast<int>(type_.scale)));
      AppendZigzag(value, &bytes);
      SLUICE_RETURN_NOT_OK(scales_.Append(static_cast<int64_t>(type_.scale)));
    }
    return data_.Append(bytes);
  }

  static void AppendZigzag(const arrow::Decimal128& value, std::string* out) {
    auto bits = static_cast<unsigned __int128>(static_cast<uint64_t>(value.high_bits())) << 64 |
                value.low_bits();
    bits = value.high_bits() < 0 ? ~(bits << 1) : bits << 1;
    AppendVarint(bits, out);
  }

  Status AppendPositions(std::vector<uint64_t>* positions) override {
    data_.AppendPosition(positions);
    return scales_.AppendPosition(positions);
  }
  Status FinishStreams(StripeContent* stripe) override {
    SLUICE_ASSIGN_OR_RETURN(std::string bytes, data_.Finish());
    SLUICE_ASSIGN_OR_RETURN(std::string scales, scales_.Finish());
    AddStream(StreamKind::kData, std::move(bytes), stripe);
    AddStream(StreamKind::kSecondary, std::move(scales), stripe);
    return {};
  }
  ColumnEncoding encoding() const override { return {EncodingKind::kDirectV2, 0}; }

  StreamOutput data_;
  IntegerEncoder scales_;
};

class TimestampWriter final : public ColumnWriter {
 public:
  TimestampWriter(uint64_t column, const OrcType& type, int precision,
                  const EncodeSettings* settings)
      : ColumnWriter(column, type, settings),
        units_(TimestampUnitsPerSecond(precision)),
        seconds_(settings->codec.get(), true),
        nanos_(settings->codec.get(), false) {}
  size_t size() const override { return present_size() + seconds_.size() + nanos_.size(); }

 private:
  Status AppendValid(const arrow::Array& values, int64_t begin, int64_t end) override {
    const auto& timestamps = static_cast<const arrow::TimestampArray&>(values);
    for (int64_t row = begin; row < end; ++row) {
      Moment moment;
      SplitTimestamp(timestamps.Value(row), units_, &moment.seconds, &moment.nanos);
      AddToRange(moment, &stride_.moments);
      if (bloom() != nullptr) bloom()->Add(HashOfMoment(moment));
      SLUICE_ASSIGN_OR_RETURN(const StoredTime stored, ToStored(moment));
      SLUICE_RETURN_NOT_OK(seconds_.Append(stored.seconds));
      SLUICE_RETURN_NOT_OK(nanos_.Append(static_cast<int64_t>(stored.nanos)));
    }
    return {};
  }
  Status AppendPositions(std::vector<uint64_t>* positions) override {
    SLUICE_RETURN_NOT_OK(seconds_.AppendPosition(positions));
    return nanos_.AppendPosition(positions);
  }
  Status FinishStreams(StripeContent* stripe) override {
    SLUICE_ASSIGN_OR_RETURN(std::string seconds, seconds_.Finish());
    SLUICE_ASSIGN_OR_RETURN(std::string nanos, nanos_.Finish());
    AddStream(StreamKind::kData, std::move(seconds), stripe);
    AddStream(StreamKind::kSecondary, std::move(nanos), stripe);
    return {};
  }
  ColumnEncoding encoding() const override { return {EncodingKind::kDirectV2, 0}; }

  const int64_t units_;
  IntegerEncoder seconds_;
  IntegerEncoder nanos_;
};

class ParentWriter : public ColumnWriter {
 public:
  ParentWriter(uint64_t column, const OrcType& type, const EncodeSettings* settings,
               std::vector<std::unique_ptr<ColumnWriter>> children)
      : ColumnWriter(column, type, settings), children_(std::move(children)) {}
  size_t size() const override {
    size_t sum = present_size();
    for (const auto& child : children_) sum += child->size();
    return sum;
  }

 protected:
  Status BeginChildStrides() override {
    for (const auto& child : children_) SLUICE_RETURN_NOT_OK(child->BeginStride());
    return {};
  }
  Status FinishChildren(StripeContent* stripe) override {
    for (const auto& child : children_) SLUICE_RETURN_NOT_OK(child->Finish(stripe));
    return {};
  }

  const std::vector<std::unique_ptr<ColumnWriter>> children_;
};

class StructWriter final : public ParentWriter {
 public:
  using ParentWriter::ParentWriter;

 private:
  Status AppendValid(const arrow::Array& values, int64_t begin, int64_t end) override {
    const auto& rows = static_cast<const arrow::StructArray&>(values);
    for (size_t i = 0; i < children_.size(); ++i) {
      const Status status = children_[i]->Append(*rows.field(static_cast<int>(i)), begin, end);
      if (!status.ok())
        return Status(status).WithContext("In column '" + type_.field_names[i] + "':");
    }
    return {};
  }
  Status AppendPositions(std::vector<uint64_t>*) override { return {}; }
  Status FinishStreams(StripeContent*) override { return {}; }
};

// ARRAY and MAP.
class ListWriter final : public ParentWriter {
 public:
  ListWriter(uint64_t column, const OrcType& type, const EncodeSettings* settings,
             std::vector<std::unique_ptr<ColumnWriter>> children)
      : ParentWriter(column, type, settings, std::move(children)),
        lengths_(settings->codec.get(), false) {}
  size_t size() const override { return ParentWriter::size() + lengths_.size(); }

 private:
  Status AppendValid(const arrow::Array& values, int64_t begin, int64_t end) override {
    const auto& lists = static_cast<const arrow::ListArray&>(values);  // A map is one of entries.
    for (int64_t row = begin; row < end; ++row)
      SLUICE_RETURN_NOT_OK(lengths_.Append(lists.value_length(row)));
    const int64_t first = lists.value_offset(begin);
    const int64_t last = lists.value_offset(end);
    if (type_.kind == OrcKind::kList) return children_[0]->Append(*lists.values(), first, last);
    const auto& maps = static_cast<const arrow::MapArray&>(values);
    const SqlType key = SqlType::String();  // Keys of other types have no NULL.
    SLUICE_RETURN_NOT_OK(children_[0]->Append(*FromMapKeys(key, maps.keys()), first, last));
    return children_[1]->Append(*maps.items(), first, last);
  }
  Status AppendPositions(std::vector<uint64_t>* positions) override {
    return lengths_.AppendPosition(positions);
  }
  Status FinishStreams(StripeContent* stripe) override {
    SLUICE_ASSIGN_OR_RETURN(std::string lengths, lengths_.Finish());
    AddStream(StreamKind::kLength, std::move(lengths), stripe);
    return {};
  }
  ColumnEncoding encoding() const override { return {EncodingKind::kDirectV2, 0}; }

  IntegerEncoder lengths_;
};

class WriterMaker {
 public:
  WriterMaker(const std::vector<OrcType>& types, const EncodeSettings* settings)
      : types_(types), settings_(settings) {}

  std::unique_ptr<ColumnWriter> Make(const SqlType& type, uint64_t column) const {
    const OrcType& orc = types_[column];
    switch (type.kind()) {
      case TypeKind::kBoolean:
        return std::make_unique<BooleanWriter>(column, orc, settings_);
      case TypeKind::kTinyint:
        return std::make_unique<ByteWriter>(column, orc, settings_);
      case TypeKind::kSmallint:
        return std::make_unique<IntegerWriter<arrow::Int16Array>>(column, orc, settings_);
      case TypeKind::kInt:
        return std::make_unique<IntegerWriter<arrow::Int32Array>>(column, orc, settings_);
      case TypeKind::kBigint:
        return std::make_unique<IntegerWriter<arrow::Int64Array>>(column, orc, settings_);
      case TypeKind::kDate:
        return std::make_unique<IntegerWriter<arrow::Date32Array>>(column, orc, settings_);
      case TypeKind::kFloat:
        return std::make_unique<RealWriter<arrow::FloatArray>>(column, orc, settings_);
      case TypeKind::kDouble:
        return std::make_unique<RealWriter<arrow::DoubleArray>>(column, orc, settings_);
      case TypeKind::kDecimal:
        return std::make_unique<DecimalWriter>(column, orc, settings_);
      case TypeKind::kChar:
      case TypeKind::kVarchar:
        return MakeTextWriter(column, orc, settings_);
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampLtz:
        return std::make_unique<TimestampWriter>(column, orc, type.precision(), settings_);
      case TypeKind::kArray:
        return std::make_unique<ListWriter>(column, orc, settings_,
                                            Children({type.element()}, orc));
      case TypeKind::kMap:
        return std::make_unique<ListWriter>(column, orc, settings_,
                                            Children({type.key(), type.value()}, orc));
      case TypeKind::kRow: {
        std::vector<SqlType> fields;
        for (const RowField& field : type.fields()) fields.push_back(field.type);
        return MakeStruct(fields, column);
      }
      default:
        return std::make_unique<BinaryWriter>(column, orc, settings_);
    }
  }

  std::unique_ptr<ColumnWriter> MakeStruct(const std::vector<SqlType>& fields,
                                           uint64_t column) const {
    const OrcType& orc = types_[column];
    return std::make_unique<StructWriter>(column, orc, settings_, Children(fields, orc));
  }

 private:
  std::vector<std::unique_ptr<ColumnWriter>> Children(const std::vector<SqlType>& types,
                                                      const OrcType& parent) const {
    std::vector<std::unique_ptr<ColumnWriter>> children;
    for (size_t i = 0; i < types.size(); ++i)
      children.push_back(Make(types[i], parent.children[i]));
    return children;
  }

  const std::vector<OrcType>& types_;
  const EncodeSettings* const settings_;
};

}  // namespace

Status ColumnWriter::Append(const arrow::Array& values, int64_t begin, int64_t end) {
  const bool has_nulls = values.null_count() > 0;
  for (int64_t row = begin; row < end;) {
    const bool valid = !has_nulls || values.IsValid(row);
    int64_t run_end = has_nulls ? row + 1 : end;
    while (run_end < end && values.IsValid(run_end) == valid) ++run_end;
    SLUICE_RETURN_NOT_OK(present_.AppendRun(valid, run_end - row));
    if (valid) {
      stride_.value_count += static_cast<uint64_t>(run_end - row);
      SLUICE_RETURN_NOT_OK(AppendValid(values, row, run_end));
    } else {
      stride_.has_null = true;
    }
    row = run_end;
  }
  return {};
}

Status ColumnWriter::BeginStride() {
  if (!strides_.empty()) EndStride();
  Stride& stride = strides_.emplace_back();
  if (has_bloom_) stride.bloom.emplace(settings_.bloom_values, settings_.bloom_share);
  SLUICE_RETURN_NOT_OK(present_.AppendPosition(&stride.present_positions));
  SLUICE_RETURN_NOT_OK(AppendPositions(&stride.positions));
  return BeginChildStrides();
}

void ColumnWriter::EndStride() {
  stripe_.Merge(stride_);
  if (!strides_.empty()) strides_.back().statistics = std::move(stride_);
  stride_ = {};
}

Status ColumnWriter::AddIndex(StripeContent* stripe) {
  WireWriter index;
  for (const Stride& stride : strides_) {
    WireWriter entry;
    std::vector<uint64_t> positions;
    if (stripe_.has_null) positions = stride.present_positions;  // Else there is no such stream.
    positions.insert(positions.end(), stride.positions.begin(), stride.positions.end());
    entry.Packed(1, positions);
    WireWriter statistics;
    WriteStatistics(stride.statistics, type_, &statistics);
    entry.Message(2, statistics);
    index.Message(1, entry);
  }
  SLUICE_ASSIGN_OR_RETURN(std::string bytes, settings_.codec->EncodeAll(index.bytes()));
  stripe->indexes.push_back({StreamKind::kRowIndex, column_, std::move(bytes)});
  return {};
}

Status ColumnWriter::AddBloomFilters(StripeContent* stripe) {
  WireWriter filters;
  for (const Stride& stride : strides_) {
    WireWriter filter;
    stride.bloom->Write(&filter);
    filters.Message(1, filter);
  }
  SLUICE_ASSIGN_OR_RETURN(std::string bytes, settings_.codec->EncodeAll(filters.bytes()));
  stripe->indexes.push_back({StreamKind::kBloomFilterUtf8, column_, std::move(bytes)});
  return {};
}

Status ColumnWriter::Finish(StripeContent* stripe) {
  EndStride();
  SLUICE_RETURN_NOT_OK(FixPositions());
  if (settings_.row_index) SLUICE_RETURN_NOT_OK(AddIndex(stripe));
  if (has_bloom_) SLUICE_RETURN_NOT_OK(AddBloomFilters(stripe));
  SLUICE_ASSIGN_OR_RETURN(std::string present, present_.Finish());
  if (stripe_.has_null) AddStream(StreamKind::kPresent, std::move(present), stripe);
  SLUICE_RETURN_NOT_OK(FinishStreams(stripe));
  stripe->encodings.push_back(encoding());
  stripe->encodings.back().bloom_filters = has_bloom_;
  stripe->statistics.push_back(std::exchange(stripe_, {}));
  strides_.clear();
  return FinishChildren(stripe);
}

std::unique_ptr<ColumnWriter> MakeRootWriter(const std::vector<SqlType>& columns,
                                             const std::vector<OrcType>& types,
                                             const EncodeSettings* settings) {
  return WriterMaker(types, settings).MakeStruct(columns, 0);
}

}  // namespace sluice::formats::orc_format
