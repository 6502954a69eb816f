// Flink's typing rules: which casts exist, common types, result types of arithmetic (sql.md §5.2 to
// §5.4).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "common/result.h"
#include "types/sql_type.h"

namespace sluice {

enum class CastKind {
  kNone,      // No such cast: "Cast function cannot convert value of type X to type Y".
  kAdvised,   // Refused as well, with advice what to write instead (CastAdvice).
  kExplicit,  // Only when CAST is written.
  kImplicit,  // Also inserted by INSERT and by common types.
};

/// How `from` may become `to`. Nullability is not looked at: a cast never changes it.
CastKind CanCast(const SqlType& from, const SqlType& to);

/// What to write instead of a kAdvised cast; "" for the others.
std::string_view CastAdvice(const SqlType& from, const SqlType& to);

/// OK when CAST(from AS to) may be written, else kValidation with Flink's words.
Status CheckExplicitCast(const SqlType& from, const SqlType& to);

/// The type that holds values of all `types` (CASE, COALESCE, UNION, IN, ARRAY): nullable when one
/// of them is. NULL literals take the type of the others; all NULL gives the NULL type. Fails with
/// kValidation naming the two types that do not mix.
Result<SqlType> CommonType(std::span<const SqlType> types);

enum class ArithmeticOp { kAdd, kSubtract, kMultiply, kDivide, kModulo };
/// "+", "-", "*", "/", "%".
std::string_view ArithmeticOpText(ArithmeticOp op);

/// Result type of `left op right`, numbers, intervals and times with intervals; nullable when an
/// operand is. Fails with "Cannot apply '+' to arguments of type '<INTEGER> + <CHAR(1)>'."
Result<SqlType> ArithmeticType(ArithmeticOp op, const SqlType& left, const SqlType& right);

/// The type both operands of a comparison are cast to before they are compared. `op` ("=", "<", …)
/// is for the message.
Result<SqlType> ComparisonType(std::string_view op, const SqlType& left, const SqlType& right);

/// True for types that support = and <> (all but NULL) and, with `ordered`, also < and > (no ARRAY,
/// MAP, MULTISET, ROW).
bool IsComparable(const SqlType& type, bool ordered);

/// An integer type as the DECIMAL that holds it: TINYINT (3,0), SMALLINT (5,0), INT (10,0), BIGINT
/// (19,0); a DECIMAL is itself.
SqlType AsDecimal(const SqlType& type);
/// DECIMAL(p, s) with p cut to 38 so that integral digits and at least 6 fraction digits are kept.
SqlType AdjustedDecimal(int precision, int scale);

/// Result types of aggregates (sql.md §5.2). They are nullable: a group may have no value. Fail for
/// types that are not numeric.
Result<SqlType> SumType(const SqlType& input);
Result<SqlType> AvgType(const SqlType& input);

/// The name error messages of the validator use: "INTEGER", "CHAR(3)", "VARCHAR(2147483647)",
/// "TIMESTAMP(0)".
std::string ValidatorTypeName(const SqlType& type);
/// The family in "No match found for function signature f(<CHARACTER>)": "NUMERIC", "CHARACTER",
/// "TIMESTAMP", ….
std::string_view ValidatorTypeFamily(const SqlType& type);

}  // namespace sluice
