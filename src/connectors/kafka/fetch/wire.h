// The primitives of Kafka's protocol (KIP-896's versions without tagged fields): big-endian
// numbers, texts and arrays with lengths before them, zigzag varints inside record batches.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "common/varint.h"

namespace sluice::connectors::kafka::fetch {

/// Reads from bytes that may be anything. After a read that the bytes do not hold, ok() is false
/// and every read gives zero or nothing: one check at the end is enough.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes)
      : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool ok() const { return ok_; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  void Fail() {
    ok_ = false;
    at_ = end_;
  }

  int8_t I8() { return Number<int8_t>(); }
  int16_t I16() { return Number<int16_t>(); }
  int32_t I32() { return Number<int32_t>(); }
  uint32_t U32() { return Number<uint32_t>(); }
  int64_t I64() { return Number<int64_t>(); }

  /// A zigzag number of 64 bits.
  int64_t Varint() {
    uint64_t value = 0;
    if (ReadVarint(&at_, end_, &value) != VarintRead::kWhole) Fail();
    return FromZigzag(value);
  }

  /// `size` bytes; data() is never null unless the reader failed.
  std::string_view Bytes(int64_t size) {
    if (size < 0 || static_cast<uint64_t>(size) > left()) {
      Fail();
      return {};
    }
    const std::string_view bytes(at_, static_cast<size_t>(size));
    at_ += size;
    return bytes;
  }
  /// Length -1 is null: data() is null.
  std::string_view Nullable(int64_t size) { return size == -1 ? std::string_view() : Bytes(size); }
  std::string_view Text() { return Nullable(I16()); }
  std::string_view LongBytes() { return Nullable(I32()); }

  /// The count of an array, 0 for null. Each element takes at least `least_bytes`: a count that
  /// cannot be is a failure, so that nobody makes room for it.
  int32_t Count(size_t least_bytes) {
    const int32_t count = I32();
    if (count <= 0) return 0;
    if (static_cast<size_t>(count) > left() / least_bytes) {
      Fail();
      return 0;
    }
    return count;
  }

 private:
  template <typename T>
  T Number() {
    if (left() < sizeof(T)) {
      Fail();
      return 0;
    }
    std::make_unsigned_t<T> value = 0;
    for (size_t i = 0; i < sizeof(T); ++i) {
      value = static_cast<std::make_unsigned_t<T>>(static_cast<uint64_t>(value) << 8 |
                                                   static_cast<uint8_t>(at_[i]));
    }
    at_ += sizeof(T);
    return static_cast<T>(value);
  }

  const char* at_;
  const char* end_;
  bool ok_ = true;
};

class WireWriter {
 public:
  void I8(int8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void I16(int16_t value) { Number(static_cast<uint16_t>(value)); }
  void I32(int32_t value) { Number(static_cast<uint32_t>(value)); }
  void I64(int64_t value) { Number(static_cast<uint64_t>(value)); }
  void Varint(int64_t value) { AppendVarint(Zigzag(value), &bytes_); }
  void Raw(std::string_view bytes) { bytes_.append(bytes); }
  void Text(std::string_view text) {
    I16(static_cast<int16_t>(text.size()));
    Raw(text);
  }
  void LongBytes(std::string_view bytes) {
    I32(static_cast<int32_t>(bytes.size()));
    Raw(bytes);
  }

  const std::string& bytes() const { return bytes_; }
  std::string Take() && { return std::move(bytes_); }

 private:
  template <typename T>
  void Number(T value) {
    for (int shift = static_cast<int>(sizeof(T)) * 8 - 8; shift >= 0; shift -= 8)
      bytes_.push_back(static_cast<char>(value >> shift));
  }

  std::string bytes_;
};

}  // namespace sluice::connectors::kafka::fetch
