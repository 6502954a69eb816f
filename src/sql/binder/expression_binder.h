// Binds one expression over a scope; with GROUP BY, over the output of the aggregate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "expr/aggregate.h"
#include "expr/expr.h"
#include "sql/binder/scope.h"
#include "sql/syntax/ast.h"

namespace sluice::sql {

struct BindContext;

/// What GROUP BY made: keys bound over the input, and the aggregate calls found so far. Output
/// columns of the aggregate are the keys, then the calls.
struct Grouping {
  std::vector<expr::ExprPtr> keys;
  std::vector<std::string> key_texts;  // ToString of each key, for matching.
  std::vector<expr::AggregateCall> calls;
  std::vector<std::string> call_texts;
  Schema input;
};

/// What an expression can ask of the query that it stands in. Subqueries become joins below the
/// expression and are columns to it; `above_groups`: the expression stands above GROUP BY.
class QueryHost {
 public:
  virtual ~QueryHost() = default;
  virtual const BindContext& context() const = 0;
  /// The value of a scalar subquery.
  virtual Result<expr::ExprPtr> BindScalar(const Query& query, bool above_groups) = 0;
  /// `operands` IN (query), three-valued; without operands EXISTS (query).
  virtual Result<expr::ExprPtr> BindMembership(std::vector<expr::ExprPtr> operands,
                                               const Query& query, bool above_groups) = 0;
  /// The column of the query around this one that `path` names; null when none does.
  virtual Result<expr::ExprPtr> ResolveOuter(const NamePath& path) = 0;
};

class ExpressionBinder {
 public:
  ExpressionBinder(const Scope& scope, const TimeZone& session_zone)
      : scope_(scope), session_zone_(session_zone) {}
  /// From now on expressions stand above the aggregate: keys and aggregate calls become its output
  /// columns, anything else is "Expression 'x' is not being grouped". Calls are added to
  /// `grouping`.
  void UseGrouping(Grouping* grouping) { grouping_ = grouping; }
  /// Without a host subqueries are refused.
  void UseHost(QueryHost* host) { host_ = host; }

  Result<expr::ExprPtr> Bind(const Expr& node);
  /// Bind, and refuse what is not BOOLEAN: "WHERE clause must be a condition".
  Result<expr::ExprPtr> BindCondition(const Expr& node, std::string_view clause);

 private:
  Result<expr::ExprPtr> BindInput(const Expr& node);  // Ignoring the grouping.
  Result<expr::ExprPtr> BindNode(const Expr& node);
  Result<expr::ExprPtr> BindGrouped(const Expr& node);
  Result<expr::ExprPtr> BindAggregate(const CallExpr& call);
  Result<expr::ExprPtr> BindLiteral(const LiteralExpr& literal, bool negative);
  Result<expr::ExprPtr> BindUnary(const UnaryExpr& node);
  Result<expr::ExprPtr> BindBinary(const BinaryExpr& node);
  Result<expr::ExprPtr> BindLogical(const BinaryExpr& node);
  Result<expr::ExprPtr> BindColumn(const ColumnRefExpr& node);
  Result<expr::ExprPtr> BindOverlaps(const BinaryExpr& node);
  Result<expr::ExprPtr> BindIn(const InExpr& node);
  Result<expr::ExprPtr> BindInQuery(const Expr& operand, const Query& query, bool negated);
  Result<expr::ExprPtr> BindQuantified(const QuantifiedExpr& node);
  Result<expr::ExprPtr> BindExists(const ExistsExpr& node);
  Result<expr::ExprPtr> BindScalarQuery(const SubqueryExpr& node);
  std::optional<std::string> SessionName(std::string_view function) const;
  bool above_groups() const { return grouping_ != nullptr && !inside_aggregate_; }
  Result<expr::ExprPtr> BindCase(const CaseExpr& node);
  Result<expr::ExprPtr> BindCall(const CallExpr& call);
  Result<expr::ExprPtr> BindJsonCall(const CallExpr& call, std::vector<expr::ExprPtr> arguments);
  Result<std::vector<expr::ExprPtr>> BindAll(const std::vector<ExprPtr>& nodes);

  const Scope& scope_;
  const TimeZone& session_zone_;
  Grouping* grouping_ = nullptr;
  QueryHost* host_ = nullptr;
  bool inside_aggregate_ = false;
};

/// True when an aggregate call stands anywhere in `node` (not inside a subquery or OVER).
bool ContainsAggregate(const Expr& node);

/// The status with `position` unless it has one already.
Status Located(Status status, SourcePosition position);

}  // namespace sluice::sql
