// Syntax tree of queries: WITH, SELECT, VALUES, set operations, and what stands in FROM.
#pragma once

#include "sql/syntax/expression.h"

namespace sluice::sql {

enum class BodyKind { kSelect, kValues, kTable, kSetOperation, kNested };

/// What a query is made of below ORDER BY and LIMIT.
struct QueryBody {
  virtual ~QueryBody() = default;
  QueryBody(const QueryBody&) = delete;
  QueryBody& operator=(const QueryBody&) = delete;

  template <typename T>
  const T& As() const {
    SLUICE_CHECK(kind == T::kKind, "query body of another kind");
    return static_cast<const T&>(*this);
  }
  template <typename T>
  const T* If() const {
    return kind == T::kKind ? static_cast<const T*>(this) : nullptr;
  }

  const BodyKind kind;
  SourceRange range;

 protected:
  explicit QueryBody(BodyKind k) : kind(k) {}
};
using BodyPtr = std::unique_ptr<QueryBody>;

struct CommonTable {
  Identifier name;
  std::vector<Identifier> columns;
  std::unique_ptr<Query> query;
};

struct Query {
  std::vector<CommonTable> with;
  BodyPtr body;
  std::vector<OrderItem> order_by;
  ExprPtr offset;  // Null without OFFSET.
  ExprPtr limit;   // LIMIT n or FETCH n; null without or with LIMIT ALL.
  SourceRange range;
};
using QueryPtr = std::unique_ptr<Query>;

enum class TableRefKind { kTable, kSubquery, kFunction, kUnnest, kJoin };

/// A source in FROM.
struct TableRef {
  virtual ~TableRef() = default;
  TableRef(const TableRef&) = delete;
  TableRef& operator=(const TableRef&) = delete;

  template <typename T>
  const T& As() const {
    SLUICE_CHECK(kind == T::kKind, "table reference of another kind");
    return static_cast<const T&>(*this);
  }
  template <typename T>
  const T* If() const {
    return kind == T::kKind ? static_cast<const T*>(this) : nullptr;
  }

  const TableRefKind kind;
  SourceRange range;
  // Every kind but a join may carry an alias: AS u (c1, c2).
  std::optional<Identifier> alias;
  std::vector<Identifier> column_aliases;

 protected:
  explicit TableRef(TableRefKind k) : kind(k) {}
};
using TableRefPtr = std::unique_ptr<TableRef>;

/// path /*+ OPTIONS(…) */ FOR SYSTEM_TIME AS OF e.
struct TableNameRef final : TableRef {
  static constexpr TableRefKind kKind = TableRefKind::kTable;
  TableNameRef() : TableRef(kKind) {}
  NamePath path;
  std::vector<Hint> hints;
  ExprPtr as_of;  // Null without FOR SYSTEM_TIME AS OF.
};

struct DerivedTableRef final : TableRef {
  static constexpr TableRefKind kKind = TableRefKind::kSubquery;
  DerivedTableRef() : TableRef(kKind) {}
  QueryPtr query;
  bool lateral = false;
};

/// [LATERAL] TABLE(f(…)) or f(…) alone.
struct TableFunctionRef final : TableRef {
  static constexpr TableRefKind kKind = TableRefKind::kFunction;
  TableFunctionRef() : TableRef(kKind) {}
  std::unique_ptr<CallExpr> call;
  bool lateral = false;
  bool table_keyword = false;
};

struct UnnestRef final : TableRef {
  static constexpr TableRefKind kKind = TableRefKind::kUnnest;
  UnnestRef() : TableRef(kKind) {}
  std::vector<ExprPtr> arguments;  // One, in all that is supported.
  bool with_ordinality = false;
  bool lateral = false;
};

/// kComma is `FROM a, b`.
enum class JoinKind { kComma, kCross, kInner, kLeft, kRight, kFull };
struct JoinRef final : TableRef {
  static constexpr TableRefKind kKind = TableRefKind::kJoin;
  JoinRef() : TableRef(kKind) {}
  JoinKind join_kind = JoinKind::kInner;
  bool natural = false;
  TableRefPtr left;
  TableRefPtr right;
  ExprPtr on;  // Null without ON.
  std::vector<Identifier> using_columns;
};

struct SelectItem {
  ExprPtr expr;  // May be a StarExpr.
  std::optional<Identifier> alias;
};

enum class GroupKind { kExpr, kRollup, kCube, kGroupingSets };
/// kExpr: `exprs` is one key, or several (or none) for a parenthesised key.
/// kRollup, kCube, kGroupingSets: `children` are the parts.
struct GroupItem {
  GroupKind kind = GroupKind::kExpr;
  std::vector<ExprPtr> exprs;
  bool parenthesized = false;
  std::vector<GroupItem> children;
  SourceRange range;
};

struct NamedWindow {
  Identifier name;
  WindowSpec spec;
};

struct SelectBody final : QueryBody {
  static constexpr BodyKind kKind = BodyKind::kSelect;
  SelectBody() : QueryBody(kKind) {}
  std::vector<Hint> hints;
  bool distinct = false;
  std::vector<SelectItem> items;
  TableRefPtr from;  // Null without FROM; `a, b` is a JoinRef of kind kComma.
  ExprPtr where;
  bool has_group_by = false;
  bool group_distinct = false;
  std::vector<GroupItem> group_by;
  ExprPtr having;
  std::vector<NamedWindow> windows;
  ExprPtr qualify;
};

/// VALUES (1, 'a'), (2, 'b'). A row written without parentheses has one column.
struct ValuesRow {
  std::vector<ExprPtr> values;
  SourceRange range;
};
struct ValuesBody final : QueryBody {
  static constexpr BodyKind kKind = BodyKind::kValues;
  ValuesBody() : QueryBody(kKind) {}
  std::vector<ValuesRow> rows;
};

/// TABLE t as a query.
struct TableBody final : QueryBody {
  static constexpr BodyKind kKind = BodyKind::kTable;
  TableBody() : QueryBody(kKind) {}
  NamePath path;
};

enum class SetOp { kUnion, kIntersect, kExcept };
/// Left-associative; the left one of a long chain may nest up to the limit of the parser (1000).
struct SetOperation final : QueryBody {
  static constexpr BodyKind kKind = BodyKind::kSetOperation;
  SetOperation() : QueryBody(kKind) {}
  SetOp op = SetOp::kUnion;
  bool all = false;
  BodyPtr left;
  BodyPtr right;
};

/// A query in parentheses, with its own WITH, ORDER BY and LIMIT.
struct NestedQuery final : QueryBody {
  static constexpr BodyKind kKind = BodyKind::kNested;
  NestedQuery() : QueryBody(kKind) {}
  QueryPtr query;
};

}  // namespace sluice::sql
