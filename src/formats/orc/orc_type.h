// The type tree of an ORC file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice::formats::orc_format {

enum class OrcKind : uint8_t {
  kBoolean = 0,
  kByte,
  kShort,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kString,
  kBinary,
  kTimestamp,  // A wall time.
  kList,
  kMap,
  kStruct,
  kUnion,
  kDecimal,
  kDate,
  kVarchar,
  kChar,
  kTimestampInstant,  // "timestamp with local time zone".
};

/// One node of the file's type tree; its index in Footer::types is its column id.
struct OrcType {
  OrcKind kind = OrcKind::kStruct;
  std::vector<uint64_t> children;
  std::vector<std::string> field_names;  // kStruct.
  uint64_t length = 0;                   // kChar, kVarchar.
  uint64_t precision = 0;                // kDecimal.
  uint64_t scale = 0;
};

/// Children that a type of this kind must have; for a struct as many as it has names.
size_t ChildCount(const OrcType& type);

/// "decimal(10,2)", "struct<a:int>": as Hive prints types, for messages.
std::string TypeText(const std::vector<OrcType>& types, size_t column);

}  // namespace sluice::formats::orc_format
