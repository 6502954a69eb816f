// Generators of datagen's columns: each makes an Arrow array for a range of rows.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <arrow/array/array_base.h>
#include <arrow/memory_pool.h>
#include <arrow/util/decimal.h>

#include "common/result.h"
#include "connectors/datagen/row_range.h"
#include "types/sql_type.h"

namespace sluice::connectors {

/// What values may depend on besides the row.
struct GenerateContext {
  uint64_t seed = 0;
  int64_t now_ms = 0;        // Epoch ms.
  int64_t local_now_ms = 0;  // The same instant on the wall clock of the session's zone.
  arrow::MemoryPool* pool = arrow::default_memory_pool();
};

/// Thread-safe: no state besides what it was made with.
class ColumnGenerator {
 public:
  virtual ~ColumnGenerator() = default;
  /// An array of range.count() values of the type that the generator was made for.
  virtual Result<std::shared_ptr<arrow::Array>> Generate(const RowRange& range,
                                                         const GenerateContext& context) const = 0;
  /// Rows after which a sequence is used up; nullopt: never.
  virtual std::optional<int64_t> row_limit() const { return std::nullopt; }
  /// False when no two values will ever be equal.
  virtual bool repeats() const { return true; }
};

using ColumnGeneratorPtr = std::shared_ptr<const ColumnGenerator>;

/// What every random generator has: `path` ("fields.a.element") names its random numbers,
/// `null_rate` is within [0, 1].
struct RandomSettings {
  std::string path;
  double null_rate = 0;
};

// ---- Random values ----

ColumnGeneratorPtr RandomBoolean(RandomSettings settings);
/// TINYINT … BIGINT, INTERVAL: uniform in [min, max].
ColumnGeneratorPtr RandomInteger(RandomSettings settings, SqlType type, int64_t min, int64_t max);
/// FLOAT, DOUBLE: uniform in (min, max).
ColumnGeneratorPtr RandomDouble(RandomSettings settings, SqlType type, double min, double max);
/// Unscaled values uniform in [min, max].
ColumnGeneratorPtr RandomDecimal(RandomSettings settings, SqlType type, arrow::Decimal128 min,
                                 arrow::Decimal128 max);
/// Lower-case hexadecimal digits for text, bytes for binary; `length` of them, or 1 to `length`
/// when it varies.
ColumnGeneratorPtr RandomText(RandomSettings settings, SqlType type, int32_t length, bool varies);
/// DATE and TIME: now in the session's zone.
ColumnGeneratorPtr CurrentDateOrTime(SqlType type);
/// Now minus up to `max_past_ms`.
ColumnGeneratorPtr RandomTimestamp(RandomSettings settings, SqlType type, int64_t max_past_ms);
/// ARRAY of `length` elements.
ColumnGeneratorPtr RandomArray(RandomSettings settings, SqlType type, int32_t length,
                               ColumnGeneratorPtr element);
/// MAP and MULTISET of at most `length` entries: equal keys fall together.
ColumnGeneratorPtr RandomMap(RandomSettings settings, SqlType type, int32_t length,
                             ColumnGeneratorPtr key, ColumnGeneratorPtr value);
ColumnGeneratorPtr RandomRow(RandomSettings settings, SqlType type,
                             std::vector<ColumnGeneratorPtr> fields);

// ---- Sequences ----

/// start, start + 1, …, end by row number: numbers as such, text in decimal, bytes as 8 bytes
/// big-endian.
ColumnGeneratorPtr Sequence(SqlType type, int64_t start, int64_t end);

}  // namespace sluice::connectors
