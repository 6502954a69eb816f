// Syntax tree of expressions. Names are unresolved, literals keep their exact text, operators are
// as written.
#pragma once

#include "sql/syntax/node.h"
#include "types/time_unit.h"

namespace sluice::sql {

struct Query;
struct WindowSpec;

enum class ExprKind {
  kLiteral,
  kColumnRef,
  kStar,
  kUnary,
  kBinary,
  kBetween,
  kIn,
  kLike,
  kIs,
  kIsDistinct,
  kCase,
  kCast,
  kCall,
  kArray,
  kMap,
  kMultiset,
  kRow,
  kItem,
  kField,
  kInterval,
  kIntervalMinus,
  kExists,
  kQuantified,
  kSubquery,
  kSymbol,
  kNamedArgument,
  kTableArgument,
  kDescriptor,
};

/// Base of all expressions. Walk with a switch over `kind` and As<T>().
struct Expr {
  virtual ~Expr() = default;
  Expr(const Expr&) = delete;
  Expr& operator=(const Expr&) = delete;

  template <typename T>
  const T& As() const {
    SLUICE_CHECK(kind == T::kKind, "syntax tree node of another kind");
    return static_cast<const T&>(*this);
  }
  template <typename T>
  T& As() {
    SLUICE_CHECK(kind == T::kKind, "syntax tree node of another kind");
    return static_cast<T&>(*this);
  }
  /// `this` as T, or null when it is another kind.
  template <typename T>
  const T* If() const {
    return kind == T::kKind ? static_cast<const T*>(this) : nullptr;
  }

  const ExprKind kind;
  SourceRange range;
  /// True when the expression stood in parentheses of its own: `(a).b`, `(a - b)`. `range` excludes
  /// them.
  bool parenthesized = false;

 protected:
  explicit Expr(ExprKind k) : kind(k) {}
};
using ExprPtr = std::unique_ptr<Expr>;

/// DAY(3) TO SECOND(6); `end` none for a single unit.
struct IntervalQualifier {
  TimeUnit start = TimeUnit::kDay;
  std::optional<TimeUnit> end;
  std::optional<int> leading_precision;
  std::optional<int> fraction_precision;
  SourceRange range;
};

enum class LiteralKind {
  kNull,
  kBoolean,  // text: TRUE, FALSE or UNKNOWN
  // A minus directly before a number belongs to it: the text of -5 is "-5", so that the smallest
  // INT and BIGINT can be written.
  kInteger,    // text as written without point or with an empty fraction: 123, 5. is "5"
  kDecimal,    // text as written with a fraction: .5, 00.50; also DECIMAL '1.50'
  kDouble,     // text as written with an exponent: 1e3
  kString,     // text: the value, escapes decoded
  kBinary,     // text: the raw bytes
  kDate,       // text checked and padded: 2020-02-29
  kTime,       // text checked and padded: 01:02:03[.f…], at most nine digits of fraction
  kTimestamp,  // text checked and padded: 2020-02-29 01:02:03[.f…]; the fraction as long as written
  kTimestampLtz,  // the same
  kInterval,      // text inside the quotes or the bare number, sign apart
};

struct LiteralExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kLiteral;
  LiteralExpr() : Expr(kKind) {}
  LiteralKind literal_kind = LiteralKind::kNull;
  std::string text;
  // kInterval only. A sign stands before the text: INTERVAL -'5' SECOND.
  IntervalQualifier interval;
  bool negative = false;
  bool bare_number =
      false;  // INTERVAL 5 MINUTE: any magnitude is allowed (no leading precision of 2).
};

/// `a`, `t.a`, `t.row.field`: which part is the table, the column and the field is for the binder
/// to find out.
struct ColumnRefExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kColumnRef;
  ColumnRefExpr() : Expr(kKind) {}
  NamePath path;
};

/// `*` or `t.*`, only as an item of SELECT.
struct StarExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kStar;
  StarExpr() : Expr(kKind) {}
  NamePath qualifier;  // Empty parts for a bare star.
};

enum class UnaryOp { kNot, kMinus, kPlus };
struct UnaryExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kUnary;
  UnaryExpr() : Expr(kKind) {}
  UnaryOp op = UnaryOp::kNot;
  ExprPtr operand;
};

enum class BinaryOp {
  kOr,
  kAnd,
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kOverlaps,
  kPlus,
  kMinus,
  kConcat,
  kMultiply,
  kDivide,
  kModulo,
};
/// "OR", "<=", "||", …
std::string_view BinaryOpName(BinaryOp op);
/// Long chains of AND and of OR are built as balanced trees, so that a thousand terms nest ten
/// levels.
struct BinaryExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kBinary;
  BinaryExpr() : Expr(kKind) {}
  BinaryOp op = BinaryOp::kAnd;
  ExprPtr left;
  ExprPtr right;
  SourceRange op_range;
};

