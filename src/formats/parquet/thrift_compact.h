// Thrift's compact protocol as a tree that can be changed and written again: what a Parquet footer
// is made of. Fields that this program does not know survive unchanged.
//
// Why not the library's classes: they can neither move offsets nor number row groups anew.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"

namespace sluice::formats::parquet_format {

enum class ThriftType : uint8_t {
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kI16 = 4,
  kI32 = 5,
  kI64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
};

struct ThriftNode {
  ThriftType type = ThriftType::kStruct;
  int64_t number = 0;  // Integers; the raw byte of kByte and of booleans in lists.
  std::string bytes;   // kBinary; the eight bytes of kDouble.
  ThriftType item_type = ThriftType::kStruct;          // kList, kSet; of the keys of kMap.
  ThriftType value_type = ThriftType::kStruct;         // kMap.
  std::vector<ThriftNode> items;                       // kMap: key, value, key, value, …
  std::vector<std::pair<int16_t, ThriftNode>> fields;  // kStruct, as they came.

  /// Null when the struct has no such field.
  ThriftNode* Field(int16_t id);
  const ThriftNode* Field(int16_t id) const;
  int64_t NumberOr(int16_t id, int64_t otherwise) const;
  /// Changes an integer field, or adds one of `type` in its place: pointers that Field gave end.
  void SetNumber(int16_t id, int64_t value, ThriftType type = ThriftType::kI64);
  void Remove(int16_t id);
};

/// Parses one struct at the start of `bytes`; `consumed` gets its length. kDataError on anything
/// that is none: depth and sizes are bounded by the bytes that are there.
Result<ThriftNode> ParseThriftStruct(std::string_view bytes, size_t* consumed);

std::string SerializeThriftStruct(const ThriftNode& node);

}  // namespace sluice::formats::parquet_format
