#include "sql/binder/query_binder.h"

#include <algorithm>

#include "common/text.h"
#include "expr/builder.h"
#include "sql/binder/subquery_binder.h"
#include "sql/binder/table_scan.h"
#include "sql/syntax/parser.h"
#include "sql/syntax/unparse.h"

namespace sluice::sql {
namespace {

// Views over views over views end somewhere; a text cannot exhaust the stack.
constexpr int kMaxQueryDepth = 100;

Status NotOffered(std::string_view feature, SourcePosition at) {
  return Status::Unsupported(std::string(feature) + " is not supported yet.").At(at);
}

std::string ItemName(const SelectItem& item, size_t position) {
  if (item.alias) return item.alias->name;
  if (const ColumnRefExpr* column = item.expr->If<ColumnRefExpr>())
    return column->path.parts.back().name;
  if (const FieldExpr* field = item.expr->If<FieldExpr>()) return field->field.name;
  return "EXPR$" + std::to_string(position);
}

/// `x, x` becomes `x, x0`: names of a query's result are told apart by a number.
void TellApart(std::vector<std::string>* names) {
  for (size_t i = 0; i < names->size(); ++i) {
    std::string name = (*names)[i];
    for (int number = 0; std::find(names->begin(), names->begin() + static_cast<std::ptrdiff_t>(i),
                                   name) != names->begin() + static_cast<std::ptrdiff_t>(i);
         ++number) {
      name = (*names)[i] + std::to_string(number);
    }
    (*names)[i] = name;
  }
}

Status CheckHints(const std::vector<Hint>& hints) {
  for (const Hint& hint : hints) {
    if (EqualsIgnoreCaseAscii(hint.name.name, "OPTIONS")) {
      return Status::Validation("The OPTIONS hint must stand right after a table name.",
                                hint.range.begin);
    }
  }
  return {};
}

TimeAttribute AttributeOf(const Scope& scope, const expr::ExprPtr& expression) {
  if (expression->kind() == expr::ExprKind::kCall) {
    const expr::CallExpr& call = static_cast<const expr::CallExpr&>(*expression);
    if (call.name() == "PROCTIME") return TimeAttribute::kProctime;
  }
  return scope.TimeAttributeOf(*expression);
}

}  // namespace

PlanPtr MakeProject(PlanPtr input, std::vector<expr::ExprPtr> expressions,
                    std::vector<std::string> names, std::vector<TimeAttribute> time_attributes) {
  auto project = std::make_shared<ProjectNode>();
  std::vector<Column> columns;
  for (size_t i = 0; i < expressions.size(); ++i)
    columns.push_back({names[i], expressions[i]->type()});
  project->schema = Schema(std::move(columns));
  project->time_attributes = std::move(time_attributes);
  project->expressions = std::move(expressions);
  project->inputs.push_back(std::move(input));
  return project;
}

PlanPtr MakeSingleRow() {
  auto values = std::make_shared<ValuesNode>();
  values->rows.emplace_back();
  return values;
}

Result<PlanPtr> QueryBinder::BindForTargets(const Query& query,
                                            const std::vector<SqlType>& targets) {
  targets_ = &targets;
  return Bind(query);
}

Result<PlanPtr> QueryBinder::Bind(const Query& query) {
  if (++depth_ > kMaxQueryDepth) {
    return Status::Validation("Queries and views nest deeper than 100 levels.", query.range.begin);
  }
  const size_t outer_tables = common_tables_.size();
  for (const CommonTable& table : query.with) common_tables_.push_back(&table);
  Result<PlanPtr> plan = [&]() -> Result<PlanPtr> {
    const bool select_sorts = !query.order_by.empty() && query.body->kind == BodyKind::kSelect;
    SLUICE_ASSIGN_OR_RETURN(PlanPtr body, BindBody(*query.body, select_sorts ? &query : nullptr));
    return BindOrderAndLimit(std::move(body), query, select_sorts);
  }();
  common_tables_.resize(outer_tables);
  --depth_;
  return plan;
}

Result<PlanPtr> QueryBinder::BindBody(const QueryBody& body, const Query* order_source) {
  const std::vector<SqlType>* targets = std::exchange(targets_, nullptr);
  switch (body.kind) {
    case BodyKind::kSelect:
      return BindSelect(body.As<SelectBody>(), order_source, targets);
    case BodyKind::kValues:
      return BindValues(body.As<ValuesBody>(), targets);
    case BodyKind::kTable: {
      const TableBody& table = body.As<TableBody>();
      Result<catalog::CatalogManager::Found> found = context_.catalogs->Get(table.path.Names());
      if (!found.ok()) return Located(found.status(), table.path.range.begin);
      return BindTable(*found, {}, table.path.range);
    }
    case BodyKind::kSetOperation:
      return BindSetOperation(body.As<SetOperation>());
    case BodyKind::kNested:
      targets_ = targets;
      return Bind(*body.As<NestedQuery>().query);
  }
  return Status::Internal("unknown query body");
}

namespace {

/// The type of the target at `position`, when there is one.
std::optional<SqlType> TargetType(const std::vector<SqlType>* targets, size_t position) {
  if (targets == nullptr || position >= targets->size()) return std::nullopt;
  return (*targets)[position].WithNullable(true);
}

}  // namespace

Result<PlanPtr> QueryBinder::BindValues(const ValuesBody& values,
                                        const std::vector<SqlType>* targets) {
  const Scope empty;
  ExpressionBinder binder(empty, context_.session_zone);
  const size_t width = values.rows[0].values.size();
  auto node = std::make_shared<ValuesNode>();
  for (const ValuesRow& row : values.rows) {
    if (row.values.size() != width) {
      return Status::Validation(
          "Values passed to VALUES operator must have compatible types: rows of " +
              std::to_string(width) + " and " + std::to_string(row.values.size()) + " values",
          row.range.begin);
    }
    std::vector<expr::ExprPtr> bound;
    for (const ExprPtr& value : row.values) {
      SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr expression, binder.Bind(*value));
      bound.push_back(std::move(expression));
    }
    node->rows.push_back(std::move(bound));
  }
  std::vector<Column> columns;
  for (size_t i = 0; i < width; ++i) {
    std::vector<SqlType> types;
    for (const auto& row : node->rows) types.push_back(row[i]->type());
    Result<SqlType> common = CommonType(types);
    if (common.ok() && common->kind() == TypeKind::kNull) {
      if (const auto target = TargetType(targets, i)) common = *target;
    }
    if (!common.ok()) {
      return Status::Validation("Values passed to VALUES operator must have compatible types: " +
                                    common.status().message(),
                                values.rows[0].values[i]->range.begin);
    }
    if (common->kind() == TypeKind::kNull) {
      return Status::Validation("Illegal use of 'NULL'", values.rows[0].values[i]->range.begin);
    }
    for (auto& row : node->rows) {
      SLUICE_ASSIGN_OR_RETURN(
          row[i], expr::MakeImplicitCast(row[i], common->WithNullable(row[i]->type().nullable())));
    }
    columns.push_back({"EXPR$" + std::to_string(i), *common});
  }
  node->schema = Schema(std::move(columns));
  node->time_attributes.resize(width, TimeAttribute::kNone);
  return PlanPtr(node);
}

