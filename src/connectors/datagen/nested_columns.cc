// Generators of random ARRAY, MAP, MULTISET and ROW values.
#include <arrow/array/array_nested.h>
#include <arrow/array/util.h>

#include "connectors/datagen/array_parts.h"
#include "connectors/datagen/column_generator.h"

namespace sluice::connectors {
namespace {

/// Offsets 0, length, 2 * length, …
Result<std::shared_ptr<arrow::Buffer>> EvenOffsets(int64_t count, int32_t length,
                                                   arrow::MemoryPool* pool) {
  if ((count + 1) * length > INT32_MAX) {
    return Status::InvalidArgument(
        "A batch of datagen's arrays has more than 2^31 elements. Choose "
        "a smaller 'length' for the nested columns.");
  }
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Buffer> buffer,
                          AllocateBytes((count + 1) * 4, pool));
  auto* const offsets = reinterpret_cast<int32_t*>(buffer->mutable_data());
  for (int64_t i = 0; i <= count; ++i) offsets[i] = static_cast<int32_t>(i * length);
  return buffer;
}

class ArrayGenerator final : public ColumnGenerator {
 public:
  ArrayGenerator(RandomSettings settings, SqlType type, int32_t length, ColumnGeneratorPtr element)
      : settings_(std::move(settings)),
        type_(std::move(type)),
        length_(length),
        element_(std::move(element)) {}

  Result<std::shared_ptr<arrow::Array>> Generate(const RowRange& range,
                                                 const GenerateContext& context) const override {
    SLUICE_ASSIGN_OR_RETURN(NullMask nulls, DrawNulls(settings_, range, context));
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Buffer> offsets,
                            EvenOffsets(range.count(), length_, context.pool));
    SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Array> elements,
                            element_->Generate(range.Elements(length_), context));
    return arrow::MakeArray(arrow::ArrayData::Make(type_.ToArrow(), range.count(),
                                                   {std::move(nulls.bitmap), std::move(offsets)},
                                                   {elements->data()}, nulls.null_count));
  }

 private:
  const RandomSettings settings_;
  const SqlType type_;
  const int32_t length_;
  const ColumnGeneratorPtr element_;
};

class MapGenerator final : public ColumnGenerator {
 public:
  MapGenerator(RandomSettings settings, SqlType type, int32_t length, ColumnGeneratorPtr key,
               ColumnGeneratorPtr value)
      : settings_(std::move(settings)),
        type_(std::move(type)),
        length_(length),
        key_(std::move(key)),
        value_(std::move(value)) {}

  Result<std::shared_ptr<arrow::Array>> Generate(const RowRange& range,
                                                 const GenerateContext& context) const override {
    SLUICE_ASSIGN_OR_RETURN(NullMask nulls, DrawNulls(settings_, range, context));
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Buffer> offsets,
                            EvenOffsets(range.count(), length_, context.pool));
    const RowRange entry_range = range.Elements(length_);
    SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Array> keys,
                            key_->Generate(entry_range, context));
    SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Array> values,
                            value_->Generate(entry_range, context));
    std::shared_ptr<arrow::DataType> arrow_type = type_.ToArrow();
    SLUICE_ASSIGN_ARROW(
        std::shared_ptr<arrow::Array> entries,
        arrow::StructArray::Make({keys, values}, arrow_type->field(0)->type()->fields()));
    if (key_->repeats()) {
      SLUICE_RETURN_NOT_OK(DropEqualKeys(range.count(), *keys, offsets.get(), &entries, context));
    }
    return arrow::MakeArray(arrow::ArrayData::Make(std::move(arrow_type), range.count(),
                                                   {std::move(nulls.bitmap), std::move(offsets)},
                                                   {entries->data()}, nulls.null_count));
  }

 private:
  /// Keeps the first of equal keys of each map and rewrites the offsets. Copies only when there are
  /// any.
  Status DropEqualKeys(int64_t count, const arrow::Array& keys, arrow::Buffer* offsets,
                       std::shared_ptr<arrow::Array>* entries,
                       const GenerateContext& context) const {
    std::vector<std::pair<int64_t, int64_t>> kept;  // Runs [begin, end) of entries that stay.
    auto* const ends = reinterpret_cast<int32_t*>(offsets->mutable_data());
    int32_t total = 0;
    for (int64_t map = 0; map < count; ++map) {
      const int64_t begin = map * length_;
      for (int64_t i = begin; i < begin + length_; ++i) {
        bool seen = false;
        for (int64_t j = begin; j < i && !seen; ++j) seen = keys.RangeEquals(keys, i, i + 1, j);
        if (seen) continue;
        if (kept.empty() || kept.back().second != i) kept.emplace_back(i, i);
        kept.back().second = i + 1;
        ++total;
      }
      ends[map + 1] = total;
    }
    if (kept.size() <= 1 && total == (*entries)->length()) return {};
    arrow::ArrayVector pieces;
    pieces.reserve(kept.size());
    for (const auto& [begin, end] : kept) pieces.push_back((*entries)->Slice(begin, end - begin));
    SLUICE_ASSIGN_ARROW(*entries, arrow::Concatenate(pieces, context.pool));
    return {};
  }

  const RandomSettings settings_;
  const SqlType type_;
  const int32_t length_;
  const ColumnGeneratorPtr key_;
  const ColumnGeneratorPtr value_;
};

class RowGenerator final : public ColumnGenerator {
 public:
  RowGenerator(RandomSettings settings, SqlType type, std::vector<ColumnGeneratorPtr> fields)
      : settings_(std::move(settings)), type_(std::move(type)), fields_(std::move(fields)) {}

  Result<std::shared_ptr<arrow::Array>> Generate(const RowRange& range,
                                                 const GenerateContext& context) const override {
    SLUICE_ASSIGN_OR_RETURN(NullMask nulls, DrawNulls(settings_, range, context));
    std::vector<std::shared_ptr<arrow::ArrayData>> children;
    for (const ColumnGeneratorPtr& field : fields_) {
      SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Array> values,
                              field->Generate(range, context));
      children.push_back(values->data());
    }
    return arrow::MakeArray(arrow::ArrayData::Make(type_.ToArrow(), range.count(),
                                                   {std::move(nulls.bitmap)}, std::move(children),
                                                   nulls.null_count));
  }

 private:
  const RandomSettings settings_;
  const SqlType type_;
  const std::vector<ColumnGeneratorPtr> fields_;
};

}  // namespace

ColumnGeneratorPtr RandomArray(RandomSettings settings, SqlType type, int32_t length,
                               ColumnGeneratorPtr element) {
  return std::make_shared<ArrayGenerator>(std::move(settings), std::move(type), length,
                                          std::move(element));
}

ColumnGeneratorPtr RandomMap(RandomSettings settings, SqlType type, int32_t length,
                             ColumnGeneratorPtr key, ColumnGeneratorPtr value) {
  return std::make_shared<MapGenerator>(std::move(settings), std::move(type), length,
                                        std::move(key), std::move(value));
}

ColumnGeneratorPtr RandomRow(RandomSettings settings, SqlType type,
                             std::vector<ColumnGeneratorPtr> fields) {
  return std::make_shared<RowGenerator>(std::move(settings), std::move(type), std::move(fields));
}

}  // namespace sluice::connectors
