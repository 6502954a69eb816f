// Binds queries: FROM to scans and joins, SELECT to projections, GROUP BY to aggregates, ORDER BY
// to sorts.
#pragma once

#include <string>
#include <vector>

#include "sql/binder/binder.h"
#include "sql/binder/expression_binder.h"
#include "sql/binder/scope.h"
#include "sql/logical/plan.h"

namespace sluice::sql {

class QueryBinder {
 public:
  explicit QueryBinder(const BindContext& context) : context_(context) {}

  Result<PlanPtr> Bind(const Query& query);
  /// The query of an INSERT: a NULL without a type takes that of its target, by position.
  Result<PlanPtr> BindForTargets(const Query& query, const std::vector<SqlType>& targets);
  /// A scan of every column of a table, or the plan of a view.
  Result<PlanPtr> BindTable(const catalog::CatalogManager::Found& found,
                            const std::vector<Hint>& hints, const SourceRange& range);

  /// A subquery whose columns are used as they are; `outer` is the scope of the query around.
  Result<PlanPtr> BindSubquery(const Query& query, const Scope* outer);

  /// The query of IN or EXISTS.
  struct BoundMembers {
    PlanPtr plan;
    std::vector<expr::ExprPtr> values;      // Over the plan's columns; empty for EXISTS.
    std::vector<expr::ExprPtr> conditions;  // Those of WHERE that use kOuterColumns.
  };
  Result<BoundMembers> BindMembers(const Query& query, const Scope* outer, bool wants_values,
                                   bool may_correlate);

  const BindContext& context() const { return context_; }
  /// What the query around the one being bound offers; null outside of subqueries.
  const Scope* outer_scope() const { return outer_scope_; }

 private:
  struct BoundBody {
    PlanPtr plan;
    Scope input_scope;  // Of a SELECT without grouping: what ORDER BY may also see.
    bool has_input_scope = false;
  };

  Result<PlanPtr> BindBody(const QueryBody& body, const Query* order_source);
  Result<PlanPtr> BindSelect(const SelectBody& select, const Query* order_source,
                             const std::vector<SqlType>* targets);
  Result<PlanPtr> BindValues(const ValuesBody& values, const std::vector<SqlType>* targets);
  Result<BoundMembers> BindPlainMembers(const SelectBody& select, bool wants_values,
                                        bool may_correlate);
  Result<PlanPtr> BindSetOperation(const SetOperation& operation);
  Result<PlanPtr> BindOrderAndLimit(PlanPtr plan, const Query& query, bool sorted);
  Result<int64_t> BindRowCount(const sql::Expr& node, std::string_view clause);

  struct BoundFrom {
    PlanPtr plan;
    Scope scope;
  };
  Result<BoundFrom> BindFrom(const TableRef& ref);
  Result<BoundFrom> BindTableName(const TableNameRef& ref);
  Result<BoundFrom> BindJoin(const JoinRef& ref);
  Status MergeUsing(const std::vector<std::string>& names, const JoinRef& ref, JoinNode& join,
                    size_t left_relations, Scope* scope);

  BindContext context_;
  std::vector<const CommonTable*> common_tables_;  // Innermost last.
  const Scope* outer_scope_ = nullptr;
  const std::vector<SqlType>* targets_ = nullptr;  // Of the body bound next.
  int depth_ = 0;
};

/// A projection of `input` to `expressions` named `names`.
PlanPtr MakeProject(PlanPtr input, std::vector<expr::ExprPtr> expressions,
                    std::vector<std::string> names, std::vector<TimeAttribute> time_attributes);

/// One row without columns: what SELECT without FROM reads.
PlanPtr MakeSingleRow();

}  // namespace sluice::sql