Result<QueryBinder::BoundFrom> QueryBinder::BindFrom(const TableRef& ref) {
  Result<BoundFrom> bound = [&]() -> Result<BoundFrom> {
    switch (ref.kind) {
      case TableRefKind::kTable:
        return BindTableName(ref.As<TableNameRef>());
      case TableRefKind::kSubquery: {
        const DerivedTableRef& derived = ref.As<DerivedTableRef>();
        SLUICE_ASSIGN_OR_RETURN(PlanPtr plan, Bind(*derived.query));
        Scope scope = Scope::Over(*plan, {});
        return BoundFrom{std::move(plan), std::move(scope)};
      }
      case TableRefKind::kFunction:
        return NotOffered("The table function " + ref.As<TableFunctionRef>().call->name.ToString(),
                          ref.range.begin);
      case TableRefKind::kUnnest:
        return NotOffered("UNNEST", ref.range.begin);
      case TableRefKind::kJoin:
        return BindJoin(ref.As<JoinRef>());
    }
    return Status::Internal("unknown table reference");
  }();
  if (!bound.ok() || ref.kind == TableRefKind::kJoin) return bound;
  ScopeRelation& relation = bound->scope.relations()[0];
  if (ref.alias) relation.name = {ref.alias->name};
  if (!ref.column_aliases.empty()) {
    if (ref.column_aliases.size() != relation.columns.size()) {
      return Status::Validation(
          "List of column aliases must have same degree as table; table has " +
              std::to_string(relation.columns.size()) + " columns, whereas alias list has " +
              std::to_string(ref.column_aliases.size()) + " columns",
          ref.column_aliases[0].range.begin);
    }
    for (size_t i = 0; i < relation.columns.size(); ++i)
      relation.columns[i].name = ref.column_aliases[i].name;
  }
  return bound;
}

