#include "sql/binder/view_expansion.h"

#include <algorithm>
#include <set>
#include <vector>

#include "sql/binder/syntax_walk.h"
#include "sql/syntax/parser.h"
#include "sql/syntax/unparse.h"

namespace sluice::sql {
namespace {

Identifier Name(std::string text) {
  Identifier identifier;
  identifier.name = std::move(text);
  return identifier;
}

/// One item of FROM. An unknown one (a function, UNNEST) has columns that only the binder knows.
struct Relation {
  std::vector<std::string> full_name;  // An alias alone, or catalog, database, table.
  std::string alias;                   // What qualifies its columns; empty: nothing can.
  std::vector<std::string> columns;
  bool known = true;

  bool Has(const std::string& column) const {
    return std::find(columns.begin(), columns.end(), column) != columns.end();
  }
  /// True when the first `count` parts of `path` name this relation.
  bool IsNamedBy(const NamePath& path, size_t count) const {
    if (count > full_name.size()) return false;
    for (size_t i = 0; i < count; ++i) {
      if (full_name[full_name.size() - count + i] != path.parts[i].name) return false;
    }
    return true;
  }
};

struct FromScope {
  std::vector<Relation> relations;
  std::set<std::string> merged;  // Columns of USING: theirs is no single table.
  bool natural = false;
};

/// Rewrites a query in place. Whatever it cannot resolve stays as written; the caller checks the
/// outcome by binding it.
class Expander {
 public:
  /// Without `columns` only tables are qualified.
  Expander(const catalog::CatalogManager& catalogs, bool columns)
      : catalogs_(catalogs), columns_(columns) {}

  /// Returns the names of the query's columns.
  std::vector<std::string> Expand(Query& query) {
    const size_t outside = common_.size();
    for (CommonTable& common : query.with) {
      Relation relation;
      relation.full_name = {common.name.name};
      relation.columns = Expand(*common.query);
      if (!common.columns.empty()) relation.columns = NamesOf(common.columns);
      common_.push_back(std::move(relation));
    }
    std::vector<std::string> names = ExpandBody(*query.body, &query.order_by);
    common_.resize(outside);
    return names;
  }

 private:
  static std::vector<std::string> NamesOf(const std::vector<Identifier>& identifiers) {
    std::vector<std::string> names;
    for (const Identifier& identifier : identifiers) names.push_back(identifier.name);
    return names;
  }

  const Relation* FindCommon(const NamePath& path) const {
    if (path.parts.size() != 1) return nullptr;
    for (size_t i = common_.size(); i-- > 0;) {
      if (common_[i].full_name[0] == path.parts[0].name) return &common_[i];
    }
    return nullptr;
  }

  /// Writes the path of a catalog table out; common tables keep their name.
  Relation ExpandTable(NamePath& path) const {
    if (const Relation* common = FindCommon(path)) return *common;
    Relation relation;
    const auto found = catalogs_.Find(path.Names());
    if (!found.ok() || !*found) {
      relation.known = false;
      return relation;
    }
    const catalog::ObjectPath& full = (*found)->path;
    relation.full_name = {full.catalog, full.database, full.object};
    for (const catalog::TableColumn& column : (*found)->table->columns)
      relation.columns.push_back(column.name);
    path.parts = {Name(full.catalog), Name(full.database), Name(full.object)};
    return relation;
  }

  void ExpandFrom(TableRef& ref, FromScope* scope) {
    if (ref.kind == TableRefKind::kJoin) return ExpandJoin(static_cast<JoinRef&>(ref), scope);
    Relation relation = ExpandItem(ref);
    if (!ref.alias && columns_ && ref.kind == TableRefKind::kTable && relation.known) {
      ref.alias = Name(relation.full_name.back());
    } else if (ref.alias) {
      relation.full_name = {ref.alias->name};
    }
    if (ref.alias) relation.alias = ref.alias->name;
    if (!ref.column_aliases.empty()) {
      relation.columns = NamesOf(ref.column_aliases);
      relation.known = true;
    }
    scope->relations.push_back(std::move(relation));
  }

