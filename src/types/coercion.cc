#include "types/coercion.h"

#include <algorithm>
#include <array>

namespace sluice {

namespace {

constexpr int kMaxDecimalPrecision = 38;

CastKind Weaker(CastKind a, CastKind b) { return std::min(a, b); }

CastKind FromInteger(const SqlType& from, const SqlType& to) {
  if (to.is_integer()) {
    return to.kind() >= from.kind() ? CastKind::kImplicit : CastKind::kExplicit;
  }
  if (to.is_numeric()) return CastKind::kImplicit;
  if (to.is_timestamp()) return CastKind::kAdvised;
  if (to.kind() == TypeKind::kBoolean || to.is_character() || to.is_interval()) {
    return CastKind::kExplicit;
  }
  return CastKind::kNone;
}

CastKind FromFraction(const SqlType& from, const SqlType& to) {
  if (to.is_integer()) return CastKind::kExplicit;
  if (to.kind() == TypeKind::kFloat) {
    return from.kind() == TypeKind::kDouble ? CastKind::kExplicit : CastKind::kImplicit;
  }
  if (to.is_numeric()) return CastKind::kImplicit;
  if (to.is_timestamp()) return CastKind::kAdvised;
  if (to.kind() == TypeKind::kBoolean || to.is_character()) return CastKind::kExplicit;
  if (to.is_interval() && from.kind() == TypeKind::kDecimal) return CastKind::kExplicit;
  return CastKind::kNone;
}

CastKind FromCharacter(const SqlType& from, const SqlType& to) {
  if (to.kind() == TypeKind::kVarchar) return CastKind::kImplicit;
  if (to.kind() == TypeKind::kChar) {
    return from.kind() == TypeKind::kChar ? CastKind::kImplicit : CastKind::kExplicit;
  }
  if (to.is_interval() || to.is_nested()) return CastKind::kNone;
  return CastKind::kExplicit;
}

CastKind FromBinary(const SqlType& from, const SqlType& to) {
  if (to.is_character()) return CastKind::kExplicit;
  if (to.kind() == TypeKind::kVarbinary) return CastKind::kImplicit;
  if (to.kind() == TypeKind::kBinary) {
    return from.kind() == TypeKind::kBinary ? CastKind::kImplicit : CastKind::kExplicit;
  }
  return CastKind::kNone;
}

CastKind FromDatetime(const SqlType& from, const SqlType& to) {
  if (to.is_character()) return CastKind::kExplicit;
  if (from.kind() == to.kind()) return CastKind::kImplicit;
  switch (from.kind()) {
    case TypeKind::kDate:
    case TypeKind::kTime:
      return to.is_timestamp() ? CastKind::kExplicit : CastKind::kNone;
    case TypeKind::kTimestamp:
      if (to.is_numeric()) return CastKind::kAdvised;
      return to.is_datetime() ? CastKind::kImplicit : CastKind::kNone;
    case TypeKind::kTimestampLtz:
      if (to.is_numeric()) return CastKind::kAdvised;
      if (to.kind() == TypeKind::kTimestamp) return CastKind::kImplicit;
      return to.is_datetime() ? CastKind::kExplicit : CastKind::kNone;
    default:
      return CastKind::kNone;
  }
}

CastKind ElementCast(const SqlType& from, const SqlType& to) {
  const CastKind kind = CanCast(from, to);
  return kind == CastKind::kAdvised ? CastKind::kNone : kind;
}

CastKind FromNested(const SqlType& from, const SqlType& to) {
  if (to.is_character()) return CastKind::kExplicit;
  if (from.kind() != to.kind()) return CastKind::kNone;
  switch (from.kind()) {
    case TypeKind::kArray:
    case TypeKind::kMultiset:
      return ElementCast(from.element(), to.element());
    case TypeKind::kMap:
      return Weaker(ElementCast(from.key(), to.key()), ElementCast(from.value(), to.value()));
    default: {
      if (from.fields().size() != to.fields().size()) return CastKind::kNone;
      CastKind kind = CastKind::kImplicit;
      for (size_t i = 0; i < from.fields().size(); ++i) {
        kind = Weaker(kind, ElementCast(from.fields()[i].type, to.fields()[i].type));
      }
      return kind;
    }
  }
}

}  // namespace

CastKind CanCast(const SqlType& from, const SqlType& to) {
  if (from.kind() == TypeKind::kNull) return CastKind::kImplicit;
  if (to.kind() == TypeKind::kNull) return CastKind::kNone;
  if (from.is_integer()) return FromInteger(from, to);
  if (from.is_numeric()) return FromFraction(from, to);
  if (from.is_character()) return FromCharacter(from, to);
  if (from.is_binary()) return FromBinary(from, to);
  if (from.is_datetime()) return FromDatetime(from, to);
  if (from.is_nested()) return FromNested(from, to);
  if (from.is_interval()) {
    if (to.is_character()) return CastKind::kExplicit;
    return from.kind() == to.kind() ? CastKind::kImplicit : CastKind::kNone;
  }
  // BOOLEAN.
  if (to.kind() == TypeKind::kBoolean) return CastKind::kImplicit;
  return to.is_numeric() || to.is_character() ? CastKind::kExplicit : CastKind::kNone;
}

std::string_view CastAdvice(const SqlType& from, const SqlType& to) {
  if (CanCast(from, to) != CastKind::kAdvised) return "";
  if (from.is_timestamp()) {
    return from.kind() == TypeKind::kTimestamp
               ? "The cast from TIMESTAMP type to NUMERIC type is not allowed. It's recommended to "
                 "use UNIX_TIMESTAMP(CAST(timestamp_col AS STRING)) instead."
               : "The cast from TIMESTAMP_LTZ type to NUMERIC type is not allowed. It's "
                 "recommended to use UNIX_TIMESTAMP(CAST(timestamp_col AS STRING)) instead.";
  }
  return to.kind() == TypeKind::kTimestamp
             ? "The cast from NUMERIC type to TIMESTAMP type is not allowed. It's recommended to "
               "use TO_TIMESTAMP(FROM_UNIXTIME(numeric_col)) instead, note the numeric is in "
               "seconds."
             : "The cast from NUMERIC type to TIMESTAMP_LTZ type is not allowed. It's recommended "
               "to use TO_TIMESTAMP_LTZ(numeric_col, precision) instead.";
}

Status CheckExplicitCast(const SqlType& from, const SqlType& to) {
  switch (CanCast(from, to)) {
    case CastKind::kImplicit:
    case CastKind::kExplicit:
      return {};
    case CastKind::kAdvised:
      return Status::Validation(std::string(CastAdvice(from, to)));
    case CastKind::kNone:
      break;
  }
  return Status::Validation("Cast function cannot convert value of type " +
                            ValidatorTypeName(from) + " to type " + ValidatorTypeName(to) + ".");
}

namespace {

Status NoCommonType(const SqlType& a, const SqlType& b) {
  return Status::Validation("Types " + a.WithNullable(true).ToString() + " and " +
                            b.WithNullable(true).ToString() +
                            " have no common type. Cast one of them.");
}

SqlType CommonNumber(const SqlType& a, const SqlType& b) {
  if (a.is_integer() && b.is_integer()) return a.kind() >= b.kind() ? a : b;
  if (a.is_approximate() || b.is_approximate()) {
    const bool has_decimal = a.kind() == TypeKind::kDecimal || b.kind() == TypeKind::kDecimal;
    const bool has_double = a.kind() == TypeKind::kDouble || b.kind() == TypeKind::kDouble;
    return has_decimal || has_double ? SqlType::Double() : SqlType::Float();
  }
  const SqlType left = AsDecimal(a);
  const SqlType right = AsDecimal(b);
  const int scale = std::max(left.scale(), right.scale());
  const int integral = std::max(left.precision() - left.scale(), right.precision() - right.scale());
  return SqlType::Decimal(std::min(integral + scale, kMaxDecimalPrecision), scale);
}

SqlType CommonText(const SqlType& a, const SqlType& b) {
  const int32_t length = std::max(a.length(), b.length());
  if (a.is_character()) {
    const bool fixed =
        a.kind() == TypeKind::kChar && b.kind() == TypeKind::kChar && a.length() == b.length();
    return fixed ? SqlType::Char(length) : SqlType::Varchar(length);
  }
  const bool fixed =
      a.kind() == TypeKind::kBinary && b.kind() == TypeKind::kBinary && a.length() == b.length();
  return fixed ? SqlType::Binary(length) : SqlType::Varbinary(length);
}

Result<SqlType> Common(const SqlType& a, const SqlType& b);

Result<SqlType> CommonNested(const SqlType& a, const SqlType& b) {
  switch (a.kind()) {
    case TypeKind::kArray:
    case TypeKind::kMultiset: {
      SLUICE_ASSIGN_OR_RETURN(SqlType element, Common(a.element(), b.element()));
      return a.kind() == TypeKind::kArray ? SqlType::Array(element) : SqlType::Multiset(element);
    }
    case TypeKind::kMap: {
      SLUICE_ASSIGN_OR_RETURN(SqlType key, Common(a.key(), b.key()));
      SLUICE_ASSIGN_OR_RETURN(SqlType value, Common(a.value(), b.value()));
      return SqlType::Map(key, value);
    }
    default: {
      if (a.fields().size() != b.fields().size()) return NoCommonType(a, b);
      std::vector<RowField> fields = a.fields();
      for (size_t i = 0; i < fields.size(); ++i) {
        SLUICE_ASSIGN_OR_RETURN(fields[i].type, Common(fields[i].type, b.fields()[i].type));
      }
      return SqlType::Row(std::move(fields));
    }
  }
}

Result<SqlType> CommonIgnoringNulls(const SqlType& a, const SqlType& b) {
  if (a.kind() == TypeKind::kNull) return b;
  if (b.kind() == TypeKind::kNull) return a;
  if (a.SameKindAs(b)) return a;
  if (a.is_numeric() && b.is_numeric()) return CommonNumber(a, b);
  if ((a.is_character() && b.is_character()) || (a.is_binary() && b.is_binary())) {
    return CommonText(a, b);
  }
  if (a.is_timestamp() && b.is_timestamp()) {
    const int precision = std::max(a.precision(), b.precision());
    const bool local = a.kind() == TypeKind::kTimestampLtz || b.kind() == TypeKind::kTimestampLtz;
    return local ? SqlType::TimestampLtz(precision) : SqlType::Timestamp(precision);
  }
  if (a.kind() != b.kind()) return NoCommonType(a, b);
  if (a.kind() == TypeKind::kTime) return SqlType::Time(std::max(a.precision(), b.precision()));
  if (a.is_nested()) return CommonNested(a, b);
  return a;
}

Result<SqlType> Common(const SqlType& a, const SqlType& b) {
  SLUICE_ASSIGN_OR_RETURN(SqlType type, CommonIgnoringNulls(a, b));
  return type.WithNullable(a.nullable() || b.nullable());
}

}  // namespace

Result<SqlType> CommonType(std::span<const SqlType> types) {
  if (types.empty()) return SqlType::Null();
  SqlType common = types[0];
  for (const SqlType& type : types.subspan(1)) {
    SLUICE_ASSIGN_OR_RETURN(common, Common(common, type));
  }
  return common;
}

std::string_view ArithmeticOpText(ArithmeticOp op) {
  constexpr std::array<std::string_view, 5> kTexts = {"+", "-", "*", "/", "%"};
  return kTexts[static_cast<size_t>(op)];
}

SqlType AsDecimal(const SqlType& type) {
  switch (type.kind()) {
    case TypeKind::kTinyint:
      return SqlType::Decimal(3, 0).WithNullable(type.nullable());
    case TypeKind::kSmallint:
      return SqlType::Decimal(5, 0).WithNullable(type.nullable());
    case TypeKind::kInt:
      return SqlType::Decimal(10, 0).WithNullable(type.nullable());
    case TypeKind::kBigint:
      return SqlType::Decimal(19, 0).WithNullable(type.nullable());
    default:
      return type;
  }
}

SqlType AdjustedDecimal(int precision, int scale) {
  if (precision <= kMaxDecimalPrecision) return SqlType::Decimal(precision, scale);
  const int integral = precision - scale;
  const int kept = std::max(kMaxDecimalPrecision - integral, std::min(scale, 6));
  return SqlType::Decimal(kMaxDecimalPrecision, kept);
}

namespace {

SqlType DecimalResult(ArithmeticOp op, const SqlType& a, const SqlType& b) {
  const int p1 = a.precision();
  const int s1 = a.scale();
  const int p2 = b.precision();
  const int s2 = b.scale();
  switch (op) {
    case ArithmeticOp::kAdd:
    case ArithmeticOp::kSubtract: {
      const int scale = std::max(s1, s2);
      return AdjustedDecimal(std::max(p1 - s1, p2 - s2) + scale + 1, scale);
    }
    case ArithmeticOp::kMultiply:
      return AdjustedDecimal(p1 + p2 + 1, s1 + s2);
    case ArithmeticOp::kDivide: {
      const int scale = std::max(6, s1 + p2 + 1);
      return AdjustedDecimal(p1 - s1 + s2 + scale, scale);
    }
    case ArithmeticOp::kModulo: {
      const int scale = std::max(s1, s2);
      return AdjustedDecimal(std::max(1, std::min(p1 - s1, p2 - s2) + scale), scale);
    }
  }
  return a;
}

bool IsExact(const SqlType& type) { return type.is_integer() || type.kind() == TypeKind::kDecimal; }

/// The NULL type when the operands do not fit.
SqlType TemporalResult(ArithmeticOp op, const SqlType& a, const SqlType& b) {
  const bool additive = op == ArithmeticOp::kAdd || op == ArithmeticOp::kSubtract;
  if (additive) {
    if (a.is_datetime() && b.is_interval()) {
      const bool months_of_time =
          a.kind() == TypeKind::kTime && b.kind() == TypeKind::kIntervalYearMonth;
      return months_of_time ? SqlType::Null() : a;
    }
    if (op == ArithmeticOp::kAdd && a.is_interval() && b.is_datetime()) {
      return TemporalResult(op, b, a);
    }
    return a.is_interval() && a.kind() == b.kind() ? a : SqlType::Null();
  }
  if (op == ArithmeticOp::kMultiply && a.is_numeric() && b.is_interval()) return b;
  if (op != ArithmeticOp::kModulo && a.is_interval() && b.is_numeric()) return a;
  return SqlType::Null();
}

Status CannotApply(std::string_view op, const SqlType& left, const SqlType& right,
                   std::string_view forms) {
  std::string message = "Cannot apply '" + std::string(op) + "' to arguments of type '<" +
                        ValidatorTypeName(left) + "> " + std::string(op) + " <" +
                        ValidatorTypeName(right) + ">'.";
  if (!forms.empty()) message += " Supported form(s): " + std::string(forms);
  return Status::Validation(std::move(message));
}

std::string_view ArithmeticForms(ArithmeticOp op) {
  switch (op) {
    case ArithmeticOp::kAdd:
      return "'<NUMERIC> + <NUMERIC>' '<DATETIME_INTERVAL> + <DATETIME_INTERVAL>' "
             "'<DATETIME> + <DATETIME_INTERVAL>' '<DATETIME_INTERVAL> + <DATETIME>'";
    case ArithmeticOp::kSubtract:
      return "'<NUMERIC> - <NUMERIC>' '<DATETIME_INTERVAL> - <DATETIME_INTERVAL>' "
             "'<DATETIME> - <DATETIME_INTERVAL>'";
    case ArithmeticOp::kMultiply:
      return "'<NUMERIC> * <NUMERIC>' '<DATETIME_INTERVAL> * <NUMERIC>' "
             "'<NUMERIC> * <DATETIME_INTERVAL>'";
    case ArithmeticOp::kDivide:
      return "'<NUMERIC> / <NUMERIC>' '<DATETIME_INTERVAL> / <NUMERIC>'";
    case ArithmeticOp::kModulo:
      return "'<EXACT_NUMERIC> % <EXACT_NUMERIC>'";
  }
  return "";
}

}  // namespace

Result<SqlType> ArithmeticType(ArithmeticOp op, const SqlType& left, const SqlType& right) {
  const bool nullable = left.nullable() || right.nullable();
  // An untyped NULL takes the other operand's type.
  const SqlType& a = left.kind() == TypeKind::kNull ? right : left;
  const SqlType& b = right.kind() == TypeKind::kNull ? left : right;
  SqlType result;
  if (a.kind() == TypeKind::kNull) {
    return Status::Validation("Illegal use of 'NULL'");
  }
  if (a.is_numeric() && b.is_numeric()) {
    const bool exact = IsExact(a) && IsExact(b);
    if (op == ArithmeticOp::kModulo && !exact) {
      return CannotApply("%", left, right, ArithmeticForms(op));
    }
    const bool decimal =
        exact && (a.kind() == TypeKind::kDecimal || b.kind() == TypeKind::kDecimal);
    result = decimal ? DecimalResult(op, AsDecimal(a), AsDecimal(b)) : CommonNumber(a, b);
  } else {
    result = TemporalResult(op, a, b);
  }
  if (result.kind() == TypeKind::kNull) {
    return CannotApply(ArithmeticOpText(op), left, right, ArithmeticForms(op));
  }
  return result.WithNullable(nullable);
}

bool IsComparable(const SqlType& type, bool ordered) {
  if (type.kind() == TypeKind::kNull) return false;
  return !ordered || !type.is_nested();
}

Result<SqlType> ComparisonType(std::string_view op, const SqlType& left, const SqlType& right) {
  const SqlType& a = left.kind() == TypeKind::kNull ? right : left;
  const SqlType& b = right.kind() == TypeKind::kNull ? left : right;
  if (a.kind() == TypeKind::kNull) return Status::Validation("Illegal use of 'NULL'");
  const bool equality = op == "=" || op == "<>" || op.ends_with("DISTINCT FROM");
  if ((a.is_character() && b.is_datetime()) || (a.is_datetime() && b.is_character())) {
    return (a.is_datetime() ? a : b).WithNullable(left.nullable() || right.nullable());
  }
  const bool number_and_text =
      (a.is_numeric() && b.is_character()) || (a.is_character() && b.is_numeric());
  if (number_and_text || (a.kind() == TypeKind::kBoolean && b.is_character()) ||
      (a.is_character() && b.kind() == TypeKind::kBoolean)) {
    const auto name = [](const SqlType& type) {
      const std::string text = ValidatorTypeName(type);
      return text.substr(0, text.find('('));
    };
    return Status::Validation("implicit type conversion between " + name(a) + " and " + name(b) +
                              " is not supported now. Cast one side, for example CAST(x AS " +
                              (a.is_character() ? b : a).WithNullable(true).ToString() + ").");
  }
  const Result<SqlType> common = CommonIgnoringNulls(a, b);
  if (!common.ok() || !IsComparable(*common, !equality)) {
    const std::string form = "'<COMPARABLE_TYPE> " + std::string(op) + " <COMPARABLE_TYPE>'";
    return CannotApply(op, left, right, form);
  }
  return common->WithNullable(left.nullable() || right.nullable());
}

Result<SqlType> SumType(const SqlType& input) {
  if (!input.is_numeric()) {
    return Status::Validation("Cannot apply 'SUM' to arguments of type 'SUM(<" +
                              ValidatorTypeName(input) +
                              ">)'. Supported form(s): 'SUM(<NUMERIC>)'");
  }
  const SqlType type = input.kind() == TypeKind::kDecimal
                           ? SqlType::Decimal(kMaxDecimalPrecision, input.scale())
                           : input;
  return type.WithNullable(true);
}

Result<SqlType> AvgType(const SqlType& input) {
  if (!input.is_numeric()) {
    return Status::Validation("Cannot apply 'AVG' to arguments of type 'AVG(<" +
                              ValidatorTypeName(input) +
                              ">)'. Supported form(s): 'AVG(<NUMERIC>)'");
  }
  const SqlType type = input.kind() == TypeKind::kDecimal
                           ? SqlType::Decimal(kMaxDecimalPrecision, std::max(6, input.scale()))
                           : input;
  return type.WithNullable(true);
}

}  // namespace sluice