Result<QueryBinder::BoundFrom> QueryBinder::BindTableName(const TableNameRef& ref) {
  if (ref.as_of) return NotOffered("FOR SYSTEM_TIME AS OF", ref.as_of->range.begin);
  if (ref.path.parts.size() == 1) {
    for (size_t i = common_tables_.size(); i-- > 0;) {
      const CommonTable& common = *common_tables_[i];
      if (common.name.name != ref.path.parts[0].name) continue;
      // A common table sees those written before it only.
      std::vector<const CommonTable*> visible(
          common_tables_.begin(), common_tables_.begin() + static_cast<std::ptrdiff_t>(i));
      std::swap(visible, common_tables_);
      Result<PlanPtr> plan = Bind(*common.query);
      std::swap(visible, common_tables_);
      if (!plan.ok()) return plan.status();
      Scope scope = Scope::Over(**plan, {common.name.name});
      if (!common.columns.empty()) {
        ScopeRelation& relation = scope.relations()[0];
        if (common.columns.size() != relation.columns.size()) {
          return Status::Validation("The common table " + common.name.name + " names " +
                                        std::to_string(common.columns.size()) +
                                        " columns, its query has " +
                                        std::to_string(relation.columns.size()),
                                    common.name.range.begin);
        }
        for (size_t c = 0; c < relation.columns.size(); ++c)
          relation.columns[c].name = common.columns[c].name;
      }
      return BoundFrom{*std::move(plan), std::move(scope)};
    }
  }
  Result<catalog::CatalogManager::Found> found = context_.catalogs->Get(ref.path.Names());
  if (!found.ok()) return Located(found.status(), ref.path.range.begin);
  SLUICE_ASSIGN_OR_RETURN(PlanPtr plan, BindTable(*found, ref.hints, ref.path.range));
  Scope scope = Scope::Over(*plan, {found->path.catalog, found->path.database, found->path.object});
  return BoundFrom{std::move(plan), std::move(scope)};
}

Result<PlanPtr> QueryBinder::BindTable(const catalog::CatalogManager::Found& found,
                                       const std::vector<Hint>& hints, const SourceRange& range) {
  if (found.table->kind == catalog::TableKind::kTable) {
    return MakeTableScan(found, hints, context_, range.begin);
  }
  for (const Hint& hint : hints) {
    return Status::Validation("View '" + found.path.ToString() +
                                  "' cannot be enriched with new options. Hints can only be "
                                  "applied to tables.",
                              hint.range.begin);
  }
  Result<QueryPtr> query = ParseQuery(found.table->view_query);
  if (!query.ok())
    return query.status().WithContext("While reading the query of view " + found.path.ToString());
  std::vector<const CommonTable*> outside;  // A view does not see the query's common tables.
  std::swap(outside, common_tables_);
  Result<PlanPtr> plan = Bind(**query);
  std::swap(outside, common_tables_);
  if (!plan.ok()) {
    // Positions inside the view's text mean nothing in this statement.
    return Status(plan.status().code(), plan.status().message())
        .WithContext("In view " + found.path.ToString())
        .At(range.begin);
  }
  std::vector<Column> columns;
  for (size_t i = 0; i < found.table->columns.size(); ++i) {
    columns.push_back(
        {found.table->columns[i].name, (*plan)->schema.column(static_cast<int>(i)).type});
  }
  (*plan)->schema = Schema(std::move(columns));
  return plan;
}