  Relation ExpandItem(TableRef& ref) {
    Relation relation;
    switch (ref.kind) {
      case TableRefKind::kTable:
        return ExpandTable(static_cast<TableNameRef&>(ref).path);
      case TableRefKind::kSubquery:
        relation.columns = Expand(*static_cast<DerivedTableRef&>(ref).query);
        return relation;
      case TableRefKind::kFunction:
        ExpandExpression(*static_cast<TableFunctionRef&>(ref).call);
        break;
      case TableRefKind::kUnnest:
        for (ExprPtr& argument : static_cast<UnnestRef&>(ref).arguments)
          ExpandExpression(*argument);
        break;
      case TableRefKind::kJoin:
        break;
    }
    relation.known = false;
    return relation;
  }

  void ExpandJoin(JoinRef& join, FromScope* scope) {
    FromScope local;
    ExpandFrom(*join.left, &local);
    ExpandFrom(*join.right, &local);
    for (const Identifier& column : join.using_columns) local.merged.insert(column.name);
    local.natural = local.natural || join.natural;
    if (join.on) {
      scopes_.push_back(&local);
      ExpandExpression(*join.on);
      scopes_.pop_back();
    }
    for (Relation& relation : local.relations) scope->relations.push_back(std::move(relation));
    scope->merged.merge(local.merged);
    scope->natural = scope->natural || local.natural;
  }

  std::vector<std::string> ExpandBody(QueryBody& body, std::vector<OrderItem>* order_by) {
    switch (body.kind) {
      case BodyKind::kSelect:
        return ExpandSelect(static_cast<SelectBody&>(body), order_by);
      case BodyKind::kValues: {
        auto& values = static_cast<ValuesBody&>(body);
        std::vector<std::string> names;
        for (ValuesRow& row : values.rows) {
          for (ExprPtr& value : row.values) ExpandExpression(*value);
        }
        for (size_t i = 0; i < values.rows[0].values.size(); ++i)
          names.push_back("EXPR$" + std::to_string(i));
        return names;
      }
      case BodyKind::kTable:
        return ExpandTable(static_cast<TableBody&>(body).path).columns;
      case BodyKind::kSetOperation: {
        auto& operation = static_cast<SetOperation&>(body);
        std::vector<std::string> names = ExpandBody(*operation.left, nullptr);
        ExpandBody(*operation.right, nullptr);
        return names;
      }
      case BodyKind::kNested:
        return Expand(*static_cast<NestedQuery&>(body).query);
    }
    return {};
  }

  std::vector<std::string> ExpandSelect(SelectBody& select, std::vector<OrderItem>* order_by) {
    FromScope scope;
    if (select.from) ExpandFrom(*select.from, &scope);
    scopes_.push_back(&scope);
    ExpandStars(&select.items, scope);
    std::vector<std::string> names;
    for (size_t i = 0; i < select.items.size(); ++i) {
      SelectItem& item = select.items[i];
      ExpandExpression(*item.expr);
      names.push_back(ItemName(item, i));
    }
    if (select.where) ExpandExpression(*select.where);
    for (GroupItem& group : select.group_by) ExpandGroup(group);
    if (select.having) ExpandExpression(*select.having);
    if (select.qualify) ExpandExpression(*select.qualify);
    if (order_by != nullptr) {
      for (OrderItem& order : *order_by) {
        const auto* column = order.expr->If<ColumnRefExpr>();
        const bool output =
            column != nullptr && column->path.parts.size() == 1 &&
            std::find(names.begin(), names.end(), column->path.parts[0].name) != names.end();
        if (!output) ExpandExpression(*order.expr);
      }
    }
    scopes_.pop_back();
    return names;
  }

  static std::string ItemName(const SelectItem& item, size_t position) {
    if (item.alias) return item.alias->name;
    if (const auto* column = item.expr->If<ColumnRefExpr>()) return column->path.parts.back().name;
    if (const auto* field = item.expr->If<FieldExpr>()) return field->field.name;
    return "EXPR$" + std::to_string(position);
  }

  void ExpandGroup(GroupItem& group) {
    for (ExprPtr& key : group.exprs) ExpandExpression(*key);
    for (GroupItem& child : group.children) ExpandGroup(child);
  }

