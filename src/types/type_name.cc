// Names of types in the words of Flink's validator.
#include "types/coercion.h"

namespace sluice {

namespace {

std::string WithLength(const char* name, int32_t length) {
  return std::string(name) + "(" + std::to_string(length) + ")";
}

std::string NestedName(const SqlType& type) {
  switch (type.kind()) {
    case TypeKind::kArray:
      return ValidatorTypeName(type.element()) + " ARRAY";
    case TypeKind::kMultiset:
      return ValidatorTypeName(type.element()) + " MULTISET";
    case TypeKind::kMap:
      return "(" + ValidatorTypeName(type.key()) + ", " + ValidatorTypeName(type.value()) + ") MAP";
    default: {
      std::string text = "RecordType(";
      for (const RowField& field : type.fields()) {
        if (text.back() != '(') text += ", ";
        text += ValidatorTypeName(field.type) + " " + field.name;
      }
      return text + ")";
    }
  }
}

}  // namespace

std::string ValidatorTypeName(const SqlType& type) {
  switch (type.kind()) {
    case TypeKind::kInt:
      return "INTEGER";
    case TypeKind::kVarchar:
      return WithLength("VARCHAR", type.length());
    case TypeKind::kVarbinary:
      return WithLength("VARBINARY", type.length());
    case TypeKind::kTimestampLtz:
      return WithLength("TIMESTAMP_WITH_LOCAL_TIME_ZONE", type.precision());
    case TypeKind::kIntervalYearMonth:
      return "INTERVAL YEAR TO MONTH";
    case TypeKind::kIntervalDayTime:
      return "INTERVAL DAY TO SECOND";
    case TypeKind::kArray:
    case TypeKind::kMap:
    case TypeKind::kMultiset:
    case TypeKind::kRow:
      return NestedName(type);
    default:
      return type.WithNullable(true).ToString();
  }
}

std::string_view ValidatorTypeFamily(const SqlType& type) {
  switch (type.kind()) {
    case TypeKind::kNull:
      return "NULL";
    case TypeKind::kBoolean:
      return "BOOLEAN";
    case TypeKind::kTinyint:
    case TypeKind::kSmallint:
    case TypeKind::kInt:
    case TypeKind::kBigint:
    case TypeKind::kDecimal:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      return "NUMERIC";
    case TypeKind::kChar:
    case TypeKind::kVarchar:
      return "CHARACTER";
    case TypeKind::kBinary:
    case TypeKind::kVarbinary:
      return "BINARY";
    case TypeKind::kDate:
      return "DATE";
    case TypeKind::kTime:
      return "TIME";
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz:
      return "TIMESTAMP";
    case TypeKind::kIntervalYearMonth:
      return "INTERVAL_YEAR_MONTH";
    case TypeKind::kIntervalDayTime:
      return "INTERVAL_DAY_TIME";
    case TypeKind::kArray:
      return "ARRAY";
    case TypeKind::kMap:
      return "MAP";
    case TypeKind::kMultiset:
      return "MULTISET";
    case TypeKind::kRow:
      return "ROW";
  }
  return "ANY";
}

}  // namespace sluice