namespace {

JoinType TypeOf(JoinKind kind) {
  switch (kind) {
    case JoinKind::kLeft:
      return JoinType::kLeft;
    case JoinKind::kRight:
      return JoinType::kRight;
    case JoinKind::kFull:
      return JoinType::kFull;
    default:
      return JoinType::kInner;
  }
}

void MakeNullable(Scope* scope, size_t first_relation, size_t end_relation) {
  for (size_t r = first_relation; r < end_relation; ++r) {
    for (ScopeColumn& column : scope->relations()[r].columns) {
      column.type = column.type.WithNullable(true);
      if (column.expression->kind() == expr::ExprKind::kColumn) {
        column.expression = expr::MakeColumn(
            static_cast<const expr::ColumnExpr&>(*column.expression).index(), column.type);
      }
      column.time_attribute = TimeAttribute::kNone;
    }
  }
}

}  // namespace

Result<QueryBinder::BoundFrom> QueryBinder::BindJoin(const JoinRef& ref) {
  SLUICE_ASSIGN_OR_RETURN(BoundFrom left, BindFrom(*ref.left));
  SLUICE_ASSIGN_OR_RETURN(BoundFrom right, BindFrom(*ref.right));
  const int left_width = left.plan->schema.column_count();
  const size_t left_relations = left.scope.relations().size();
  Scope scope = Scope::Join(left.scope, right.scope, left_width);

  auto join = std::make_shared<JoinNode>();
  join->type = TypeOf(ref.join_kind);
  join->inputs = {left.plan, right.plan};
  if (ref.on) {
    ExpressionBinder binder(scope, context_.session_zone);
    SLUICE_ASSIGN_OR_RETURN(join->condition, binder.BindCondition(*ref.on, "ON"));
  }
  std::vector<std::string> shared;
  for (const Identifier& name : ref.using_columns) shared.push_back(name.name);
  if (ref.natural) {
    for (const ScopeRelation& relation : left.scope.relations()) {
      for (const ScopeColumn& column : relation.columns) {
        if (right.plan->schema.IndexOf(column.name) >= 0) shared.push_back(column.name);
      }
    }
  }
  SLUICE_RETURN_NOT_OK(MergeUsing(shared, ref, *join, left_relations, &scope));

  const size_t all = scope.relations().size();
  if (join->type == JoinType::kRight || join->type == JoinType::kFull)
    MakeNullable(&scope, 0, left_relations);
  if (join->type == JoinType::kLeft || join->type == JoinType::kFull)
    MakeNullable(&scope, left_relations, all);
  std::vector<Column> columns;
  for (const PlanPtr& input : join->inputs) {
    const bool is_left = input == join->inputs[0];
    const bool padded = join->type == JoinType::kFull ||
                        (is_left ? join->type == JoinType::kRight : join->type == JoinType::kLeft);
    for (size_t i = 0; i < static_cast<size_t>(input->schema.column_count()); ++i) {
      Column column = input->schema.column(static_cast<int>(i));
      if (padded) column.type = column.type.WithNullable(true);
      columns.push_back(std::move(column));
      join->time_attributes.push_back(padded ? TimeAttribute::kNone : input->time_attributes[i]);
    }
  }
  join->schema = Schema(std::move(columns));
  return BoundFrom{join, std::move(scope)};
}

Status QueryBinder::MergeUsing(const std::vector<std::string>& names, const JoinRef& ref,
                               JoinNode& join, size_t left_relations, Scope* scope) {
  std::vector<expr::ExprPtr> conditions;
  for (const std::string& name : names) {
    ScopeColumn* sides[2] = {nullptr, nullptr};
    for (size_t r = 0; r < scope->relations().size(); ++r) {
      ScopeColumn*& side = sides[r < left_relations ? 0 : 1];
      for (ScopeColumn& column : scope->relations()[r].columns) {
        if (column.name != name || column.needs_qualifier) continue;
        if (side != nullptr)
          return Status::Validation("Column '" + name + "' is ambiguous", ref.range.begin);
        side = &column;
      }
    }
    if (sides[0] == nullptr || sides[1] == nullptr) {
      return Status::Validation("Column '" + name + "' not found in any table", ref.range.begin);
    }
    SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr equal,
                            expr::MakeComparison(expr::ComparisonOp::kEqual, sides[0]->expression,
                                                 sides[1]->expression));
    conditions.push_back(std::move(equal));
    ScopeColumn* hidden = join.type == JoinType::kRight ? sides[0] : sides[1];
    if (join.type == JoinType::kFull) {
      SLUICE_ASSIGN_OR_RETURN(
          sides[0]->expression,
          expr::MakeCall("COALESCE", {sides[0]->expression, sides[1]->expression}));
      sides[0]->type = sides[0]->expression->type();
    }
    hidden->needs_qualifier = true;
    hidden->in_star = false;
  }
  if (conditions.empty()) return {};
  SLUICE_ASSIGN_OR_RETURN(join.condition, expr::MakeAnd(std::move(conditions)));
  return {};
}

