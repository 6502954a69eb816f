// SQL types: what a column is, with nullability, length and precision, and its Arrow form
// (design.md §3).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/type_fwd.h>

#include "common/result.h"

namespace sluice {

enum class TypeKind : uint8_t {
  kNull,  // Type of an untyped NULL literal; never a column's.
  kBoolean,
  kTinyint,
  kSmallint,
  kInt,
  kBigint,
  kFloat,
  kDouble,
  kDecimal,
  kChar,
  kVarchar,  // STRING is VARCHAR(kMaxLength).
  kBinary,
  kVarbinary,  // BYTES is VARBINARY(kMaxLength).
  kDate,
  kTime,
  kTimestamp,
  kTimestampLtz,
  kIntervalYearMonth,  // Months.
  kIntervalDayTime,    // Milliseconds.
  kArray,
  kMap,
  kMultiset,
  kRow,
};

class SqlType;

/// A named field of a ROW.
struct RowField;

/// An immutable SQL type. Cheap to copy.
///
/// Arrow form: integers, floats, booleans as their namesakes; DECIMAL decimal128(p,s); CHAR/VARCHAR
/// utf8; BINARY/VARBINARY binary; DATE date32; TIME time32[ms]; TIMESTAMP(p) timestamp[ms] for p <=
/// 3, [us] for p <= 6, [ns] above; TIMESTAMP_LTZ the same with zone "UTC"; ARRAY list; MAP map;
/// MULTISET map<…, int32>; ROW struct; INTERVAL YEAR month_interval, INTERVAL DAY duration[ms];
/// NULL null.
class SqlType {
 public:
  static constexpr int32_t kMaxLength = 2147483647;

  SqlType() = default;  // NULL type.
  static SqlType Null() { return {}; }
  static SqlType Boolean() { return Of(TypeKind::kBoolean); }
  static SqlType Tinyint() { return Of(TypeKind::kTinyint); }
  static SqlType Smallint() { return Of(TypeKind::kSmallint); }
  static SqlType Int() { return Of(TypeKind::kInt); }
  static SqlType Bigint() { return Of(TypeKind::kBigint); }
  static SqlType Float() { return Of(TypeKind::kFloat); }
  static SqlType Double() { return Of(TypeKind::kDouble); }
  static SqlType Decimal(int precision, int scale) {
    return Of(TypeKind::kDecimal, precision, scale);
  }
  static SqlType Char(int32_t length) { return Of(TypeKind::kChar, length); }
  static SqlType Varchar(int32_t length) { return Of(TypeKind::kVarchar, length); }
  static SqlType String() { return Varchar(kMaxLength); }
  static SqlType Binary(int32_t length) { return Of(TypeKind::kBinary, length); }
  static SqlType Varbinary(int32_t length) { return Of(TypeKind::kVarbinary, length); }
  static SqlType Bytes() { return Varbinary(kMaxLength); }
  static SqlType Date() { return Of(TypeKind::kDate); }
  static SqlType Time(int precision = 0) { return Of(TypeKind::kTime, precision); }
  static SqlType Timestamp(int precision = 6) { return Of(TypeKind::kTimestamp, precision); }
  static SqlType TimestampLtz(int precision = 6) { return Of(TypeKind::kTimestampLtz, precision); }
  static SqlType IntervalYearMonth() { return Of(TypeKind::kIntervalYearMonth); }
  static SqlType IntervalDayTime() { return Of(TypeKind::kIntervalDayTime); }
  static SqlType Array(SqlType element);
  static SqlType Map(SqlType key, SqlType value);
  static SqlType Multiset(SqlType element);
  static SqlType Row(std::vector<RowField> fields);

  TypeKind kind() const { return kind_; }
  bool nullable() const { return nullable_; }
  /// The same type with another nullability (default: every type is nullable).
  SqlType WithNullable(bool nullable) const;
  SqlType NotNull() const { return WithNullable(false); }

  /// CHAR, VARCHAR, BINARY, VARBINARY: length in code points or bytes.
  int32_t length() const { return first_; }
  /// DECIMAL: all digits; TIME, TIMESTAMP, TIMESTAMP_LTZ: digits of the fraction.
  int precision() const { return first_; }
  int scale() const { return second_; }

  /// ARRAY, MULTISET: the element; MAP: the key. MAP: the value.
  const SqlType& element() const;
  const SqlType& key() const { return element(); }
  const SqlType& value() const;
  const std::vector<RowField>& fields() const;

  bool is_integer() const { return kind_ >= TypeKind::kTinyint && kind_ <= TypeKind::kBigint; }
  bool is_approximate() const { return kind_ == TypeKind::kFloat || kind_ == TypeKind::kDouble; }
  bool is_numeric() const { return kind_ >= TypeKind::kTinyint && kind_ <= TypeKind::kDecimal; }
  bool is_character() const { return kind_ == TypeKind::kChar || kind_ == TypeKind::kVarchar; }
  bool is_binary() const { return kind_ == TypeKind::kBinary || kind_ == TypeKind::kVarbinary; }
  bool is_timestamp() const {
    return kind_ == TypeKind::kTimestamp || kind_ == TypeKind::kTimestampLtz;
  }
  bool is_datetime() const { return kind_ >= TypeKind::kDate && kind_ <= TypeKind::kTimestampLtz; }
  bool is_interval() const {
    return kind_ == TypeKind::kIntervalYearMonth || kind_ == TypeKind::kIntervalDayTime;
  }
  bool is_nested() const { return kind_ >= TypeKind::kArray; }

  /// The Arrow type that holds values of this type.
  std::shared_ptr<arrow::DataType> ToArrow() const;

  /// As DESCRIBE and error messages print it: "STRING", "DECIMAL(10, 2)", "ROW<`a` INT, …>", " NOT
  /// NULL" when not nullable.
  std::string ToString() const;
  /// As SHOW CREATE TABLE prints it: "VARCHAR(2147483647)", "TIMESTAMP(6) WITH LOCAL TIME ZONE", …
  std::string ToFullString() const;

  /// Equal in everything, nullability included, at every level.
  friend bool operator==(const SqlType& a, const SqlType& b);
  /// Equal apart from nullability of the outermost level.
  bool SameKindAs(const SqlType& other) const {
    return WithNullable(true) == other.WithNullable(true);
  }

 private:
  static SqlType Of(TypeKind kind, int32_t first = 0, int32_t second = 0);

  TypeKind kind_ = TypeKind::kNull;
  bool nullable_ = true;
  int32_t first_ = 0;
  int32_t second_ = 0;
  struct Children;
  std::shared_ptr<const Children> children_;
};

struct RowField {
  std::string name;
  SqlType type;
  std::string comment = {};
  friend bool operator==(const RowField&, const RowField&) = default;
};

}  // namespace sluice
