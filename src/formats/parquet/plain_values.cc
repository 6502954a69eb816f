#include "formats/parquet/plain_values.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include <arrow/array/data.h>
#include <arrow/type.h>
#include <arrow/util/bit_util.h>
#include <parquet/column_writer.h>

namespace sluice::formats::parquet_format {

namespace {

static_assert(std::endian::native == std::endian::little);

using Int128 = __int128;
constexpr size_t kInt96Bytes = 12;
constexpr size_t kLengthBytes = 4;

/// Calls `visit` with the index of each value that is not NULL.
template <typename Visit>
void ForEachValid(const arrow::ArrayData& data, const Visit& visit) {
  const uint8_t* const validity = data.GetNullCount() == 0 ? nullptr : data.buffers[0]->data();
  for (int64_t i = 0; i < data.length; ++i) {
    if (validity == nullptr || arrow::bit_util::GetBit(validity, data.offset + i)) visit(i);
  }
}

template <typename T>
std::string BytesOf(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof(value)};
}

bool Is(const arrow::Array& values, std::initializer_list<arrow::Type::type> ids) {
  for (const arrow::Type::type id : ids) {
    if (values.type_id() == id) return true;
  }
  return false;
}

void BigEndian(Int128 value, size_t width, char* out) {
  for (size_t i = 0; i < width; ++i) {
    out[width - 1 - i] = static_cast<char>(value & 0xFF);
    value >>= 8;
  }
}

void ToInt96(arrow::TimeUnit::type unit, int64_t value, ::parquet::Int96* out) {
  switch (unit) {
    case arrow::TimeUnit::SECOND:
      return ::parquet::internal::SecondsToImpalaTimestamp(value, out);
    case arrow::TimeUnit::MILLI:
      return ::parquet::internal::MillisecondsToImpalaTimestamp(value, out);
    case arrow::TimeUnit::MICRO:
      return ::parquet::internal::MicrosecondsToImpalaTimestamp(value, out);
    default:
      return ::parquet::internal::NanosecondsToImpalaTimestamp(value, out);
  }
}

}  // namespace

std::optional<PlainKind> PlainKindOf(const SqlType& type, const ParquetOptions& options) {
  switch (type.kind()) {
    case TypeKind::kBoolean:
      return PlainKind::kBoolean;
    case TypeKind::kTinyint:
      return PlainKind::kInt8;
    case TypeKind::kSmallint:
      return PlainKind::kInt16;
    case TypeKind::kInt:
    case TypeKind::kDate:
    case TypeKind::kTime:
      return PlainKind::kInt32;
    case TypeKind::kBigint:
      return PlainKind::kInt64;
    case TypeKind::kFloat:
      return PlainKind::kFloat;
    case TypeKind::kDouble:
      return PlainKind::kDouble;
    case TypeKind::kDecimal:
      return PlainKind::kDecimal;
    case TypeKind::kChar:
    case TypeKind::kVarchar:
    case TypeKind::kBinary:
    case TypeKind::kVarbinary:
      return PlainKind::kBytes;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return options.write_int64 ? PlainKind::kInt64 : PlainKind::kInt96;
    default:
      return std::nullopt;
  }
}

void PlainValues::Reset() {
  bytes_.clear();
  ends_.clear();
  width_ = 0;
  count_ = 0;
  has_bounds_ = false;
  min_.clear();
  max_.clear();
}

bool PlainValues::Set(PlainKind kind, const arrow::Array& values, int width) {
  using arrow::Type;
  Reset();
  const arrow::ArrayData& data = *values.data();
  count_ = data.length - data.GetNullCount();
  switch (kind) {
    case PlainKind::kBoolean:
      if (!Is(values, {Type::BOOL})) return false;
      SetBooleans(data);
      return true;
    case PlainKind::kInt8:
      if (!Is(values, {Type::INT8})) return false;
      SetNumbers<int8_t, int32_t>(data);
      return true;
    case PlainKind::kInt16:
      if (!Is(values, {Type::INT16})) return false;
      SetNumbers<int16_t, int32_t>(data);
      return true;
    case PlainKind::kInt32:
      if (!Is(values, {Type::INT32, Type::DATE32, Type::TIME32})) return false;
      SetNumbers<int32_t, int32_t>(data);
      return true;
    case PlainKind::kInt64:
      if (!Is(values, {Type::INT64})) return false;
      SetNumbers<int64_t, int64_t>(data);
      return true;
    case PlainKind::kFloat:
      if (!Is(values, {Type::FLOAT})) return false;
      SetNumbers<float, float>(data);
      return true;
    case PlainKind::kDouble:
      if (!Is(values, {Type::DOUBLE})) return false;
      SetNumbers<double, double>(data);
      return true;
    case PlainKind::kDecimal:
      if (!Is(values, {Type::DECIMAL128})) return false;
      SetDecimals(data, static_cast<size_t>(width));
      return true;
    case PlainKind::kBytes:
      if (!Is(values, {Type::STRING, Type::BINARY})) return false;
      SetBytes(data);
      return true;
    case PlainKind::kInt96:
      if (!Is(values, {Type::TIMESTAMP})) return false;
      SetInt96(data);
      return true;
  }
  return false;
}

