// Generators of sequences: arithmetic on the row number, so nothing is held in memory or in state.
#include <bit>
#include <charconv>
#include <cstring>

#include <arrow/array/util.h>

#include "connectors/datagen/array_parts.h"
#include "connectors/datagen/column_generator.h"

namespace sluice::connectors {
namespace {

class SequenceGenerator final : public ColumnGenerator {
 public:
  SequenceGenerator(SqlType type, int64_t start, int64_t end)
      : type_(std::move(type)), start_(start), end_(end) {}

  std::optional<int64_t> row_limit() const override {
    const uint64_t rows = static_cast<uint64_t>(end_) - static_cast<uint64_t>(start_) + 1;
    return rows == 0 || rows > INT64_MAX ? INT64_MAX : static_cast<int64_t>(rows);
  }

  Result<std::shared_ptr<arrow::Array>> Generate(const RowRange& range,
                                                 const GenerateContext& context) const override {
    switch (type_.kind()) {
      case TypeKind::kTinyint:
        return Numbers<int8_t>(range, context);
      case TypeKind::kSmallint:
        return Numbers<int16_t>(range, context);
      case TypeKind::kInt:
        return Numbers<int32_t>(range, context);
      case TypeKind::kBigint:
        return Numbers<int64_t>(range, context);
      case TypeKind::kFloat:
        return Numbers<float>(range, context);
      case TypeKind::kDouble:
        return Numbers<double>(range, context);
      case TypeKind::kDecimal:
        return Decimals(range, context);
      default:
        return Texts(range, context);
    }
  }

 private:
  int64_t ValueAt(uint64_t row) const {
    return static_cast<int64_t>(static_cast<uint64_t>(start_) + row);
  }

  template <typename Value>
  Result<std::shared_ptr<arrow::Array>> Numbers(const RowRange& range,
                                                const GenerateContext& context) const {
    SLUICE_ASSIGN_OR_RETURN(
        std::shared_ptr<arrow::Buffer> values,
        AllocateBytes(range.count() * static_cast<int64_t>(sizeof(Value)), context.pool));
    auto* const out = reinterpret_cast<Value*>(values->mutable_data());
    ForEach(range, [&](int64_t i, uint64_t row) { out[i] = static_cast<Value>(ValueAt(row)); });
    return FixedWidthArray(type_, range.count(), std::move(values), {});
  }

  Result<std::shared_ptr<arrow::Array>> Decimals(const RowRange& range,
                                                 const GenerateContext& context) const {
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Buffer> values,
                            AllocateBytes(range.count() * 16, context.pool));
    const arrow::Decimal128 scale = arrow::Decimal128::GetScaleMultiplier(type_.scale());
    ForEach(range, [&](int64_t i, uint64_t row) {
      (arrow::Decimal128(ValueAt(row)) * scale).ToBytes(values->mutable_data() + i * 16);
    });
    return FixedWidthArray(type_, range.count(), std::move(values), {});
  }

  Result<std::shared_ptr<arrow::Array>> Texts(const RowRange& range,
                                              const GenerateContext& context) const {
    constexpr int64_t kMaxDigits = 20;
    const bool text = type_.is_character();
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Buffer> offsets,
                            AllocateBytes((range.count() + 1) * 4, context.pool));
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Buffer> bytes,
                            AllocateBytes(range.count() * kMaxDigits, context.pool));
    auto* const ends = reinterpret_cast<int32_t*>(offsets->mutable_data());
    char* const begin = reinterpret_cast<char*>(bytes->mutable_data());
    char* at = begin;
    ends[0] = 0;
    ForEach(range, [&](int64_t i, uint64_t row) {
      const int64_t value = ValueAt(row);
      if (text) {
        at = std::to_chars(at, at + kMaxDigits, value).ptr;
      } else {
        uint64_t big_endian = static_cast<uint64_t>(value);
        if constexpr (std::endian::native == std::endian::little) {
          big_endian = __builtin_bswap64(big_endian);
        }
        std::memcpy(at, &big_endian, 8);
        at += 8;
      }
      ends[i + 1] = static_cast<int32_t>(at - begin);
    });
    return arrow::MakeArray(arrow::ArrayData::Make(
        type_.ToArrow(), range.count(), {nullptr, std::move(offsets), std::move(bytes)}, 0));
  }

  const SqlType type_;
  const int64_t start_;
  const int64_t end_;
};

}  // namespace

ColumnGeneratorPtr Sequence(SqlType type, int64_t start, int64_t end) {
  return std::make_shared<SequenceGenerator>(std::move(type), start, end);
}

}  // namespace sluice::connectors