  void ExpandStars(std::vector<SelectItem>* items, const FromScope& scope) const {
    if (!columns_ || scope.natural || !scope.merged.empty())
      return;  // Which columns fall together is the binder's to know.
    std::vector<SelectItem> expanded;
    for (SelectItem& item : *items) {
      const auto* star = item.expr->If<StarExpr>();
      const bool known = star != nullptr &&
                         std::all_of(scope.relations.begin(), scope.relations.end(),
                                     [](const Relation& r) { return r.known && !r.alias.empty(); });
      if (!known) {
        expanded.push_back(std::move(item));
        continue;
      }
      const NamePath& qualifier = star->qualifier;
      for (const Relation& relation : scope.relations) {
        if (!qualifier.parts.empty() && !relation.IsNamedBy(qualifier, qualifier.parts.size()))
          continue;
        for (const std::string& column : relation.columns) {
          auto reference = std::make_unique<ColumnRefExpr>();
          reference->path.parts = {Name(relation.alias), Name(column)};
          SelectItem one;
          one.expr = std::move(reference);
          expanded.push_back(std::move(one));
        }
      }
    }
    *items = std::move(expanded);
  }

  void ExpandExpression(Expr& node) {
    if (node.kind == ExprKind::kColumnRef && columns_) Qualify(&node.As<ColumnRefExpr>().path);
    if (node.kind == ExprKind::kTableArgument && !node.As<TableArgumentExpr>().query) {
      ExpandTable(node.As<TableArgumentExpr>().table);
    }
    ForEachChild(node, {[this](Expr& child) { ExpandExpression(child); },
                        [this](Query& query) { Expand(query); }});
  }

  void Qualify(NamePath* path) const {
    for (size_t i = scopes_.size(); i-- > 0;) {
      if (QualifyIn(*scopes_[i], path)) return;
    }
  }

  /// False when the scope does not know the name.
  static bool QualifyIn(const FromScope& scope, NamePath* path) {
    for (size_t count = 1; count < path->parts.size() && count <= 3; ++count) {
      for (const Relation& relation : scope.relations) {
        if (!relation.IsNamedBy(*path, count) || relation.alias.empty()) continue;
        if (relation.known && !relation.Has(path->parts[count].name)) continue;
        path->parts.erase(path->parts.begin(),
                          path->parts.begin() + static_cast<std::ptrdiff_t>(count));
        path->parts.insert(path->parts.begin(), Name(relation.alias));
        return true;
      }
    }
    const std::string& column = path->parts[0].name;
    const Relation* owner = nullptr;
    for (const Relation& relation : scope.relations) {
      if (!relation.Has(column)) continue;
      if (owner != nullptr) return true;  // Of USING or NATURAL: the bare name is the right one.
      owner = &relation;
    }
    if (owner == nullptr) return false;
    if (owner->alias.empty() || scope.merged.contains(column)) return true;
    path->parts.insert(path->parts.begin(), Name(owner->alias));
    return true;
  }

  const catalog::CatalogManager& catalogs_;
  const bool columns_;
  std::vector<Relation> common_;          // Common tables in sight, innermost last.
  std::vector<const FromScope*> scopes_;  // Innermost last.
};

}  // namespace

Result<std::string> ExpandedQueryText(const Query& query, const BindContext& context) {
  Binder binder(context);
  SLUICE_ASSIGN_OR_RETURN(const PlanPtr wanted, binder.BindQuery(query));
  Status failure;
  // Two tables of one name, told apart by their database, defeat the short aliases: then the tables
  // alone are qualified.
  for (const bool columns : {true, false}) {
    SLUICE_ASSIGN_OR_RETURN(QueryPtr copy, ParseQuery(ToSql(query)));
    Expander(*context.catalogs, columns).Expand(*copy);
    std::string text = ToSqlLines(*copy);
    Result<QueryPtr> again = ParseQuery(text);
    if (!again.ok())
      return Status::Internal("the expanded text of a view does not parse: " +
                              again.status().message());
    const Result<PlanPtr> plan = binder.BindQuery(**again);
    if (plan.ok() && (*plan)->schema == wanted->schema) return text;
    failure = plan.status();
  }
  return Status::Unsupported(
             "This query cannot be stored as a view: give its tables aliases of their own." +
             (failure.ok() ? std::string() : " (" + failure.message() + ")"))
      .At(query.range.begin);
}

}  // namespace sluice::sql