Result<PlanPtr> QueryBinder::BindSubquery(const Query& query, const Scope* outer) {
  const Scope* around = std::exchange(outer_scope_, outer);
  Result<PlanPtr> plan = Bind(query);
  outer_scope_ = around;
  return plan;
}

namespace {

/// The SELECT of `query` when neither grouping nor LIMIT stands between its rows and its FROM: rows
/// that come once or often, in whatever order, are the same to IN and EXISTS.
const SelectBody* PlainSelect(const Query& query) {
  if (query.limit || query.offset || !query.with.empty()) return nullptr;
  if (const NestedQuery* nested = query.body->If<NestedQuery>()) return PlainSelect(*nested->query);
  const SelectBody* select = query.body->If<SelectBody>();
  const bool plain = select != nullptr && select->from != nullptr && !select->has_group_by &&
                     !select->having && select->windows.empty() && !select->qualify;
  if (!plain) return nullptr;
  for (const SelectItem& item : select->items) {
    if (ContainsAggregate(*item.expr)) return nullptr;
  }
  return select;
}

}  // namespace

Result<QueryBinder::BoundMembers> QueryBinder::BindMembers(const Query& query, const Scope* outer,
                                                           bool wants_values, bool may_correlate) {
  if (const SelectBody* select = PlainSelect(query)) {
    const Scope* around = std::exchange(outer_scope_, outer);
    Result<BoundMembers> members = BindPlainMembers(*select, wants_values, may_correlate);
    outer_scope_ = around;
    return members;
  }
  BoundMembers members;
  SLUICE_ASSIGN_OR_RETURN(members.plan, BindSubquery(query, outer));
  for (int i = 0; wants_values && i < members.plan->schema.column_count(); ++i) {
    members.values.push_back(expr::MakeColumn(i, members.plan->schema.column(i).type));
  }
  return members;
}

namespace {

/// A SELECT on its way: what its parts have been bound to.
struct SelectState {
  PlanPtr plan;
  Scope scope;
  Grouping grouping;
  bool grouped = false;
  std::vector<expr::ExprPtr> items;
  std::vector<std::string> names;
  std::vector<TimeAttribute> time_attributes;
};

Status BindGroupKeys(const SelectBody& select, ExpressionBinder* binder, SelectState* state) {
  state->grouping.input = state->plan->schema;
  for (const GroupItem& item : select.group_by) {
    if (item.kind != GroupKind::kExpr) {
      return NotOffered("GROUPING SETS, ROLLUP or CUBE", item.range.begin);
    }
    for (const ExprPtr& key : item.exprs) {
      SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr bound, binder->Bind(*key));
      state->grouping.key_texts.push_back(bound->ToString(state->grouping.input));
      state->grouping.keys.push_back(std::move(bound));
    }
  }
  return {};
}

Status BindStar(const StarExpr& star, SelectState* state) {
  if (state->grouped) {
    return Status::Validation("Expression '*' is not being grouped", star.range.begin);
  }
  SLUICE_ASSIGN_OR_RETURN(const std::vector<const ScopeColumn*> columns,
                          state->scope.Star(star.qualifier));
  for (const ScopeColumn* column : columns) {
    state->items.push_back(column->expression);
    state->names.push_back(column->name);
    state->time_attributes.push_back(column->time_attribute);
  }
  return {};
}

