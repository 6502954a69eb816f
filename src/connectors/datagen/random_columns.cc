// Generators of random scalar values.
#include <cfloat>
#include <cmath>
#include <cstring>

#include <arrow/array/array_binary.h>
#include <arrow/array/util.h>

#include "connectors/datagen/array_parts.h"
#include "connectors/datagen/column_generator.h"
#include "types/calendar.h"
#include "types/value_text.h"

namespace sluice::connectors {

Result<NullMask> DrawNulls(const RandomSettings& settings, const RowRange& range,
                           const GenerateContext& context) {
  NullMask mask;
  if (settings.null_rate <= 0) return mask;
  SLUICE_ASSIGN_OR_RETURN(
      mask.bitmap, AllocateBytes(arrow::bit_util::BytesForBits(range.count()), context.pool));
  uint8_t* const bits = mask.bitmap->mutable_data();
  std::memset(bits, 0, static_cast<size_t>(mask.bitmap->size()));
  const RandomStream random(context.seed, settings.path + "#null");
  ForEach(range, [&](int64_t i, uint64_t number) {
    const bool valid = ScaleToUnit(random.At(number)) >= settings.null_rate;
    mask.null_count += valid ? 0 : 1;
    bits[i >> 3] |= static_cast<uint8_t>(static_cast<unsigned>(valid) << (i & 7));
  });
  return mask;
}

Result<std::shared_ptr<arrow::Array>> FixedWidthArray(const SqlType& type, int64_t count,
                                                      std::shared_ptr<arrow::Buffer> values,
                                                      NullMask nulls) {
  return arrow::MakeArray(arrow::ArrayData::Make(
      type.ToArrow(), count, {std::move(nulls.bitmap), std::move(values)}, nulls.null_count));
}

namespace {

class BooleanGenerator final : public ColumnGenerator {
 public:
  explicit BooleanGenerator(RandomSettings settings) : settings_(std::move(settings)) {}

  Result<std::shared_ptr<arrow::Array>> Generate(const RowRange& range,
                                                 const GenerateContext& context) const override {
    SLUICE_ASSIGN_OR_RETURN(
        std::shared_ptr<arrow::Buffer> values,
        AllocateBytes(arrow::bit_util::BytesForBits(range.count()), context.pool));
    uint8_t* const bits = values->mutable_data();
    std::memset(bits, 0, static_cast<size_t>(values->size()));
    const RandomStream random(context.seed, settings_.path);
    ForEach(range, [&](int64_t i, uint64_t number) {
      bits[i >> 3] |= static_cast<uint8_t>((random.At(number) >> 63) << (i & 7));
    });
    SLUICE_ASSIGN_OR_RETURN(NullMask nulls, DrawNulls(settings_, range, context));
    return FixedWidthArray(SqlType::Boolean(), range.count(), std::move(values), std::move(nulls));
  }

 private:
  const RandomSettings settings_;
};

/// Values of one C++ type, each made from 64 random bits.
template <typename Value, typename MakeValue>
class FixedWidthGenerator final : public ColumnGenerator {
 public:
  FixedWidthGenerator(RandomSettings settings, SqlType type, MakeValue make)
      : settings_(std::move(settings)), type_(std::move(type)), make_(std::move(make)) {}

  Result<std::shared_ptr<arrow::Array>> Generate(const RowRange& range,
                                                 const GenerateContext& context) const override {
    SLUICE_ASSIGN_OR_RETURN(
        std::shared_ptr<arrow::Buffer> values,
        AllocateBytes(range.count() * static_cast<int64_t>(sizeof(Value)), context.pool));
    auto* const out = reinterpret_cast<Value*>(values->mutable_data());
    const RandomStream random(context.seed, settings_.path);
    const MakeValue make = make_;
    ForEach(range, [&](int64_t i, uint64_t number) { out[i] = make(random.At(number), context); });
    SLUICE_ASSIGN_OR_RETURN(NullMask nulls, DrawNulls(settings_, range, context));
    return FixedWidthArray(type_, range.count(), std::move(values), std::move(nulls));
  }

