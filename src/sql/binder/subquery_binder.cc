#include "sql/binder/subquery_binder.h"

#include <algorithm>

#include "expr/builder.h"
#include "expr/replace_columns.h"

namespace sluice::sql {
namespace {

constexpr int kRightColumns = 1 << 20;    // Of the subquery.
constexpr int kPendingColumns = 1 << 21;  // Made by joins above GROUP BY.

constexpr int kRange = 1 << 20;

/// The columns of the range that begins at `from`, moved to where `to` begins.
expr::ExprPtr Shifted(const expr::ExprPtr& expression, int from, int to) {
  return expr::ReplaceColumns(expression, [&](const expr::ColumnExpr& column) {
    const int index = column.index();
    const bool inside = index >= from && index < from + kRange;
    return expr::MakeColumn(inside ? index - from + to : index, column.type());
  });
}

bool UsesOuter(const expr::Expr& expression) {
  const std::vector<int> used = expr::UsedColumns(expression);
  return !used.empty() && used.back() >= kOuterColumns;
}

std::string AddedName(const PlanNode& left) {
  return "$subquery" + std::to_string(left.schema.column_count());
}

}  // namespace

Result<expr::ExprPtr> SubqueryBinder::BindScalar(const Query& query, bool above_groups) {
  SLUICE_ASSIGN_OR_RETURN(PlanPtr plan, queries_.BindSubquery(query, &scope_));
  if (plan->schema.column_count() != 1) {
    return Status::Validation("A scalar subquery gives one column; this one gives " +
                                  std::to_string(plan->schema.column_count()) + ".",
                              query.range.begin);
  }
  auto join = std::make_shared<JoinNode>();
  join->type = JoinType::kSingle;
  const SqlType type = plan->schema.column(0).type.WithNullable(true);
  join->inputs = {nullptr, std::move(plan)};
  return Attach(std::move(join), type, above_groups);
}

Result<expr::ExprPtr> SubqueryBinder::BindMembership(std::vector<expr::ExprPtr> operands,
                                                     const Query& query, bool above_groups) {
  SLUICE_ASSIGN_OR_RETURN(QueryBinder::BoundMembers members,
                          queries_.BindMembers(query, &scope_, !operands.empty(), !above_groups));
  if (!operands.empty() && operands.size() != members.values.size()) {
    return Status::Validation("Values passed to IN operator must have compatible types: " +
                                  std::to_string(operands.size()) + " and " +
                                  std::to_string(members.values.size()) + " columns",
                              query.range.begin);
  }
  auto join = std::make_shared<JoinNode>();
  join->type = JoinType::kMark;
  bool nullable = false;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (UsesOuter(*operands[i])) {
      return Status::Unsupported(
                 "IN (…) within a subquery over a column of the query around is not supported yet.")
          .At(query.range.begin);
    }
    const expr::ExprPtr value = Shifted(members.values[i], 0, kRightColumns);
    Result<expr::ExprPtr> equal =
        expr::MakeComparison(expr::ComparisonOp::kEqual, operands[i], value);
    if (!equal.ok()) return Located(equal.status(), query.range.begin);
    nullable = nullable || (*equal)->type().nullable();
    join->membership.push_back(*std::move(equal));
  }
  std::vector<expr::ExprPtr> conditions;
  for (const expr::ExprPtr& condition : members.conditions) {
    conditions.push_back(expr::ReplaceColumns(condition, [](const expr::ColumnExpr& column) {
      const int index = column.index();
      return expr::MakeColumn(
          index >= kOuterColumns ? index - kOuterColumns : index + kRightColumns, column.type());
    }));
  }
  if (!conditions.empty()) {
    SLUICE_ASSIGN_OR_RETURN(join->condition, expr::MakeAnd(std::move(conditions)));
  }
  join->inputs = {nullptr, std::move(members.plan)};
  return Attach(std::move(join), SqlType::Boolean().WithNullable(nullable), above_groups);
}

Result<expr::ExprPtr> SubqueryBinder::ResolveOuter(const NamePath& path) {
  const Scope* outer = queries_.outer_scope();
  if (outer == nullptr || !outer->Has(path)) return expr::ExprPtr();
  if (!outer_allowed_) {
    return Status::Unsupported(
               "A correlated subquery of this form is not supported yet: only WHERE of a plain "
               "SELECT in EXISTS (…) or IN (…) may use columns of the query around, here '" +
               path.ToString() + "'.")
        .At(path.range.begin);
  }
  SLUICE_ASSIGN_OR_RETURN(const expr::ExprPtr column, outer->Resolve(path));
  return Shifted(column, 0, kOuterColumns);
}

Result<expr::ExprPtr> SubqueryBinder::Attach(std::shared_ptr<JoinNode> join, SqlType type,
                                             bool above_groups) {
  join->schema = Schema({{"", type}});  // PutOn adds the columns in front.
  if (above_groups) {
    pending_.push_back(std::move(join));
    return expr::MakeColumn(kPendingColumns + static_cast<int>(pending_.size()) - 1, type);
  }
  plan_ = PutOn(std::move(plan_), std::move(join));
  grouping_.input = plan_->schema;
  return expr::MakeColumn(plan_->schema.column_count() - 1, type);
}

PlanPtr SubqueryBinder::PutOn(PlanPtr left, std::shared_ptr<JoinNode> join) const {
  const int width = left->schema.column_count();
  std::vector<Column> columns = left->schema.columns();
  columns.push_back({AddedName(*left), join->schema.column(0).type});
  join->schema = Schema(std::move(columns));
  join->time_attributes = left->time_attributes;
  join->time_attributes.push_back(TimeAttribute::kNone);
  const auto placed = [&](const expr::ExprPtr& condition) {
    return Shifted(Settled(condition), kRightColumns, width);
  };
  if (join->condition) join->condition = placed(join->condition);
  for (expr::ExprPtr& equality : join->membership) equality = placed(equality);
  join->inputs[0] = std::move(left);
  return join;
}

PlanPtr SubqueryBinder::AddPending(PlanPtr aggregate) {
  aggregate_width_ = aggregate->schema.column_count();
  for (std::shared_ptr<JoinNode>& join : pending_) {
    aggregate = PutOn(std::move(aggregate), std::move(join));
  }
  return aggregate;
}

expr::ExprPtr SubqueryBinder::Settled(const expr::ExprPtr& expression) const {
  return Shifted(expression, kPendingColumns, aggregate_width_);
}

}  // namespace sluice::sql
