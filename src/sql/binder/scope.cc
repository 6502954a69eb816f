#include "sql/binder/scope.h"

#include "common/nearest_name.h"
#include "expr/builder.h"

namespace sluice::sql {
namespace {

/// True when the last parts of `name` are the first `count` parts of `path`: `t`, `db.t` and
/// `c.db.t` all name c.db.t.
bool NamesRelation(const ScopeRelation& relation, const NamePath& path, size_t count) {
  if (count > relation.name.size()) return false;
  const size_t skip = relation.name.size() - count;
  for (size_t i = 0; i < count; ++i) {
    if (relation.name[skip + i] != path.parts[i].name) return false;
  }
  return true;
}

}  // namespace

Scope Scope::Over(const PlanNode& plan, std::vector<std::string> relation_name) {
  ScopeRelation relation;
  relation.name = std::move(relation_name);
  for (int i = 0; i < plan.schema.column_count(); ++i) {
    const Column& column = plan.schema.column(i);
    relation.columns.push_back({column.name, column.type,
                                plan.time_attributes[static_cast<size_t>(i)],
                                expr::MakeColumn(i, column.type)});
  }
  Scope scope;
  scope.Add(std::move(relation));
  return scope;
}

Scope Scope::Join(const Scope& left, const Scope& right, int shift) {
  Scope joined = left;
  for (ScopeRelation relation : right.relations_) {
    for (ScopeColumn& column : relation.columns) {
      std::vector<int> mapping;
      for (const int used : expr::UsedColumns(*column.expression)) {
        if (static_cast<int>(mapping.size()) <= used)
          mapping.resize(static_cast<size_t>(used) + 1, -1);
        mapping[static_cast<size_t>(used)] = used + shift;
      }
      column.expression = expr::RemapColumns(column.expression, mapping);
    }
    joined.Add(std::move(relation));
  }
  return joined;
}

std::vector<Scope::Match> Scope::FindQualified(const NamePath& path) const {
  std::vector<Match> matches;
  for (size_t qualifier = 1; qualifier < path.parts.size() && qualifier <= 3; ++qualifier) {
    for (const ScopeRelation& relation : relations_) {
      if (!NamesRelation(relation, path, qualifier)) continue;
      for (const ScopeColumn& column : relation.columns) {
        if (column.name == path.parts[qualifier].name) matches.push_back({&column, qualifier + 1});
      }
    }
    if (!matches.empty()) break;
  }
  return matches;
}

std::vector<Scope::Match> Scope::FindPlain(const NamePath& path) const {
  std::vector<Match> matches;
  for (const ScopeRelation& relation : relations_) {
    for (const ScopeColumn& column : relation.columns) {
      if (!column.needs_qualifier && column.name == path.parts[0].name)
        matches.push_back({&column, 1});
    }
  }
  return matches;
}

Status Scope::NotFound(const NamePath& path) const {
  const std::string& wanted = path.parts.back().name;
  for (const ScopeRelation& relation : relations_) {
    if (path.parts.size() < 2 || !NamesRelation(relation, path, path.parts.size() - 1)) continue;
    std::vector<std::string> known;
    for (const ScopeColumn& column : relation.columns) known.push_back(column.name);
    return Status::Validation("Column '" + wanted + "' not found in table '" +
                                  path.parts[path.parts.size() - 2].name + "'." +
                                  DidYouMean(wanted, known),
                              path.parts.back().range.begin);
  }
  if (path.parts.size() > 1) {
    std::vector<std::string> known;
    for (const ScopeRelation& relation : relations_) {
      if (!relation.name.empty()) known.push_back(relation.name.back());
    }
    return Status::Validation(
        "Table '" + path.parts[0].name + "' not found." + DidYouMean(path.parts[0].name, known),
        path.range.begin);
  }
  std::vector<std::string> known;
  for (const ScopeRelation& relation : relations_) {
    for (const ScopeColumn& column : relation.columns) known.push_back(column.name);
  }
  const std::optional<std::string> nearest = NearestName(wanted, known);
  return Status::Validation("Column '" + wanted + "' not found in any table" +
                                (nearest ? "; did you mean '" + *nearest + "'?" : std::string(".")),
                            path.range.begin);
}

Result<expr::ExprPtr> Scope::Resolve(const NamePath& path) const {
  std::vector<Match> matches = FindQualified(path);
  if (matches.empty()) matches = FindPlain(path);
  if (matches.empty()) return NotFound(path);
  if (matches.size() > 1) {
    return Status::Validation(
        "Column '" + path.parts[matches[0].next_part - 1].name + "' is ambiguous",
        path.range.begin);
  }
  expr::ExprPtr value = matches[0].column->expression;
  for (size_t i = matches[0].next_part; i < path.parts.size(); ++i) {
    Result<expr::ExprPtr> field = expr::MakeField(value, path.parts[i].name);
    if (!field.ok()) return field.status().At(path.parts[i].range.begin);
    value = *std::move(field);
  }
  return value;
}

Result<std::vector<const ScopeColumn*>> Scope::Star(const NamePath& qualifier) const {
  std::vector<const ScopeColumn*> columns;
  bool found = qualifier.parts.empty();
  for (const ScopeRelation& relation : relations_) {
    if (!qualifier.parts.empty() && !NamesRelation(relation, qualifier, qualifier.parts.size()))
      continue;
    found = true;
    for (const ScopeColumn& column : relation.columns) {
      if (column.in_star || !qualifier.parts.empty()) columns.push_back(&column);
    }
  }
  if (!found) {
    return Status::Validation("Table '" + qualifier.ToString() + "' not found.",
                              qualifier.range.begin);
  }
  return columns;
}

TimeAttribute Scope::TimeAttributeOf(const expr::Expr& expression) const {
  if (expression.kind() != expr::ExprKind::kColumn) return TimeAttribute::kNone;
  const int index = static_cast<const expr::ColumnExpr&>(expression).index();
  for (const ScopeRelation& relation : relations_) {
    for (const ScopeColumn& column : relation.columns) {
      if (column.expression->kind() != expr::ExprKind::kColumn) continue;
      if (static_cast<const expr::ColumnExpr&>(*column.expression).index() == index)
        return column.time_attribute;
    }
  }
  return TimeAttribute::kNone;
}

}  // namespace sluice::sql
