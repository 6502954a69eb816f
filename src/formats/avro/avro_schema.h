// Avro schemas as they stand in files: parsed from JSON, names resolved (Avro 1.12 specification,
// "Schema Declaration" and "Names").
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace sluice::formats::avro {

enum class Kind : uint8_t {
  kNull,
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kBytes,
  kString,
  kRecord,
  kEnum,
  kArray,
  kMap,
  kUnion,
  kFixed,
};

/// Logical types that mean something to us; others, and those whose underlying type is wrong, are
/// kNone, as the specification wants it.
enum class Logical : uint8_t {
  kNone,
  kDecimal,
  kUuid,
  kDate,
  kTimeMillis,
  kTimeMicros,
  kTimestampMillis,
  kTimestampMicros,
  kTimestampNanos,
  kLocalTimestampMillis,
  kLocalTimestampMicros,
  kLocalTimestampNanos,
  kDuration,
};

struct Type;

struct Field {
  std::string name;
  std::vector<std::string> aliases;
  const Type* type = nullptr;
};

/// A type of a schema. Named types may contain themselves; pointers stay valid as long as the
/// AvroSchema.
struct Type {
  Kind kind = Kind::kNull;
  Logical logical = Logical::kNone;
  int precision = 0;                  // kDecimal.
  int scale = 0;                      // kDecimal.
  int64_t size = 0;                   // kFixed.
  std::string name;                   // Full name of a record, enum or fixed.
  std::vector<Field> fields;          // kRecord.
  std::vector<std::string> symbols;   // kEnum.
  std::vector<const Type*> branches;  // kUnion.
  const Type* element = nullptr;      // Items of kArray, values of kMap.
  /// Least bytes that a value takes, capped: what bounds a count before room is made for it. 0:
  /// every value takes no byte at all (null, a record of nulls).
  int64_t min_bytes = 0;
};

class AvroSchema {
 public:
  /// Fails with kDataError saying what is wrong and at which type. Defaults of fields are not
  /// looked at: a table's column has none but NULL.
  static Result<AvroSchema> Parse(std::string_view json);

  const Type& root() const { return *root_; }

 private:
  std::vector<std::unique_ptr<Type>> types_;
  const Type* root_ = nullptr;
};

/// "long (timestamp-millis)", "record a.b", "union of null, string": bounded, for messages.
std::string TypeText(const Type& type);
std::string_view LogicalName(Logical logical);

}  // namespace sluice::formats::avro