 private:
  const RandomSettings settings_;
  const SqlType type_;
  const MakeValue make_;
};

template <typename Value, typename MakeValue>
ColumnGeneratorPtr MakeFixedWidth(RandomSettings settings, SqlType type, MakeValue make) {
  return std::make_shared<FixedWidthGenerator<Value, MakeValue>>(std::move(settings),
                                                                 std::move(type), std::move(make));
}

template <typename Value>
ColumnGeneratorPtr MakeInteger(RandomSettings settings, SqlType type, int64_t min, int64_t max) {
  const uint64_t span = static_cast<uint64_t>(max) - static_cast<uint64_t>(min) + 1;
  const auto low = static_cast<uint64_t>(min);
  if constexpr (sizeof(Value) <= 4) {
    // 32 bits times a span of at most 2^32 fits in a register: no 128-bit arithmetic.
    return MakeFixedWidth<Value>(std::move(settings), std::move(type),
                                 [span, low](uint64_t bits, const GenerateContext&) {
                                   return static_cast<Value>(low + (((bits >> 32) * span) >> 32));
                                 });
  } else {
    return MakeFixedWidth<Value>(std::move(settings), std::move(type),
                                 [span, low](uint64_t bits, const GenerateContext&) {
                                   return static_cast<Value>(low + ScaleTo(bits, span));
                                 });
  }
}

class DecimalGenerator final : public ColumnGenerator {
 public:
  DecimalGenerator(RandomSettings settings, SqlType type, arrow::Decimal128 min,
                   arrow::Decimal128 max)
      : settings_(std::move(settings)), type_(std::move(type)), min_(min), max_(max) {}

  Result<std::shared_ptr<arrow::Array>> Generate(const RowRange& range,
                                                 const GenerateContext& context) const override {
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Buffer> values,
                            AllocateBytes(range.count() * 16, context.pool));
    auto* const out = values->mutable_data();
    const RandomStream high(context.seed, settings_.path);
    const RandomStream low(context.seed, settings_.path + "#low");
    const unsigned __int128 begin = ToInt(min_);
    const unsigned __int128 span = ToInt(max_) - begin + 1;
    const bool narrow = (span >> 64) == 0;
    ForEach(range, [&](int64_t i, uint64_t number) {
      if (narrow) {
        const unsigned __int128 value =
            begin + ScaleTo(high.At(number), static_cast<uint64_t>(span));
        std::memcpy(out + i * 16, &value, 16);
        return;
      }
      const unsigned __int128 bits =
          (static_cast<unsigned __int128>(high.At(number)) << 64) | low.At(number);
      // The remainder favours small values by less than span / 2^128, a third in the worst case of
      // 38 digits.
      const unsigned __int128 value = begin + bits % span;
      std::memcpy(out + i * 16, &value, 16);
    });
    SLUICE_ASSIGN_OR_RETURN(NullMask nulls, DrawNulls(settings_, range, context));
    return FixedWidthArray(type_, range.count(), std::move(values), std::move(nulls));
  }

 private:
  static unsigned __int128 ToInt(const arrow::Decimal128& value) {
    return (static_cast<unsigned __int128>(static_cast<uint64_t>(value.high_bits())) << 64) |
           value.low_bits();
  }
  const RandomSettings settings_;
  const SqlType type_;
  const arrow::Decimal128 min_;
  const arrow::Decimal128 max_;
};

/// Eight hexadecimal digits of 32 bits, all at once: spread the nibbles over bytes, then add '0' or
/// 'a' - 10.
uint64_t HexDigits(uint32_t bits) {
  uint64_t x = bits;
  x = (x | (x << 16)) & 0x0000FFFF0000FFFFull;
  x = (x | (x << 8)) & 0x00FF00FF00FF00FFull;
  x = (x | (x << 4)) & 0x0F0F0F0F0F0F0F0Full;
  const uint64_t letters = ((x + 0x0606060606060606ull) >> 4) & 0x0101010101010101ull;
  return x + 0x3030303030303030ull + letters * 0x27;
}

/// Text of hexadecimal digits or bytes. Whole blocks are written, and each value overwrites what
/// the one before wrote too far.
class TextGenerator final : public ColumnGenerator {
 public:
  TextGenerator(RandomSettings settings, SqlType type, int32_t length, bool varies)
      : settings_(std::move(settings)), type_(std::move(type)), length_(length), varies_(varies) {}