struct BetweenExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kBetween;
  BetweenExpr() : Expr(kKind) {}
  ExprPtr operand;
  ExprPtr low;
  ExprPtr high;
  bool negated = false;
  bool symmetric = false;
};

/// x [NOT] IN (list) or x [NOT] IN (query): exactly one of `list` and `query` is filled.
struct InExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kIn;
  InExpr();
  ~InExpr() override;
  ExprPtr operand;
  std::vector<ExprPtr> list;
  std::unique_ptr<Query> query;
  bool negated = false;
};

enum class LikeKind { kLike, kIlike, kRlike, kSimilar };
struct LikeExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kLike;
  LikeExpr() : Expr(kKind) {}
  LikeKind like_kind = LikeKind::kLike;
  ExprPtr operand;
  ExprPtr pattern;
  ExprPtr escape;  // Null without ESCAPE.
  bool negated = false;
};

enum class IsKind {
  kNull,
  kTrue,
  kFalse,
  kUnknown,
  kJson,
  kJsonValue,
  kJsonScalar,
  kJsonArray,
  kJsonObject
};
struct IsExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kIs;
  IsExpr() : Expr(kKind) {}
  IsKind is_kind = IsKind::kNull;
  ExprPtr operand;
  bool negated = false;
};

/// a IS [NOT] DISTINCT FROM b.
struct IsDistinctExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kIsDistinct;
  IsDistinctExpr() : Expr(kKind) {}
  ExprPtr left;
  ExprPtr right;
  bool negated = false;
};

/// Both forms of CASE. `WHEN 1, 2 THEN` has two conditions.
struct CaseWhen {
  std::vector<ExprPtr> conditions;
  ExprPtr result;
};
struct CaseExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kCase;
  CaseExpr() : Expr(kKind) {}
  ExprPtr operand;  // Null in the searched form.
  std::vector<CaseWhen> whens;
  ExprPtr otherwise;  // Null without ELSE.
};

struct CastExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kCast;
  CastExpr() : Expr(kKind) {}
  ExprPtr operand;
  TypePtr type;
  bool try_cast = false;
};

/// The clauses inside the parentheses of a JSON_… function.
enum class JsonBehavior {
  kNone,
  kNull,
  kError,
  kDefault,
  kTrue,
  kFalse,
  kUnknown,
  kEmptyArray,
  kEmptyObject
};
enum class JsonWrapper { kNone, kWithout, kConditional, kUnconditional };
enum class JsonNulls { kNone, kNullOnNull, kAbsentOnNull };
struct JsonClauses {
  TypePtr returning;
  JsonBehavior on_empty = JsonBehavior::kNone;
  ExprPtr empty_default;  // DEFAULT x ON EMPTY
  JsonBehavior on_error = JsonBehavior::kNone;
  ExprPtr error_default;  // DEFAULT x ON ERROR
  JsonWrapper wrapper = JsonWrapper::kNone;
  JsonNulls nulls = JsonNulls::kNone;
};

/// How a call was written; its arguments are in the order of the plain call form in each case.
enum class CallForm {
  kPlain,          // f(a, b)
  kNoParentheses,  // CURRENT_TIMESTAMP: no arguments
  kExtract,        // EXTRACT(u FROM x): SymbolExpr u, x
  kFloorTo,        // FLOOR(x TO u), CEIL(x TO u): x, SymbolExpr u
  kPosition,       // POSITION(a IN b [FROM i]): a, b [, i]
  kSubstring,      // SUBSTRING(s FROM i [FOR n]): s, i [, n]
  kTrim,  // TRIM(…): SymbolExpr BOTH | LEADING | TRAILING, characters (the literal ' ' when not
          // written), s
  kOverlay,        // OVERLAY(a PLACING b FROM i [FOR n]): a, b, i [, n]
  kTimestampUnit,  // TIMESTAMPADD / TIMESTAMPDIFF(u, x, y): SymbolExpr u, x, y
  kJson,  // JSON_… with `json` set; JSON_OBJECT and JSON_OBJECTAGG list key, value, key, value, …
};
enum class NullTreatment { kNone, kRespectNulls, kIgnoreNulls };

struct CallExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kCall;
  CallExpr();
  ~CallExpr() override;
  /// Upper-case name of a function written without qualifier, else "" (a catalog function).
  std::string UpperName() const;

  NamePath name;  // As written.
  CallForm form = CallForm::kPlain;
  std::vector<ExprPtr> arguments;
  bool star = false;      // COUNT(*)
  bool distinct = false;  // f(DISTINCT x)
  bool all = false;       // f(ALL x)
  NullTreatment nulls = NullTreatment::kNone;
  std::unique_ptr<JsonClauses> json;
  ExprPtr filter;  // FILTER (WHERE c)
  // OVER (…) or OVER name: `over` is set; in the second form only over->base_name.
  std::unique_ptr<WindowSpec> over;
};

