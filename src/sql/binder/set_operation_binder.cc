// UNION, INTERSECT and EXCEPT (sql.md §4.5): names from the first branch, types common to both.
#include "expr/builder.h"
#include "sql/binder/query_binder.h"

namespace sluice::sql {
namespace {

std::string NameOf(const SetOperation& operation) {
  const std::string name = operation.op == SetOp::kUnion       ? "UNION"
                           : operation.op == SetOp::kIntersect ? "INTERSECT"
                                                               : "EXCEPT";
  return name + (operation.all ? " ALL" : "");
}

/// Two branches with the same column types.
struct Branches {
  std::vector<PlanPtr> plans;
  std::vector<Column> columns;
  std::vector<TimeAttribute> time_attributes;
};

Result<Branches> Align(PlanPtr left, PlanPtr right, const SetOperation& operation) {
  const SourcePosition at = operation.right->range.begin;
  if (left->schema.column_count() != right->schema.column_count()) {
    return Status::Validation("Column count mismatch in " + NameOf(operation), at);
  }
  Branches branches;
  std::vector<std::vector<expr::ExprPtr>> casts(2);
  std::vector<std::string> names;
  bool same = true;
  for (int i = 0; i < left->schema.column_count(); ++i) {
    const std::vector<SqlType> types = {left->schema.column(i).type, right->schema.column(i).type};
    const Result<SqlType> common = CommonType(types);
    if (!common.ok()) {
      return Status::Validation("Type mismatch in column " + std::to_string(i + 1) + " of " +
                                    NameOf(operation) + ": " + types[0].ToString() + " and " +
                                    types[1].ToString(),
                                at);
    }
    names.push_back(left->schema.column(i).name);
    branches.columns.push_back({names.back(), *common});
    for (size_t side = 0; side < 2; ++side) {
      expr::ExprPtr column = expr::MakeColumn(i, types[side]);
      if (!types[side].SameKindAs(*common)) {
        same = false;
        SLUICE_ASSIGN_OR_RETURN(
            column, expr::MakeCast(column, common->WithNullable(types[side].nullable())));
      }
      casts[side].push_back(std::move(column));
    }
    const TimeAttribute a = left->time_attributes[static_cast<size_t>(i)];
    const TimeAttribute b = right->time_attributes[static_cast<size_t>(i)];
    branches.time_attributes.push_back(a == b ? a : TimeAttribute::kNone);
  }
  branches.plans = {std::move(left), std::move(right)};
  for (size_t side = 0; side < 2 && !same; ++side) {
    PlanPtr& plan = branches.plans[side];
    std::vector<TimeAttribute> attributes = plan->time_attributes;
    plan = MakeProject(std::move(plan), std::move(casts[side]), names, std::move(attributes));
  }
  return branches;
}

PlanPtr UnionAll(Branches branches) {
  auto node = std::make_shared<UnionNode>();
  node->schema = Schema(std::move(branches.columns));
  node->time_attributes = std::move(branches.time_attributes);
  node->inputs = std::move(branches.plans);
  return node;
}

/// The first `width` columns of `input` as keys of an aggregate with `calls`.
PlanPtr GroupByAll(PlanPtr input, int width, std::vector<expr::AggregateCall> calls) {
  auto aggregate = std::make_shared<AggregateNode>();
  std::vector<Column> columns;
  for (int i = 0; i < width; ++i) {
    const Column& column = input->schema.column(i);
    aggregate->keys.push_back(expr::MakeColumn(i, column.type));
    columns.push_back(column);
  }
  for (const expr::AggregateCall& call : calls) {
    columns.push_back({"$rows" + std::to_string(columns.size()), call.type});
  }
  aggregate->time_attributes.resize(columns.size(), TimeAttribute::kNone);
  aggregate->schema = Schema(std::move(columns));
  aggregate->calls = std::move(calls);
  aggregate->inputs.push_back(std::move(input));
  return aggregate;
}

/// `plan` and a column that tells the branch.
PlanPtr Tagged(PlanPtr plan, bool is_left) {
  std::vector<expr::ExprPtr> expressions;
  std::vector<std::string> names;
  for (int i = 0; i < plan->schema.column_count(); ++i) {
    expressions.push_back(expr::MakeColumn(i, plan->schema.column(i).type));
    names.push_back(plan->schema.column(i).name);
  }
  expressions.push_back(expr::MakeBoolean(is_left));
  names.push_back("$left");
  std::vector<TimeAttribute> attributes(names.size(), TimeAttribute::kNone);
  return MakeProject(std::move(plan), std::move(expressions), std::move(names),
                     std::move(attributes));
}

/// Each distinct row with the number of times that each branch has it, as two last columns.
Result<PlanPtr> CountedRows(Branches branches) {
  const int width = static_cast<int>(branches.columns.size());
  for (size_t side = 0; side < 2; ++side) {
    branches.plans[side] = Tagged(std::move(branches.plans[side]), side == 0);
  }
  const SqlType tag_type = SqlType::Boolean().WithNullable(false);
  branches.columns.push_back({"$left", tag_type});
  branches.time_attributes.assign(branches.columns.size(), TimeAttribute::kNone);
  const expr::ExprPtr is_left = expr::MakeColumn(width, tag_type);
  SLUICE_ASSIGN_OR_RETURN(const expr::ExprPtr is_right, expr::MakeNot(is_left));
  SLUICE_ASSIGN_OR_RETURN(expr::AggregateCall left,
                          expr::MakeAggregate("COUNT", {}, false, is_left));
  SLUICE_ASSIGN_OR_RETURN(expr::AggregateCall right,
                          expr::MakeAggregate("COUNT", {}, false, is_right));
  return GroupByAll(UnionAll(std::move(branches)), width, {std::move(left), std::move(right)});
}

/// The rows of `counted` that both branches have (INTERSECT) or the left one alone (EXCEPT).
Result<PlanPtr> OnceEach(PlanPtr counted, bool intersect, expr::ExprPtr left, expr::ExprPtr right) {
  const expr::ExprPtr none = expr::MakeBigint(0);
  SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr in_left, expr::MakeComparison(expr::ComparisonOp::kGreater,
                                                                      std::move(left), none));
  SLUICE_ASSIGN_OR_RETURN(
      expr::ExprPtr right_fits,
      expr::MakeComparison(intersect ? expr::ComparisonOp::kGreater : expr::ComparisonOp::kEqual,
                           std::move(right), none));
  auto filter = std::make_shared<FilterNode>();
  filter->schema = counted->schema;
  filter->time_attributes = counted->time_attributes;
  SLUICE_ASSIGN_OR_RETURN(filter->condition,
                          expr::MakeAnd({std::move(in_left), std::move(right_fits)}));
  filter->inputs.push_back(std::move(counted));
  return PlanPtr(filter);
}

/// Its columns without the two counts, and with `count` behind them unless that is null.
PlanPtr WithoutCounts(PlanPtr counted, expr::ExprPtr count) {
  std::vector<expr::ExprPtr> expressions;
  std::vector<std::string> names;
  for (int i = 0; i + 2 < counted->schema.column_count(); ++i) {
    expressions.push_back(expr::MakeColumn(i, counted->schema.column(i).type));
    names.push_back(counted->schema.column(i).name);
  }
  if (count) {
    expressions.push_back(std::move(count));
    names.push_back("$count");
  }
  std::vector<TimeAttribute> attributes(names.size(), TimeAttribute::kNone);
  return MakeProject(std::move(counted), std::move(expressions), std::move(names),
                     std::move(attributes));
}

/// As often as the smaller count says (INTERSECT ALL), or as the left one exceeds the right one
/// (EXCEPT ALL).
Result<PlanPtr> SeveralTimes(PlanPtr counted, bool intersect, const expr::ExprPtr& left,
                             const expr::ExprPtr& right) {
  Result<expr::ExprPtr> count = intersect
                                    ? expr::MakeCall("LEAST", {left, right})
                                    : expr::MakeArithmetic(ArithmeticOp::kSubtract, left, right);
  if (!count.ok()) return count.status();
  const int width = counted->schema.column_count() - 2;
  PlanPtr input = WithoutCounts(std::move(counted), *std::move(count));
  auto node = std::make_shared<ReplicateNode>();
  std::vector<Column> columns(input->schema.columns().begin(),
                              input->schema.columns().begin() + width);
  node->schema = Schema(std::move(columns));
  node->time_attributes.resize(static_cast<size_t>(width), TimeAttribute::kNone);
  node->inputs.push_back(std::move(input));
  return PlanPtr(node);
}

}  // namespace

