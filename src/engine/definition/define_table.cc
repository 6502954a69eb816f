// CREATE TABLE, ALTER TABLE, DROP TABLE.
#include <algorithm>

#include "engine/definition/definition.h"
#include "engine/definition/statements.h"
#include "sql/physical/table_access.h"

namespace sluice::engine {
namespace {

/// Flink says which statement failed around the reason.
Status InCreate(Status status, const catalog::ObjectPath& path, const sql::SourceRange& range) {
  return Located(std::move(status), range)
      .WithContext("Could not execute CreateTable in path " + path.ToQuotedString());
}

/// True for failures that a later LIKE or hint can mend: options that are not there yet.
bool IsIncomplete(const Status& status) {
  return status.message().starts_with("One or more required options are missing") ||
         status.message().starts_with("Could not find required");
}

bool Mentions(const std::string& message, const std::string& key) {
  for (size_t at = message.find(key); at != std::string::npos; at = message.find(key, at + 1)) {
    const char before = at == 0 ? '\n' : message[at - 1];
    const char after = at + key.size() == message.size() ? '\n' : message[at + key.size()];
    if ((before == '\'' && after == '\'') || (before == '\n' && after == '\n')) return true;
  }
  return false;
}

Status MakeTable(const sql::CreateTable& statement, const catalog::ObjectPath& path,
                 catalog::CatalogTable table, SessionState* state) {
  SLUICE_RETURN_NOT_OK(CheckDefinedOptions(path, table, statement.options, *state));
  const Result<bool> made =
      state->catalogs.CreateTable(path, std::move(table), statement.if_not_exists);
  return made.ok() ? Status() : InCreate(made.status(), path, statement.table.range);
}

/// CREATE OR REPLACE TABLE … AS, REPLACE TABLE … AS.
Status ReplaceTable(const sql::CreateTable& statement, const catalog::ObjectPath& path,
                    catalog::CatalogTable table, SessionState* state) {
  SLUICE_ASSIGN_OR_RETURN(const std::optional<catalog::CatalogManager::Found> found,
                          state->catalogs.Find(statement.table.Names()));
  if (!found) {
    if (statement.mode == sql::CreateMode::kCreateOrReplace)
      return MakeTable(statement, path, std::move(table), state);
    return Status::Validation("The table " + path.ToQuotedString() +
                                  " to be replaced doesn't exist. You can try to use CREATE TABLE "
                                  "AS statement or CREATE OR "
                                  "REPLACE TABLE AS statement.",
                              statement.table.range.begin);
  }
  if (found->table->kind != catalog::TableKind::kTable || found->table->temporary) {
    return Status::Validation(path.ToQuotedString() + " is a " +
                                  (found->table->temporary ? "temporary object" : "view") +
                                  " and cannot be replaced.",
                              statement.table.range.begin);
  }
  SLUICE_RETURN_NOT_OK(CheckDefinedOptions(path, table, statement.options, *state));
  return Located(state->catalogs.AlterTable(path, std::move(table)), statement.table.range);
}

Status RenameTable(const sql::AlterTable& statement, const catalog::ObjectPath& path,
                   SessionState* state) {
  Result<catalog::ObjectPath> target = state->catalogs.Qualify(statement.new_name.Names());
  if (!target.ok()) return Located(target.status(), statement.new_name.range);
  if (statement.new_name.parts.size() > 1 &&
      (target->catalog != path.catalog || target->database != path.database)) {
    return Status::Validation(
        "RENAME TO keeps a table in its database: " + target->ToString() + " is in another one.",
        statement.new_name.range.begin);
  }
  return Located(state->catalogs.RenameTable(path, target->object), statement.new_name.range);
}

}  // namespace

Status CheckDefinedOptions(const catalog::ObjectPath& path, const catalog::CatalogTable& table,
                           const std::vector<sql::OptionPair>& written, const SessionState& state) {
  SLUICE_ASSIGN_OR_RETURN(const connectors::ConnectorContext context, state.MakeConnectorContext());
  Status status = sql::CheckTableOptions(path, table, context);
  if (status.ok() || IsIncomplete(status)) return {};
  const sql::OptionPair* culprit = nullptr;
  for (const sql::OptionPair& option : written) {
    if (!Mentions(status.message(), option.key)) continue;
    if (culprit == nullptr || option.key.size() > culprit->key.size()) culprit = &option;
  }
  if (culprit == nullptr) {  // An unknown connector is named by its value.
    const auto named =
        std::find_if(written.begin(), written.end(), [&](const sql::OptionPair& option) {
          return !option.value.empty() && Mentions(status.message(), option.value);
        });
    if (named != written.end()) culprit = &*named;
  }
  if (culprit != nullptr) status = Located(std::move(status), culprit->key_range);
  return std::move(status).WithContext("Cannot define the table '" + path.ToString() + "'.");
}

Status ExecuteCreateTable(const sql::CreateTable& statement, SessionState* state) {
  Result<catalog::ObjectPath> path = state->catalogs.Qualify(statement.table.Names());
  if (!path.ok()) return Located(path.status(), statement.table.range);
  SLUICE_ASSIGN_OR_RETURN(const sql::BindContext bind, state->MakeBindContext());
  Result<catalog::CatalogTable> table = sql::Binder(bind).BindCreateTable(statement, nullptr);
  if (!table.ok()) return Located(table.status(), statement.table.range);
  return MakeTable(statement, *path, *std::move(table), state);
}

Result<catalog::ObjectPath> CreateTableForQuery(const sql::CreateTable& statement,
                                                SessionState* state) {
  Result<catalog::ObjectPath> path = state->catalogs.Qualify(statement.table.Names());
  if (!path.ok()) return Located(path.status(), statement.table.range);
  if (statement.temporary) {
    return Status::Validation(
        "CREATE TABLE AS SELECT syntax does not support to create temporary table yet.",
        statement.table.range.begin);
  }
  if (statement.like) {
    return Status::Validation(
        "CREATE TABLE AS SELECT syntax does not support LIKE together with it.",
        statement.like->range.begin);
  }
  SLUICE_ASSIGN_OR_RETURN(const sql::BindContext bind, state->MakeBindContext());
  sql::Binder binder(bind);
  SLUICE_ASSIGN_OR_RETURN(const sql::PlanPtr query, binder.BindQuery(*statement.query));
  Result<catalog::CatalogTable> table = binder.BindCreateTable(statement, &query->schema);
  if (!table.ok()) return Located(table.status(), statement.table.range);
  SLUICE_RETURN_NOT_OK(statement.mode == sql::CreateMode::kCreate
                           ? MakeTable(statement, *path, *std::move(table), state)
                           : ReplaceTable(statement, *path, *std::move(table), state));
  return path;
}

Status ExecuteAlterTable(const sql::AlterTable& statement, SessionState* state) {
  Result<catalog::ObjectPath> path = state->catalogs.Qualify(statement.table.Names());
  if (!path.ok()) return Located(path.status(), statement.table.range);
  SLUICE_ASSIGN_OR_RETURN(const std::optional<catalog::CatalogManager::Found> found,
                          state->catalogs.Find(statement.table.Names()));
  if (!found && statement.if_exists) return {};
  if (!found || found->table->temporary) {
    const Status nearest = state->catalogs.Get(statement.table.Names()).status();
    const size_t hint = nearest.message().find(" Did you mean");
    return Status::Validation(
        "Table " + path->ToQuotedString() + " doesn't exist or is a temporary table." +
            (hint == std::string::npos ? std::string() : nearest.message().substr(hint)),
        statement.table.range.begin);
  }
  if (found->table->kind == catalog::TableKind::kView) {
    return Status::Validation("ALTER TABLE for a view is not allowed: " + path->ToQuotedString() +
                                  " is a view. Use ALTER VIEW.",
                              statement.table.range.begin);
  }
  switch (statement.action) {
    case sql::AlterTableKind::kRenameTable:
      return RenameTable(statement, *path, state);
    case sql::AlterTableKind::kAddPartitions:
    case sql::AlterTableKind::kDropPartitions:
      return AlterPartitions(statement, *found, *state);
    default:
      break;
  }
  SLUICE_ASSIGN_OR_RETURN(const sql::BindContext bind, state->MakeBindContext());
  Result<catalog::CatalogTable> altered =
      sql::Binder(bind).BindAlterTable(statement, *path, *found->table);
  if (!altered.ok()) return Located(altered.status(), statement.table.range);
  SLUICE_RETURN_NOT_OK(CheckDefinedOptions(*path, *altered, statement.options, *state));
  return Located(state->catalogs.AlterTable(*path, *std::move(altered)), statement.table.range);
}

Status ExecuteDropTable(const sql::DropTable& statement, SessionState* state) {
  return Located(state->catalogs.DropTable(statement.table.Names(), catalog::TableKind::kTable,
                                           statement.temporary, statement.if_exists),
                 statement.table.range);
}

}  // namespace sluice::engine