  Result<std::shared_ptr<arrow::Array>> Generate(const RowRange& range,
                                                 const GenerateContext& context) const override {
    SLUICE_ASSIGN_OR_RETURN(NullMask nulls, DrawNulls(settings_, range, context));
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Buffer> offsets,
                            AllocateBytes((range.count() + 1) * 4, context.pool));
    auto* const ends = reinterpret_cast<int32_t*>(offsets->mutable_data());
    SLUICE_ASSIGN_OR_RETURN(const int64_t bytes, DrawLengths(range, context, nulls, ends));
    SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::Buffer> text,
                            AllocateBytes(bytes, context.pool, kBlock));
    const RandomStream random(context.seed, settings_.path);
    char* const out = reinterpret_cast<char*>(text->mutable_data());
    if (type_.is_character()) {
      Fill<16>(range, random, ends, out, [](uint64_t bits, char* block) {
        const uint64_t digits[] = {HexDigits(static_cast<uint32_t>(bits)),
                                   HexDigits(static_cast<uint32_t>(bits >> 32))};
        std::memcpy(block, digits, 16);
      });
    } else {
      Fill<8>(range, random, ends, out,
              [](uint64_t bits, char* block) { std::memcpy(block, &bits, 8); });
    }
    return arrow::MakeArray(arrow::ArrayData::Make(
        type_.ToArrow(), range.count(),
        {std::move(nulls.bitmap), std::move(offsets), std::move(text)}, nulls.null_count));
  }

  /// Two of 2^64 texts are not equal by chance.
  bool repeats() const override { return varies_ || length_ < 16; }

 private:
  static constexpr int64_t kBlock = 16;

  Result<int64_t> DrawLengths(const RowRange& range, const GenerateContext& context,
                              const NullMask& nulls, int32_t* ends) const {
    const RandomStream random(context.seed, settings_.path + "#length");
    const uint8_t* const valid = nulls.bitmap ? nulls.bitmap->data() : nullptr;
    int64_t total = 0;
    ends[0] = 0;
    ForEach(range, [&](int64_t i, uint64_t number) {
      int64_t length = length_;
      if (varies_)
        length =
            1 + static_cast<int64_t>(ScaleTo(random.At(number), static_cast<uint64_t>(length_)));
      if (valid != nullptr && !arrow::bit_util::GetBit(valid, i)) length = 0;
      total += length;
      ends[i + 1] = static_cast<int32_t>(total);
    });
    if (total > INT32_MAX - kBlock) {
      return Status::InvalidArgument(
          "Option '" + settings_.path + ".length' is " + std::to_string(length_) +
          ": a batch of such values exceeds 2 GiB. Choose a smaller length.");
    }
    return total;
  }

  template <int kBlockBytes, typename WriteBlock>
  void Fill(const RowRange& range, const RandomStream& random, const int32_t* ends, char* out,
            WriteBlock write) const {
    const auto blocks = static_cast<uint64_t>((length_ + kBlockBytes - 1) / kBlockBytes);
    ForEach(range, [&](int64_t i, uint64_t number) {
      char* at = out + ends[i];
      const char* const end = out + ends[i + 1];
      for (uint64_t block = number * blocks; at < end; ++block, at += kBlockBytes) {
        write(random.At(block), at);
      }
    });
  }

  const RandomSettings settings_;
  const SqlType type_;
  const int32_t length_;
  const bool varies_;
};

}  // namespace