Result<PlanPtr> QueryBinder::BindSetOperation(const SetOperation& operation) {
  SLUICE_ASSIGN_OR_RETURN(PlanPtr left, BindBody(*operation.left, nullptr));
  SLUICE_ASSIGN_OR_RETURN(PlanPtr right, BindBody(*operation.right, nullptr));
  SLUICE_ASSIGN_OR_RETURN(Branches branches, Align(std::move(left), std::move(right), operation));
  const int width = static_cast<int>(branches.columns.size());
  if (operation.op == SetOp::kUnion) {
    PlanPtr all = UnionAll(std::move(branches));
    return operation.all ? all : GroupByAll(std::move(all), width, {});
  }
  const bool intersect = operation.op == SetOp::kIntersect;
  SLUICE_ASSIGN_OR_RETURN(PlanPtr counted, CountedRows(std::move(branches)));
  const expr::ExprPtr left_rows = expr::MakeColumn(width, counted->schema.column(width).type);
  const expr::ExprPtr right_rows =
      expr::MakeColumn(width + 1, counted->schema.column(width + 1).type);
  if (operation.all) return SeveralTimes(std::move(counted), intersect, left_rows, right_rows);
  SLUICE_ASSIGN_OR_RETURN(PlanPtr once,
                          OnceEach(std::move(counted), intersect, left_rows, right_rows));
  return WithoutCounts(std::move(once), nullptr);
}

}  // namespace sluice::sql
