// CREATE, ALTER and DROP VIEW.
#include "engine/definition/statements.h"
#include "sql/binder/view_references.h"

namespace sluice::engine {
namespace {

/// Makes the view of `query` and refuses one that would read itself.
Result<catalog::CatalogTable> MakeView(
    const catalog::ObjectPath& path, const sql::Query& query,
    const std::vector<sql::Identifier>& columns,
    const std::vector<std::optional<std::string>>& column_comments,
    std::optional<std::string> comment, const SessionState& state) {
  SLUICE_ASSIGN_OR_RETURN(const sql::BindContext bind, state.MakeBindContext());
  SLUICE_ASSIGN_OR_RETURN(
      catalog::CatalogTable view,
      sql::Binder(bind).BindView(query, columns, column_comments, std::move(comment)));
  SLUICE_ASSIGN_OR_RETURN(const bool reads_itself, sql::ViewReads(view, path, state.catalogs));
  if (reads_itself) {
    return Status::Validation("View " + path.ToQuotedString() + " would read itself.",
                              query.range.begin);
  }
  return view;
}

}  // namespace

Status ExecuteCreateView(const sql::CreateView& statement, SessionState* state) {
  Result<catalog::ObjectPath> path = state->catalogs.Qualify(statement.view.Names());
  if (!path.ok()) return Located(path.status(), statement.view.range);
  Result<catalog::CatalogTable> view =
      MakeView(*path, *statement.query, statement.columns, statement.column_comments,
               statement.comment, *state);
  if (!view.ok()) return Located(view.status(), statement.view.range);
  view->temporary = statement.temporary;
  if (statement.or_replace) {
    SLUICE_ASSIGN_OR_RETURN(const std::optional<catalog::CatalogManager::Found> found,
                            state->catalogs.Find(statement.view.Names()));
    if (found && found->table->kind == catalog::TableKind::kView &&
        found->table->temporary == statement.temporary) {
      return Located(state->catalogs.AlterTable(*path, *std::move(view)), statement.view.range);
    }
  }
  const Result<bool> made =
      state->catalogs.CreateTable(*path, *std::move(view), statement.if_not_exists);
  if (made.ok()) return {};
  return Located(made.status(), statement.view.range)
      .WithContext("Could not execute CreateTable in path " + path->ToQuotedString());
}

Status ExecuteAlterView(const sql::AlterView& statement, SessionState* state) {
  SLUICE_ASSIGN_OR_RETURN(const catalog::CatalogManager::Found found,
                          FindObject(statement.view, *state, "View '", "' doesn't exist."));
  if (found.table->kind != catalog::TableKind::kView) {
    return Status::Validation("ALTER VIEW for a table is not allowed: " +
                                  found.path.ToQuotedString() + " is a table. Use ALTER TABLE.",
                              statement.view.range.begin);
  }
  if (!statement.new_name) {
    SLUICE_ASSIGN_OR_RETURN(catalog::CatalogTable view, MakeView(found.path, *statement.query, {},
                                                                 {}, found.table->comment, *state));
    view.temporary = found.table->temporary;
    return Located(state->catalogs.AlterTable(found.path, std::move(view)), statement.view.range);
  }
  const Result<catalog::ObjectPath> target = state->catalogs.Qualify(statement.new_name->Names());
  if (!target.ok()) return Located(target.status(), statement.new_name->range);
  if (statement.new_name->parts.size() > 1 &&
      (target->catalog != found.path.catalog || target->database != found.path.database)) {
    return Status::Validation(
        "RENAME TO keeps a view in its database: " + target->ToString() + " is in another one.",
        statement.new_name->range.begin);
  }
  return Located(state->catalogs.RenameTable(found.path, target->object),
                 statement.new_name->range);
}

Status ExecuteDropView(const sql::DropView& statement, SessionState* state) {
  return Located(state->catalogs.DropTable(statement.view.Names(), catalog::TableKind::kView,
                                           statement.temporary, statement.if_exists),
                 statement.view.range);
}

}  // namespace sluice::engine