ColumnGeneratorPtr RandomBoolean(RandomSettings settings) {
  return std::make_shared<BooleanGenerator>(std::move(settings));
}

ColumnGeneratorPtr RandomInteger(RandomSettings settings, SqlType type, int64_t min, int64_t max) {
  switch (type.kind()) {
    case TypeKind::kTinyint:
      return MakeInteger<int8_t>(std::move(settings), std::move(type), min, max);
    case TypeKind::kSmallint:
      return MakeInteger<int16_t>(std::move(settings), std::move(type), min, max);
    case TypeKind::kInt:
    case TypeKind::kIntervalYearMonth:
      return MakeInteger<int32_t>(std::move(settings), std::move(type), min, max);
    default:
      return MakeInteger<int64_t>(std::move(settings), std::move(type), min, max);
  }
}

ColumnGeneratorPtr RandomDouble(RandomSettings settings, SqlType type, double min, double max) {
  // A subnormal bound costs a hundred cycles a row and moves no value: the interval is open, so 0
  // is never drawn.
  const double low = std::abs(min) < DBL_MIN ? 0 : min;
  const auto draw = [low, max, span = max - low](uint64_t bits) {
    const double u = ScaleToUnit(bits);
    return std::isfinite(span) ? low + u * span : low * (1 - u) + max * u;
  };
  if (type.kind() == TypeKind::kFloat) {
    return MakeFixedWidth<float>(
        std::move(settings), std::move(type),
        [draw](uint64_t bits, const GenerateContext&) { return static_cast<float>(draw(bits)); });
  }
  return MakeFixedWidth<double>(
      std::move(settings), std::move(type),
      [draw](uint64_t bits, const GenerateContext&) { return draw(bits); });
}

ColumnGeneratorPtr RandomDecimal(RandomSettings settings, SqlType type, arrow::Decimal128 min,
                                 arrow::Decimal128 max) {
  return std::make_shared<DecimalGenerator>(std::move(settings), std::move(type), min, max);
}

ColumnGeneratorPtr RandomText(RandomSettings settings, SqlType type, int32_t length, bool varies) {
  return std::make_shared<TextGenerator>(std::move(settings), std::move(type), length, varies);
}

ColumnGeneratorPtr CurrentDateOrTime(SqlType type) {
  if (type.kind() == TypeKind::kDate) {
    return MakeFixedWidth<int32_t>({}, std::move(type), [](uint64_t, const GenerateContext& c) {
      return static_cast<int32_t>(FloorDiv(c.local_now_ms, kMillisPerDay));
    });
  }
  return MakeFixedWidth<int32_t>({}, std::move(type), [](uint64_t, const GenerateContext& c) {
    return static_cast<int32_t>(FloorMod(c.local_now_ms, kMillisPerDay));
  });
}

ColumnGeneratorPtr RandomTimestamp(RandomSettings settings, SqlType type, int64_t max_past_ms) {
  // Values are whole milliseconds, cut further where the column holds fewer digits.
  int64_t grain_ms = 1;
  for (int digits = type.precision(); digits < 3; ++digits) grain_ms *= 10;
  const int64_t units_per_ms = TimestampUnitsPerSecond(type.precision()) / 1000;
  const uint64_t span = static_cast<uint64_t>(max_past_ms) + 1;
  return MakeFixedWidth<int64_t>(
      std::move(settings), std::move(type),
      [grain_ms, units_per_ms, span](uint64_t bits, const GenerateContext& context) {
        const int64_t past = span == 1 ? 0 : static_cast<int64_t>(ScaleTo(bits, span));
        return FloorDiv(context.now_ms - past, grain_ms) * grain_ms * units_per_ms;
      });
}

}  // namespace sluice::connectors
