// How values of a writer's schema become the columns of a table: resolved once for a file or a
// topic, then run for each record (Avro specification, "Schema Resolution").
//
// Fields match columns by name, else by an alias that the writer's field carries. What the record
// is called, where null stands in a union and in which order fields come does not matter.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/result.h"
#include "formats/avro/avro_schema.h"
#include "formats/format.h"

namespace sluice::formats::avro {

/// One value of the writer and what is done with it.
struct ReadStep {
  enum class Op : uint8_t {
    kSkip,      // Not wanted.
    kNull,      // No bytes; the column becomes NULL.
    kMismatch,  // A value that cannot become one of the column; met only in unions.
    kBoolean,
    kTinyint,  // From int, range-checked.
    kSmallint,
    kInt,
    kLong,  // From int or long.
    kIntToFloat,
    kLongToDouble,
    kFloat,
    kFloatToDouble,
    kDouble,
    kText,   // From string or bytes: checked to be UTF-8.
    kBytes,  // From string or bytes.
    kFixedBytes,
    kEnumText,
    kUuidText,      // From fixed(16).
    kDecimal,       // From bytes.
    kFixedDecimal,  // From fixed.
    kTime,
    kTimestamp,  // Another unit or fewer digits than the column's Arrow form.
    kArray,
    kMap,
    kRecord,
    kUnion,
  };
  static constexpr int kNoNull = -2;

  Op op = Op::kMismatch;
  /// Not kNoNull: the value stands in a union of null and another branch; the byte of the null
  /// branch (0 or 2), the other one is 2 minus that.
  int8_t null_byte = kNoNull;
  bool nullable = true;  // The column takes NULL.
  int target = -1;       // Child of the parent's builder, or output column. -1: skipped.
  /// kMap with int32 counts (MULTISET) reads its values through `children` like any other.
  int64_t size = 0;        // kFixed…: bytes.
  int scale = 0;           // Decimals: of the writer.
  int64_t multiplier = 1;  // Times: to the unit of the Arrow form, after dividing.
  int64_t divisor = 1;
  int64_t cut = 1;  // Times: to a multiple of this, for the column's precision.
  const Type* writer = nullptr;
  std::string name;                // Field of a record, for messages.
  std::vector<ReadStep> children;  // Fields in the writer's order, branches, element, map value.
  std::vector<int> missing;        // kRecord: children of the column that the writer lacks.
  std::string mismatch;            // kMismatch: why.
};

struct ReadPlan {
  ReadStep record;                   // kRecord, or kUnion of records; targets are output columns.
  std::vector<int> missing_columns;  // Output columns that no record has.
  /// Least bytes of a record; what bounds the row count of a block.
  int64_t min_record_bytes = 0;
};

/// `writer` must outlive the plan. Fails with kDataError naming column, type in the file and type
/// of the column when no value could ever be read, or a NOT NULL column is missing.
Result<ReadPlan> MakeReadPlan(const Type& writer, const ReadSchema& schema);

}  // namespace sluice::formats::avro
