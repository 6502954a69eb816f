// Makes bound expressions: finds the function, checks types, inserts implicit casts. All of Flink's
// typing rules that the SQL binder needs are behind these calls; failures are kValidation without a
// position (the binder adds it).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "expr/expr.h"
#include "expr/nodes.h"
#include "types/coercion.h"
#include "types/schema.h"

namespace sluice::expr {

// ---- Leaves ----

ExprPtr MakeColumn(int index, SqlType type);
/// A typed NULL; with the NULL type the untyped literal, which takes its type where it is used.
ExprPtr MakeNull(SqlType type = SqlType::Null());
ExprPtr MakeBoolean(bool value);
ExprPtr MakeTinyint(int8_t value);
ExprPtr MakeSmallint(int16_t value);
ExprPtr MakeInt(int32_t value);
ExprPtr MakeBigint(int64_t value);
ExprPtr MakeDouble(double value);
/// CHAR(n) NOT NULL with n code points; the empty string is CHAR(0).
ExprPtr MakeString(std::string_view value);
/// BINARY(n) NOT NULL.
ExprPtr MakeBinary(std::string_view bytes);
/// A number as SQL writes it, unsigned: INT, BIGINT, DECIMAL(p,s) or, with an exponent, DOUBLE;
/// "Numeric literal '…' out of range". `negative` folds a minus sign in.
Result<ExprPtr> MakeNumber(std::string_view text, bool negative = false);
/// DECIMAL '1.50'.
Result<ExprPtr> MakeDecimal(std::string_view text);
/// The text between the quotes of DATE '…', TIME '…', TIMESTAMP '…' and TIMESTAMP WITH LOCAL TIME
/// ZONE '…'; "Illegal DATE literal".
Result<ExprPtr> MakeDate(std::string_view text);
Result<ExprPtr> MakeTime(std::string_view text);
Result<ExprPtr> MakeTimestamp(std::string_view text);
Result<ExprPtr> MakeTimestampLtz(std::string_view text, const TimeZone& session_zone);
/// INTERVAL of months or of milliseconds.
ExprPtr MakeYearMonthInterval(int32_t months);
ExprPtr MakeDayTimeInterval(int64_t millis);
/// INTERVAL '1 02:03:04.567' DAY TO SECOND. Units are upper-case singular ("DAY"); `end_unit` empty
/// for one unit. `leading_precision` 2 unless written; 0 lifts the limit (INTERVAL 5 MINUTE).
Result<ExprPtr> MakeInterval(std::string_view text, bool negative, std::string_view start_unit,
                             std::string_view end_unit = {}, int leading_precision = 2);
/// INTERVAL (number) DAY with a number that is not a literal.
Result<ExprPtr> MakeIntervalOf(ExprPtr number, std::string_view unit);
/// A word argument: the unit of EXTRACT, LEADING of TRIM.
ExprPtr MakeSymbol(std::string_view word);

// ---- Calls ----

/// A function by name in any case with its arguments in plain call order; symbols (the unit of
/// EXTRACT, FLOOR … TO, TIMESTAMPADD, TIMESTAMPDIFF; BOTH/LEADING/TRAILING of TRIM) as MakeSymbol
/// at the place ast.h documents. TRIM(s) is also taken with one argument. kNotFound-like messages
/// of registry.h for unknown names; "Cannot apply 'F' to arguments of type 'F(<…>)'. Supported
/// form(s): …".
Result<ExprPtr> MakeCall(std::string_view name, std::vector<ExprPtr> arguments);

/// CAST or TRY_CAST as written. The result is nullable when the input is, and always with TRY_CAST.
Result<ExprPtr> MakeCast(ExprPtr input, const SqlType& type, bool try_cast = false);
/// The cast INSERT and common types insert: only implicit ones. Nullability follows the input; the
/// same type gives `input` itself.
Result<ExprPtr> MakeImplicitCast(ExprPtr input, const SqlType& type);

/// Searched CASE; `otherwise` may be null (NULL). For the simple form the binder makes comparisons.
Result<ExprPtr> MakeCase(std::vector<std::pair<ExprPtr, ExprPtr>> branches, ExprPtr otherwise);

Result<ExprPtr> MakeAnd(std::vector<ExprPtr> conditions);
Result<ExprPtr> MakeOr(std::vector<ExprPtr> conditions);
Result<ExprPtr> MakeNot(ExprPtr condition);

enum class ComparisonOp { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };
std::string_view ComparisonOpText(ComparisonOp op);
Result<ExprPtr> MakeComparison(ComparisonOp op, ExprPtr left, ExprPtr right);
/// IS [NOT] DISTINCT FROM.
Result<ExprPtr> MakeIsDistinctFrom(ExprPtr left, ExprPtr right, bool negated = false);

Result<ExprPtr> MakeArithmetic(ArithmeticOp op, ExprPtr left, ExprPtr right);
/// Unary minus; a literal is folded.
Result<ExprPtr> MakeNegate(ExprPtr operand);
/// a || b.
Result<ExprPtr> MakeConcat(ExprPtr left, ExprPtr right);
/// (a - b) unit: the difference of two times as an interval.
Result<ExprPtr> MakeTimeDifference(ExprPtr left, ExprPtr right, std::string_view unit);

Result<ExprPtr> MakeIn(ExprPtr operand, std::vector<ExprPtr> list, bool negated = false);
Result<ExprPtr> MakeBetween(ExprPtr operand, ExprPtr low, ExprPtr high, bool negated = false,
                            bool symmetric = false);
/// `escape` may be null. `similar`: SIMILAR TO.
Result<ExprPtr> MakeLike(ExprPtr operand, ExprPtr pattern, ExprPtr escape, bool negated = false,
                         bool similar = false);

enum class IsTest { kNull, kTrue, kFalse, kUnknown };
Result<ExprPtr> MakeIs(IsTest test, ExprPtr operand, bool negated = false);
/// s IS [NOT] JSON [VALUE|SCALAR|ARRAY|OBJECT]; `kind` is "" for VALUE.
Result<ExprPtr> MakeIsJson(ExprPtr operand, std::string_view kind = {}, bool negated = false);

// ---- Nested values ----

Result<ExprPtr> MakeArray(std::vector<ExprPtr> elements);
/// key, value, key, value, …
Result<ExprPtr> MakeMap(std::vector<ExprPtr> keys_and_values);
/// Fields are named EXPR$0, EXPR$1, ….
Result<ExprPtr> MakeRow(std::vector<ExprPtr> fields);
/// a[i], m[k].
Result<ExprPtr> MakeItem(ExprPtr operand, ExprPtr index);
/// r.name; fails with the nearest field name.
Result<ExprPtr> MakeField(ExprPtr operand, std::string_view field);

// ---- JSON functions with clauses ----

enum class JsonBehavior {
  kNull,
  kError,
  kDefault,
  kTrue,
  kFalse,
  kUnknown,
  kEmptyArray,
  kEmptyObject
};
enum class JsonWrapper { kWithout, kConditional, kUnconditional };
struct JsonClauses {
  std::optional<SqlType> returning;
  JsonBehavior on_empty = JsonBehavior::kNull;
  ExprPtr empty_default = nullptr;
  JsonBehavior on_error = JsonBehavior::kNull;  // JSON_EXISTS: kFalse unless written.
  ExprPtr error_default = nullptr;
  JsonWrapper wrapper = JsonWrapper::kWithout;
};
Result<ExprPtr> MakeJsonValue(ExprPtr json, ExprPtr path, const JsonClauses& clauses);
Result<ExprPtr> MakeJsonExists(ExprPtr json, ExprPtr path, JsonBehavior on_error);
Result<ExprPtr> MakeJsonQuery(ExprPtr json, ExprPtr path, const JsonClauses& clauses);
/// key, value, …; NULL ON NULL is the default of JSON_OBJECT, ABSENT ON NULL that of JSON_ARRAY.
Result<ExprPtr> MakeJsonObject(std::vector<ExprPtr> keys_and_values, bool absent_on_null = false);
Result<ExprPtr> MakeJsonArray(std::vector<ExprPtr> values, bool absent_on_null = true);

// ---- Folding ----

/// Replaces constant subtrees by literals. Leaves what is not deterministic, what depends on the
/// query's time, and what fails (it may never be evaluated).
Result<ExprPtr> FoldConstants(const ExprPtr& expression, const EvalContext& context);
/// True when no column is used and the value is the same for every row and query.
bool IsConstant(const Expr& expression);

}  // namespace sluice::expr