Status BindItems(const SelectBody& select, const std::vector<SqlType>* targets,
                 ExpressionBinder* binder, SelectState* state) {
  for (const SelectItem& item : select.items) {
    if (const StarExpr* star = item.expr->If<StarExpr>()) {
      SLUICE_RETURN_NOT_OK(BindStar(*star, state));
      continue;
    }
    SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr bound, binder->Bind(*item.expr));
    if (bound->type().kind() == TypeKind::kNull) {
      const std::optional<SqlType> target = TargetType(targets, state->items.size());
      if (!target) return Status::Validation("Illegal use of 'NULL'", item.expr->range.begin);
      bound = expr::MakeNull(*target);
    }
    state->time_attributes.push_back(state->grouped ? TimeAttribute::kNone
                                                    : AttributeOf(state->scope, bound));
    state->names.push_back(ItemName(item, state->items.size()));
    state->items.push_back(std::move(bound));
  }
  return {};
}

/// The position that ORDER BY 2 names, the column that its alias names, or -1.
Result<int> OrderPosition(const sql::Expr& node, const SelectState& state) {
  if (const LiteralExpr* literal = node.If<LiteralExpr>();
      literal && literal->literal_kind == LiteralKind::kInteger) {
    const std::optional<int64_t> position = ParseInt64(literal->text);
    if (!position || *position < 1 || *position > static_cast<int64_t>(state.names.size())) {
      return Status::Validation("Ordinal out of range", node.range.begin);
    }
    return static_cast<int>(*position - 1);
  }
  const ColumnRefExpr* column = node.If<ColumnRefExpr>();
  if (column == nullptr || column->path.parts.size() != 1) return -1;
  for (size_t i = 0; i < state.names.size(); ++i) {
    if (state.names[i] == column->path.parts[0].name) return static_cast<int>(i);
  }
  return -1;
}

SortKey MakeSortKey(expr::ExprPtr expression, const OrderItem& item) {
  SortKey key;
  key.expression = std::move(expression);
  key.ascending = !item.descending;
  key.nulls_first = item.nulls_first.value_or(!item.descending);
  return key;
}

Result<PlanPtr> MakeSort(PlanPtr input, std::vector<SortKey> keys, SourcePosition at) {
  for (const SortKey& key : keys) {
    if (key.expression->type().is_nested()) {
      return Status::Validation(
          "ORDER BY does not take values of type " + key.expression->type().ToString(), at);
    }
  }
  auto sort = std::make_shared<SortNode>();
  sort->schema = input->schema;
  sort->time_attributes = input->time_attributes;
  sort->keys = std::move(keys);
  sort->inputs.push_back(std::move(input));
  return PlanPtr(sort);
}

PlanPtr MakeFilter(PlanPtr input, expr::ExprPtr condition) {
  auto filter = std::make_shared<FilterNode>();
  filter->schema = input->schema;
  filter->time_attributes = input->time_attributes;
  filter->condition = std::move(condition);
  filter->inputs.push_back(std::move(input));
  return filter;
}

PlanPtr MakeAggregate(PlanPtr input, Grouping grouping) {
  auto aggregate = std::make_shared<AggregateNode>();
  std::vector<Column> columns;
  for (size_t i = 0; i < grouping.keys.size(); ++i) {
    const expr::ExprPtr& key = grouping.keys[i];
    const bool plain = key->kind() == expr::ExprKind::kColumn;
    const std::string name =
        plain ? grouping.input.column(static_cast<const expr::ColumnExpr&>(*key).index()).name
              : "$g" + std::to_string(i);
    columns.push_back({name, key->type()});
  }
  for (size_t i = 0; i < grouping.calls.size(); ++i) {
    columns.push_back({"$f" + std::to_string(grouping.keys.size() + i), grouping.calls[i].type});
  }
  aggregate->schema = Schema(std::move(columns));
  aggregate->time_attributes.resize(static_cast<size_t>(aggregate->schema.column_count()),
                                    TimeAttribute::kNone);
  aggregate->keys = std::move(grouping.keys);
  aggregate->calls = std::move(grouping.calls);
  aggregate->inputs.push_back(std::move(input));
  return aggregate;
}

PlanPtr MakeDistinct(PlanPtr input) {
  Grouping grouping;
  grouping.input = input->schema;
  for (int i = 0; i < input->schema.column_count(); ++i) {
    grouping.keys.push_back(expr::MakeColumn(i, input->schema.column(i).type));
  }
  return MakeAggregate(std::move(input), std::move(grouping));
}

}  // namespace