template <typename Source, typename Stored>
void PlainValues::SetNumbers(const arrow::ArrayData& data) {
  constexpr bool kFloating = std::is_floating_point_v<Stored>;
  width_ = sizeof(Stored);
  bytes_.resize(static_cast<size_t>(count_) * width_);
  const Source* const values = data.GetValues<Source>(1);
  char* out = bytes_.data();
  Stored low{};
  Stored high{};
  ForEachValid(data, [&](int64_t i) {
    const auto value = static_cast<Stored>(values[i]);
    std::memcpy(out, &value, sizeof(value));
    out += sizeof(value);
    if constexpr (kFloating) {
      if (std::isnan(value)) return;
    }
    low = has_bounds_ ? std::min(low, value) : value;
    high = has_bounds_ ? std::max(high, value) : value;
    has_bounds_ = true;
  });
  if constexpr (kFloating) {
    // A reader that tells the zeros apart must find both within the bounds.
    if (low == 0) low = -Stored{0};
    if (high == 0) high = Stored{0};
  }
  min_ = BytesOf(low);
  max_ = BytesOf(high);
}

void PlainValues::SetBooleans(const arrow::ArrayData& data) {
  const uint8_t* const bits = data.buffers[1]->data();
  bytes_.resize(static_cast<size_t>(arrow::bit_util::BytesForBits(count_)));
  auto* const out = reinterpret_cast<uint8_t*>(bytes_.data());
  int64_t at = 0;
  bool low = true;
  bool high = false;
  ForEachValid(data, [&](int64_t i) {
    const bool value = arrow::bit_util::GetBit(bits, data.offset + i);
    if (value) arrow::bit_util::SetBit(out, at);
    ++at;
    low = low && value;
    high = high || value;
  });
  has_bounds_ = count_ > 0;
  min_ = BytesOf(low);
  max_ = BytesOf(high);
}

void PlainValues::SetDecimals(const arrow::ArrayData& data, size_t width) {
  width_ = width;
  bytes_.resize(static_cast<size_t>(count_) * width_);
  const uint8_t* const values = data.buffers[1]->data();
  char* out = bytes_.data();
  Int128 low = 0;
  Int128 high = 0;
  ForEachValid(data, [&](int64_t i) {
    Int128 value = 0;
    std::memcpy(&value, values + (data.offset + i) * 16, 16);
    BigEndian(value, width_, out);
    out += width_;
    low = has_bounds_ ? std::min(low, value) : value;
    high = has_bounds_ ? std::max(high, value) : value;
    has_bounds_ = true;
  });
  min_.resize(width_);
  max_.resize(width_);
  BigEndian(low, width_, min_.data());
  BigEndian(high, width_, max_.data());
}

void PlainValues::SetBytes(const arrow::ArrayData& data) {
  const int32_t* const offsets = data.GetValues<int32_t>(1);
  const char* const text =
      reinterpret_cast<const char*>(data.buffers[2] ? data.buffers[2]->data() : nullptr);
  size_t bytes = static_cast<size_t>(count_) * kLengthBytes;
  // A NULL may stand over bytes: they are not written, only the room is too large at first.
  if (data.length > 0) bytes += static_cast<size_t>(offsets[data.length] - offsets[0]);
  bytes_.resize(bytes);
  ends_.reserve(static_cast<size_t>(count_));
  char* out = bytes_.data();
  std::string_view low;
  std::string_view high;
  ForEachValid(data, [&](int64_t i) {
    const auto length = static_cast<uint32_t>(offsets[i + 1] - offsets[i]);
    const std::string_view value(text + offsets[i], length);
    std::memcpy(out, &length, kLengthBytes);
    if (length > 0) std::memcpy(out + kLengthBytes, value.data(), length);
    out += kLengthBytes + length;
    ends_.push_back(static_cast<uint32_t>(out - bytes_.data()));
    if (!has_bounds_ || value < low) low = value;
    if (!has_bounds_ || value > high) high = value;
    has_bounds_ = true;
  });
  bytes_.resize(static_cast<size_t>(out - bytes_.data()));
  min_ = low;
  max_ = high;
}

void PlainValues::SetInt96(const arrow::ArrayData& data) {
  width_ = kInt96Bytes;
  bytes_.resize(static_cast<size_t>(count_) * width_);
  const int64_t* const values = data.GetValues<int64_t>(1);
  const auto unit = static_cast<const arrow::TimestampType&>(*data.type).unit();
  char* out = bytes_.data();
  int64_t low = 0;
  int64_t high = 0;
  ForEachValid(data, [&](int64_t i) {
    ::parquet::Int96 value;
    ToInt96(unit, values[i], &value);
    std::memcpy(out, &value, kInt96Bytes);
    out += kInt96Bytes;
    low = has_bounds_ ? std::min(low, values[i]) : values[i];
    high = has_bounds_ ? std::max(high, values[i]) : values[i];
    has_bounds_ = true;
  });
  // In the unit of the array: INT96 has no order of its own.
  min_ = BytesOf(low);
  max_ = BytesOf(high);
}

}  // namespace sluice::formats::parquet_format
