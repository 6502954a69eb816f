// SHOW: listings of catalogs, databases, tables, functions and the like.
#include <algorithm>

#include "engine/definition/like_pattern.h"
#include "engine/definition/statements.h"
#include "expr/registry.h"

namespace sluice::engine {
namespace {

bool Keeps(const sql::ShowStatement& statement, const std::string& name) {
  if (!statement.like) return true;
  return MatchesPattern(name, *statement.like, statement.ilike) != statement.not_like;
}

/// One column of those names that the statement's pattern takes.
TextTable Listing(const sql::ShowStatement& statement, std::string column,
                  const std::vector<std::string>& names) {
  TextTable table{{std::move(column)}, {}};
  for (const std::string& name : names) {
    if (Keeps(statement, name)) table.rows.push_back({name});
  }
  return table;
}

std::vector<std::string> FunctionNames() {
  std::vector<std::string> names;
  for (const expr::ScalarFunction* function : expr::AllFunctions()) {
    if (!function->is_operator) names.emplace_back(function->name);
  }
  for (const std::string_view name : expr::AggregateFunctionNames()) names.emplace_back(name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<TextTable> ShowTables(const sql::ShowStatement& statement, const SessionState& state,
                             bool views_only) {
  const std::vector<std::string> database =
      statement.object ? statement.object->Names() : std::vector<std::string>();
  if (database.size() > 2) {
    return Status::Validation(
        "A database name has at most two parts (catalog.database): " + statement.object->ToString(),
        statement.object->range.begin);
  }
  const Result<std::vector<std::string>> names = state.catalogs.ListTables(database, views_only);
  if (!names.ok()) {
    return Located(names.status(), statement.object ? statement.object->range : statement.range);
  }
  return Listing(statement, views_only ? "view name" : "table name", *names);
}

Result<TextTable> ShowDatabases(const sql::ShowStatement& statement, const SessionState& state) {
  std::optional<std::string> catalog;
  if (statement.object) catalog = statement.object->parts.back().name;
  const Result<std::vector<std::string>> names = state.catalogs.ListDatabases(catalog);
  if (!names.ok()) {
    return Located(names.status(), statement.object ? statement.object->range : statement.range);
  }
  return Listing(statement, "database name", *names);
}

}  // namespace

Result<TextTable> ExecuteShow(const sql::ShowStatement& statement, const SessionState& state) {
  switch (statement.what) {
    case sql::ShowKind::kCatalogs:
      return Listing(statement, "catalog name", state.catalogs.ListCatalogs());
    case sql::ShowKind::kDatabases:
      return ShowDatabases(statement, state);
    case sql::ShowKind::kTables:
    case sql::ShowKind::kViews:
      return ShowTables(statement, state, statement.what == sql::ShowKind::kViews);
    case sql::ShowKind::kColumns:
      return DescribeColumns(*statement.object, state,
                             [&](const std::string& name) { return Keeps(statement, name); });
    case sql::ShowKind::kPartitions:
      return ShowPartitions(statement, state);
    case sql::ShowKind::kFunctions:
      return Listing(statement, "function name", FunctionNames());
    case sql::ShowKind::kUserFunctions:
      return Listing(statement, "function name", {});
    case sql::ShowKind::kModules:
      return Listing(statement, "module name", {"core"});
    case sql::ShowKind::kFullModules:
      return TextTable{{"module name", "used"}, {{"core", "TRUE"}}};
    case sql::ShowKind::kJars:
      return TextTable{{"jars"}, {}};
    case sql::ShowKind::kJobs:
      return ShowJobs(state);
    case sql::ShowKind::kCurrentCatalog:
      return TextTable{{"current catalog name"}, {{state.catalogs.current_catalog()}}};
    case sql::ShowKind::kCurrentDatabase:
      return TextTable{{"current database name"}, {{state.catalogs.current_database()}}};
    case sql::ShowKind::kCreateTable:
    case sql::ShowKind::kCreateView:
    case sql::ShowKind::kCreateCatalog:
      return ShowCreate(statement, state);
  }
  return Status::Internal("unknown SHOW statement");
}

}  // namespace sluice::engine
