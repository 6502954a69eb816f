// Writes Thrift's compact protocol straight into a text: for structures that are written often and
// never changed (headers of pages, the row group of a small file). Trees: thrift_compact.h.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/varint.h"
#include "formats/parquet/thrift_compact.h"

namespace sluice::formats::parquet_format {

/// Fields of a struct come in ascending order of their ids, at most 15 apart. Not thread-safe.
class CompactWriter {
 public:
  explicit CompactWriter(std::string* out) : out_(*out) {}

  void I16(int16_t id, int16_t value) { Number(id, ThriftType::kI16, value); }
  void I32(int16_t id, int32_t value) { Number(id, ThriftType::kI32, value); }
  void I64(int16_t id, int64_t value) { Number(id, ThriftType::kI64, value); }
  void Binary(int16_t id, std::string_view value) {
    Header(id, ThriftType::kBinary);
    Bytes(value);
  }
  /// What stands behind is the fields of the struct, then End.
  void BeginStruct(int16_t id) {
    Header(id, ThriftType::kStruct);
    BeginItem();
  }
  /// `count` items stand behind: for structs BeginItem, fields, End for each.
  void BeginList(int16_t id, ThriftType item, size_t count) {
    Header(id, ThriftType::kList);
    const auto type = static_cast<uint8_t>(item);
    if (count < 15) {
      Byte(static_cast<uint8_t>(count << 4 | type));
    } else {
      Byte(static_cast<uint8_t>(0xF0 | type));
      AppendVarint(count, &out_);
    }
  }
  /// A struct in a list, or the outermost one.
  void BeginItem() { last_ids_[depth_++] = 0; }
  void End() {
    Byte(0);
    --depth_;
  }
  /// Items of a list.
  void Bytes(std::string_view value) {
    AppendVarint(value.size(), &out_);
    out_.append(value);
  }
  void NumberItem(int64_t value) { AppendVarint(Zigzag(value), &out_); }
  /// Fields that somebody has written, up to `last_id`.
  void Raw(std::string_view fields, int16_t last_id) {
    out_.append(fields);
    last_ids_[depth_ - 1] = last_id;
  }

 private:
  void Byte(uint8_t byte) { out_.push_back(static_cast<char>(byte)); }
  void Header(int16_t id, ThriftType type) {
    int16_t& last = last_ids_[depth_ - 1];
    Byte(static_cast<uint8_t>((id - last) << 4 | static_cast<uint8_t>(type)));
    last = id;
  }
  void Number(int16_t id, ThriftType type, int64_t value) {
    Header(id, type);
    AppendVarint(Zigzag(value), &out_);
  }

  std::string& out_;
  int16_t last_ids_[8] = {};
  int depth_ = 0;
};

}  // namespace sluice::formats::parquet_format