Result<PlanPtr> QueryBinder::BindSelect(const SelectBody& select, const Query* order_source,
                                        const std::vector<SqlType>* targets) {
  SLUICE_RETURN_NOT_OK(CheckHints(select.hints));
  if (!select.windows.empty()) return NotOffered("WINDOW", select.windows[0].name.range.begin);
  if (select.qualify) return NotOffered("QUALIFY", select.qualify->range.begin);
  SelectState state;
  if (select.from) {
    SLUICE_ASSIGN_OR_RETURN(BoundFrom from, BindFrom(*select.from));
    state.plan = std::move(from.plan);
    state.scope = std::move(from.scope);
  } else {
    state.plan = MakeSingleRow();
  }
  ExpressionBinder binder(state.scope, context_.session_zone);
  SubqueryBinder subqueries(this, &state.plan, &state.scope, &state.grouping);
  binder.UseHost(&subqueries);
  if (select.where) {
    if (ContainsAggregate(*select.where)) {
      return Status::Validation("Aggregate expression is illegal in WHERE clause",
                                select.where->range.begin);
    }
    SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr condition, binder.BindCondition(*select.where, "WHERE"));
    state.plan = MakeFilter(state.plan, std::move(condition));
  }
  state.grouped = select.has_group_by || select.having != nullptr;
  for (const SelectItem& item : select.items)
    state.grouped = state.grouped || ContainsAggregate(*item.expr);
  if (state.grouped) {
    SLUICE_RETURN_NOT_OK(BindGroupKeys(select, &binder, &state));
    binder.UseGrouping(&state.grouping);
  }
  expr::ExprPtr having;
  if (select.having) {
    SLUICE_ASSIGN_OR_RETURN(having, binder.BindCondition(*select.having, "HAVING"));
  }
  SLUICE_RETURN_NOT_OK(BindItems(select, targets, &binder, &state));
  const size_t visible = state.items.size();

  std::vector<std::pair<size_t, const OrderItem*>> order;  // Output column and item.
  if (order_source != nullptr) {
    for (const OrderItem& item : order_source->order_by) {
      SLUICE_ASSIGN_OR_RETURN(const int position, OrderPosition(*item.expr, state));
      if (position >= 0) {
        order.emplace_back(static_cast<size_t>(position), &item);
        continue;
      }
      SLUICE_ASSIGN_OR_RETURN(expr::ExprPtr key, binder.Bind(*item.expr));
      order.emplace_back(state.items.size(), &item);
      state.time_attributes.push_back(state.grouped ? TimeAttribute::kNone
                                                    : AttributeOf(state.scope, key));
      state.names.push_back("$order" + std::to_string(state.items.size()));
      state.items.push_back(std::move(key));
    }
  }
  if (select.distinct && state.items.size() > visible) {
    return Status::Validation(
        "Expression of ORDER BY is not in the select clause of SELECT DISTINCT",
        order_source->order_by[0].expr->range.begin);
  }
  if (state.grouped) {
    state.plan =
        subqueries.AddPending(MakeAggregate(std::move(state.plan), std::move(state.grouping)));
    for (expr::ExprPtr& item : state.items) item = subqueries.Settled(item);
    if (having) having = subqueries.Settled(having);
  }
  if (having) state.plan = MakeFilter(state.plan, std::move(having));
  TellApart(&state.names);
  state.plan = MakeProject(state.plan, std::move(state.items), state.names, state.time_attributes);
  if (select.distinct) state.plan = MakeDistinct(state.plan);
  if (order.empty()) return state.plan;

  std::vector<SortKey> keys;
  for (const auto& [column, item] : order) {
    keys.push_back(
        MakeSortKey(expr::MakeColumn(static_cast<int>(column),
                                     state.plan->schema.column(static_cast<int>(column)).type),
                    *item));
  }
  SLUICE_ASSIGN_OR_RETURN(PlanPtr sorted, MakeSort(state.plan, std::move(keys),
                                                   order_source->order_by[0].expr->range.begin));
  if (static_cast<size_t>(sorted->schema.column_count()) == visible) return sorted;
  std::vector<expr::ExprPtr> kept;
  std::vector<std::string> names;
  for (size_t i = 0; i < visible; ++i) {
    const Column& column = sorted->schema.column(static_cast<int>(i));
    kept.push_back(expr::MakeColumn(static_cast<int>(i), column.type));
    names.push_back(column.name);
  }
  std::vector<TimeAttribute> attributes(
      sorted->time_attributes.begin(),
      sorted->time_attributes.begin() + static_cast<std::ptrdiff_t>(visible));
  return MakeProject(sorted, std::move(kept), std::move(names), std::move(attributes));
}

