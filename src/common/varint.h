// Whole numbers in groups of seven bits, least first, as Thrift, Avro, ORC, Parquet, snappy and
// Kafka write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// The bytes of the largest number of a type.
template <typename Number>
inline constexpr size_t kMaxVarintBytes = (sizeof(Number) * 8 + 6) / 7;

/// Writes a number without a sign, kMaxVarintBytes at most; returns the end.
template <typename Number>
char* PutVarint(Number value, char* out) {
  static_assert(static_cast<Number>(-1) > 0);
  for (; value >= 0x80; value >>= 7) *out++ = static_cast<char>(value | 0x80);
  *out++ = static_cast<char>(value);
  return out;
}

template <typename Number>
void AppendVarint(Number value, std::string* out) {
  char bytes[kMaxVarintBytes<Number>];
  out->append(bytes, PutVarint(value, bytes));
}

enum class VarintRead {
  kWhole,
  kCut,       // The bytes end within the number.
  kTooLarge,  // It has more bits than the type, or more bytes than the type's largest number.
};

/// Reads a number without a sign from the bytes between `*at` and `end`, and moves `*at` behind it.
/// Its type is the limit. Leaves both as they were unless the number is whole. Zeros in front of a
/// number, which nobody writes, are accepted.
template <typename Number, typename Byte>
VarintRead ReadVarint(const Byte** at, const Byte* end, Number* number) {
  static_assert(sizeof(Byte) == 1 && static_cast<Number>(-1) > 0);
  constexpr int kLastShift = static_cast<int>(kMaxVarintBytes<Number> - 1) * 7;
  constexpr int kLastBits = static_cast<int>(sizeof(Number) * 8) - kLastShift;
  const Byte* from = *at;
  Number value = 0;
  for (int shift = 0; from != end; shift += 7) {
    const auto byte = static_cast<uint8_t>(*from++);
    if (shift == kLastShift && byte >> kLastBits != 0) return VarintRead::kTooLarge;
    value |= static_cast<Number>(byte & 0x7F) << shift;
    if (byte < 0x80) {
      *at = from;
      *number = value;
      return VarintRead::kWhole;
    }
  }
  return VarintRead::kCut;
}

/// The same from the front of `bytes`.
template <typename Number>
VarintRead ReadVarint(std::string_view* bytes, Number* number) {
  const char* at = bytes->data();
  const VarintRead read = ReadVarint(&at, bytes->data() + bytes->size(), number);
  bytes->remove_prefix(static_cast<size_t>(at - bytes->data()));
  return read;
}

/// Numbers with a sign as numbers without one, those near zero small: 0, -1, 1, -2 …
constexpr uint64_t Zigzag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}

constexpr int64_t FromZigzag(uint64_t number) {
  return static_cast<int64_t>(number >> 1 ^ (0 - (number & 1)));
}

}  // namespace sluice
