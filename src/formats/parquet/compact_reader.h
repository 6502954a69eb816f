// Reads Thrift's compact protocol field by field without keeping it: for structures that are read
// often and known (headers of pages). Trees: thrift_compact.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/varint.h"
#include "formats/parquet/thrift_compact.h"

namespace sluice::formats::parquet_format {

/// Whatever comes, no more than the bytes are read: ok() is false when they end early or are no
/// Thrift. Not thread-safe.
class CompactReader {
 public:
  explicit CompactReader(std::string_view bytes) : bytes_(bytes) {}

  struct Field {
    int16_t id = 0;
    ThriftType type = ThriftType::kStruct;
    bool truth() const { return type == ThriftType::kTrue; }
  };

  bool ok() const { return ok_; }
  /// True when ok() is false because the bytes end.
  bool ended_early() const { return ended_early_; }
  size_t consumed() const { return at_; }

  /// Before the fields of a struct.
  void BeginStruct() {
    if (depth_ >= kDepthLimit) return Fail();
    last_ids_[depth_++] = 0;
  }
  /// The next field, whose value must be taken or skipped; false at the end of the struct, which is
  /// left.
  bool Next(Field* field) {
    const uint8_t header = Byte();
    if (!ok_ || header == 0) {
      --depth_;
      return false;
    }
    const int delta = header >> 4;
    int16_t& last = last_ids_[depth_ - 1];
    last = static_cast<int16_t>(delta == 0 ? Number() : last + delta);
    *field = {last, static_cast<ThriftType>(header & 0x0F)};
    return true;
  }
  /// The value of a kI16, kI32 or kI64.
  int64_t Number() { return FromZigzag(Varint()); }
  /// The value of a field of that type.
  void Skip(ThriftType type) { SkipValue(type, false); }

 private:
  static constexpr int kDepthLimit = 16;

  void Fail() { ok_ = false; }

  uint8_t Byte() {
    if (!ok_) return 0;
    if (at_ == bytes_.size()) {
      ended_early_ = true;
      Fail();
      return 0;
    }
    return static_cast<uint8_t>(bytes_[at_++]);
  }

  uint64_t Varint() {
    if (!ok_) return 0;
    uint64_t value = 0;
    const char* const begin = bytes_.data();
    const char* at = begin + at_;
    const VarintRead read = ReadVarint(&at, begin + bytes_.size(), &value);
    at_ = static_cast<size_t>(at - begin);
    if (read != VarintRead::kWhole) Fail();
    ended_early_ = read == VarintRead::kCut;
    return value;
  }

  void SkipBytes(uint64_t count) {
    if (!ok_) return;
    if (count > bytes_.size() - at_) {
      ended_early_ = true;
      return Fail();
    }
    at_ += count;
  }

  void SkipList() {
    const uint8_t header = Byte();
    const uint64_t count = header >> 4 == 15 ? Varint() : header >> 4;
    const auto type = static_cast<ThriftType>(header & 0x0F);
    // An item takes a byte at least: what claims to have more of them ends early.
    for (uint64_t i = 0; ok_ && i < count; ++i) SkipValue(type, true);
  }

  void SkipMap() {
    const uint64_t count = Varint();
    if (!ok_ || count == 0) return;
    const uint8_t types = Byte();
    for (uint64_t i = 0; ok_ && i < count; ++i) {
      SkipValue(static_cast<ThriftType>(types >> 4), true);
      SkipValue(static_cast<ThriftType>(types & 0x0F), true);
    }
  }

  void SkipStruct() {
    BeginStruct();
    for (Field field; ok_ && Next(&field);) SkipValue(field.type, false);
  }

  void SkipValue(ThriftType type, bool in_list) {
    switch (type) {
      case ThriftType::kTrue:
      case ThriftType::kFalse:
        if (in_list) Byte();
        return;
      case ThriftType::kByte:
        Byte();
        return;
      case ThriftType::kI16:
      case ThriftType::kI32:
      case ThriftType::kI64:
        Varint();
        return;
      case ThriftType::kDouble:
        return SkipBytes(8);
      case ThriftType::kBinary:
        return SkipBytes(Varint());
      case ThriftType::kList:
      case ThriftType::kSet:
        return SkipNested(&CompactReader::SkipList);
      case ThriftType::kMap:
        return SkipNested(&CompactReader::SkipMap);
      case ThriftType::kStruct:
        return SkipStruct();
    }
    Fail();
  }

  /// Lists within lists are bounded as structs are.
  void SkipNested(void (CompactReader::*skip)()) {
    BeginStruct();
    if (!ok_) return;
    (this->*skip)();
    --depth_;
  }

  const std::string_view bytes_;
  size_t at_ = 0;
  int16_t last_ids_[kDepthLimit] = {};
  int depth_ = 0;
  bool ok_ = true;
  bool ended_early_ = false;
};

}  // namespace sluice::formats::parquet_format