struct ArrayConstructorExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kArray;
  ArrayConstructorExpr() : Expr(kKind) {}
  std::vector<ExprPtr> elements;
};

/// MAP[k, v, …]: an even number of elements, at least two.
struct MapConstructorExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kMap;
  MapConstructorExpr() : Expr(kKind) {}
  std::vector<ExprPtr> elements;
};

struct MultisetConstructorExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kMultiset;
  MultisetConstructorExpr() : Expr(kKind) {}
  std::vector<ExprPtr> elements;
};

/// ROW(a, b) or (a, b).
struct RowConstructorExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kRow;
  RowConstructorExpr() : Expr(kKind) {}
  std::vector<ExprPtr> elements;
  bool explicit_row = false;  // ROW was written.
};

/// a[i], m[k].
struct ItemExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kItem;
  ItemExpr() : Expr(kKind) {}
  ExprPtr operand;
  ExprPtr index;
};

/// (expr).field, f(x).field, a[1].field. A chain of names only is a ColumnRefExpr.
struct FieldExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kField;
  FieldExpr() : Expr(kKind) {}
  ExprPtr operand;
  Identifier field;
};

/// INTERVAL (expression) DAY, INTERVAL col DAY: the number is not a literal.
struct IntervalExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kInterval;
  IntervalExpr() : Expr(kKind) {}
  ExprPtr value;
  IntervalQualifier qualifier;
};

/// (a - b) DAY: the difference of two times as an interval.
struct IntervalMinusExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kIntervalMinus;
  IntervalMinusExpr() : Expr(kKind) {}
  ExprPtr left;
  ExprPtr right;
  IntervalQualifier qualifier;
};

struct ExistsExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kExists;
  ExistsExpr();
  ~ExistsExpr() override;
  std::unique_ptr<Query> query;
};

enum class Quantifier { kAny, kAll };  // SOME is ANY.
/// x <op> ANY (query) or x <op> ALL (list).
struct QuantifiedExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kQuantified;
  QuantifiedExpr();
  ~QuantifiedExpr() override;
  BinaryOp op = BinaryOp::kEqual;
  Quantifier quantifier = Quantifier::kAny;
  ExprPtr operand;
  std::vector<ExprPtr> list;
  std::unique_ptr<Query> query;
};

/// A scalar subquery, or a query as an argument of a table function.
struct SubqueryExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kSubquery;
  SubqueryExpr();
  ~SubqueryExpr() override;
  std::unique_ptr<Query> query;
};

/// A word that is an argument but not an expression: the unit of EXTRACT, LEADING of TRIM.
/// Upper-case, singular.
struct SymbolExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kSymbol;
  SymbolExpr() : Expr(kKind) {}
  std::string name;
  std::optional<TimeUnit> unit;
};

/// name => value in a call.
struct NamedArgumentExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kNamedArgument;
  NamedArgumentExpr() : Expr(kKind) {}
  Identifier name;
  ExprPtr value;
};

struct OrderItem {
  ExprPtr expr;
  bool descending = false;
  std::optional<bool> nulls_first;  // None without NULLS FIRST / LAST.
};

/// TABLE t [PARTITION BY …] [ORDER BY …] as an argument; or (query) PARTITION BY … when `query` is
/// set.
struct TableArgumentExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kTableArgument;
  TableArgumentExpr();
  ~TableArgumentExpr() override;
  NamePath table;
  std::unique_ptr<Query> query;
  std::vector<ExprPtr> partition_by;
  std::vector<OrderItem> order_by;
};

/// DESCRIPTOR(ts, …).
struct DescriptorExpr final : Expr {
  static constexpr ExprKind kKind = ExprKind::kDescriptor;
  DescriptorExpr() : Expr(kKind) {}
  std::vector<Identifier> columns;
};

enum class FrameBoundKind {
  kUnboundedPreceding,
  kPreceding,
  kCurrentRow,
  kFollowing,
  kUnboundedFollowing
};
struct FrameBound {
  FrameBoundKind kind = FrameBoundKind::kCurrentRow;
  ExprPtr offset;  // kPreceding and kFollowing.
};

/// The window of OVER (…) and of WINDOW w AS (…).
struct WindowSpec {
  std::optional<Identifier> base_name;
  std::vector<ExprPtr> partition_by;
  std::vector<OrderItem> order_by;
  enum class Frame { kNone, kRows, kRange } frame = Frame::kNone;
  FrameBound start;
  std::optional<FrameBound> end;  // None when BETWEEN was not written.
  SourceRange range;
};

}  // namespace sluice::sql
