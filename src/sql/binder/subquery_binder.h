// Subqueries of expressions as joins: a scalar one gives its value, IN and EXISTS a mark.
#pragma once

#include <vector>

#include "sql/binder/expression_binder.h"
#include "sql/binder/query_binder.h"

namespace sluice::sql {

/// The query that expressions of one SELECT stand in. Each subquery adds a column behind those of
/// the SELECT's input or, above GROUP BY, of the aggregate.
///
/// While a condition is made its columns lie in ranges of their own (kRightColumns, kOuterColumns,
/// kPendingColumns): the width of what stands left of the join is not always known yet.
class SubqueryBinder final : public QueryHost {
 public:
  /// `plan` is the SELECT's input, which grows by joins; `scope` its names. Borrowed. `outer` says
  /// what the query around offers, may be null.
  SubqueryBinder(QueryBinder* queries, PlanPtr* plan, const Scope* scope, Grouping* grouping)
      : queries_(*queries), plan_(*plan), scope_(*scope), grouping_(*grouping) {}

  const BindContext& context() const override { return queries_.context(); }
  Result<expr::ExprPtr> BindScalar(const Query& query, bool above_groups) override;
  Result<expr::ExprPtr> BindMembership(std::vector<expr::ExprPtr> operands, const Query& query,
                                       bool above_groups) override;
  Result<expr::ExprPtr> ResolveOuter(const NamePath& path) override;

  /// Puts the joins of subqueries above GROUP BY on `aggregate`.
  PlanPtr AddPending(PlanPtr aggregate);
  /// `expression`, bound above GROUP BY, over the columns that AddPending made.
  expr::ExprPtr Settled(const expr::ExprPtr& expression) const;

  /// Lets the expressions bound next use columns of the query around.
  void AllowOuter(bool allowed) { outer_allowed_ = allowed; }

 private:
  Result<expr::ExprPtr> Attach(std::shared_ptr<JoinNode> join, SqlType type, bool above_groups);
  PlanPtr PutOn(PlanPtr left, std::shared_ptr<JoinNode> join) const;

  QueryBinder& queries_;
  PlanPtr& plan_;
  const Scope& scope_;
  Grouping& grouping_;
  bool outer_allowed_ = false;
  std::vector<std::shared_ptr<JoinNode>> pending_;
  int aggregate_width_ = 0;
};

/// Columns of the query around, while a subquery's WHERE is bound.
constexpr int kOuterColumns = 1 << 22;

}  // namespace sluice::sql