Result<QueryBinder::BoundMembers> QueryBinder::BindPlainMembers(const SelectBody& select,
                                                                bool wants_values,
                                                                bool may_correlate) {
  SLUICE_RETURN_NOT_OK(CheckHints(select.hints));
  SelectState state;
  SLUICE_ASSIGN_OR_RETURN(BoundFrom from, BindFrom(*select.from));
  state.plan = std::move(from.plan);
  state.scope = std::move(from.scope);
  ExpressionBinder binder(state.scope, context_.session_zone);
  SubqueryBinder subqueries(this, &state.plan, &state.scope, &state.grouping);
  binder.UseHost(&subqueries);
  BoundMembers members;
  if (select.where) {
    subqueries.AllowOuter(may_correlate);
    SLUICE_ASSIGN_OR_RETURN(const expr::ExprPtr condition,
                            binder.BindCondition(*select.where, "WHERE"));
    subqueries.AllowOuter(false);
    for (const expr::ExprPtr& conjunct : expr::SplitConjuncts(condition)) {
      const std::vector<int> used = expr::UsedColumns(*conjunct);
      if (!used.empty() && used.back() >= kOuterColumns) {
        members.conditions.push_back(conjunct);
      } else {
        state.plan = MakeFilter(state.plan, conjunct);
      }
    }
  }
  // Bound also where nobody wants the values: what is wrong in them is an error all the same.
  SLUICE_RETURN_NOT_OK(BindItems(select, nullptr, &binder, &state));
  if (wants_values) members.values = std::move(state.items);
  members.plan = std::move(state.plan);
  return members;
}

Result<int64_t> QueryBinder::BindRowCount(const sql::Expr& node, std::string_view clause) {
  const LiteralExpr* literal = node.If<LiteralExpr>();
  const std::optional<int64_t> count = literal && literal->literal_kind == LiteralKind::kInteger
                                           ? ParseInt64(literal->text)
                                           : std::nullopt;
  if (!count)
    return Status::Validation(std::string(clause) + " takes a whole number.", node.range.begin);
  return *count;
}

Result<PlanPtr> QueryBinder::BindOrderAndLimit(PlanPtr plan, const Query& query, bool sorted) {
  if (!query.order_by.empty() && !sorted) {
    SelectState output;
    output.plan = plan;
    output.scope = Scope::Over(*plan, {});
    for (const Column& column : plan->schema.columns()) output.names.push_back(column.name);
    ExpressionBinder binder(output.scope, context_.session_zone);
    std::vector<SortKey> keys;
    for (const OrderItem& item : query.order_by) {
      SLUICE_ASSIGN_OR_RETURN(const int position, OrderPosition(*item.expr, output));
      expr::ExprPtr key;
      if (position >= 0) {
        key = expr::MakeColumn(position, plan->schema.column(position).type);
      } else {
        SLUICE_ASSIGN_OR_RETURN(key, binder.Bind(*item.expr));
      }
      keys.push_back(MakeSortKey(std::move(key), item));
    }
    SLUICE_ASSIGN_OR_RETURN(plan,
                            MakeSort(plan, std::move(keys), query.order_by[0].expr->range.begin));
  }
  if (!query.limit && !query.offset) return plan;
  auto limit = std::make_shared<LimitNode>();
  if (query.limit) {
    SLUICE_ASSIGN_OR_RETURN(limit->limit, BindRowCount(*query.limit, "LIMIT"));
  }
  if (query.offset) {
    SLUICE_ASSIGN_OR_RETURN(limit->offset, BindRowCount(*query.offset, "OFFSET"));
  }
  limit->schema = plan->schema;
  limit->time_attributes = plan->time_attributes;
  limit->inputs.push_back(std::move(plan));
  return PlanPtr(limit);
}

}  // namespace sluice::sql
