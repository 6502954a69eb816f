// Catalogs and databases: CREATE, ALTER, DROP, USE.
#include "common/nearest_name.h"
#include "engine/definition/statements.h"

namespace sluice::engine {
namespace {

OptionMap ToMap(const std::vector<sql::OptionPair>& pairs) {
  OptionMap options;
  for (const sql::OptionPair& pair : pairs) options[pair.key] = pair.value;
  return options;
}

Status AlterCatalog(const sql::AlterCatalog& statement, SessionState* state) {
  Result<const catalog::CatalogManager::CatalogInfo*> found =
      state->catalogs.FindCatalog(statement.name.name);
  if (!found.ok()) return Located(found.status(), statement.name.range);
  OptionMap options = (*found)->options;
  std::optional<std::string> comment = (*found)->comment;
  switch (statement.action) {
    case sql::AlterOptionsKind::kSet:
      for (const sql::OptionPair& pair : statement.options) {
        if (pair.key == "type" || pair.key == "default-database") {
          return Status::Validation("The option '" + pair.key + "' of a catalog cannot be changed.",
                                    pair.key_range.begin);
        }
        options[pair.key] = pair.value;
      }
      break;
    case sql::AlterOptionsKind::kReset:
      if (statement.keys.empty())
        return Status::Validation("ALTER CATALOG RESET does not support empty key");
      for (const std::string& key : statement.keys) {
        if (key == "type")
          return Status::Validation("ALTER CATALOG RESET does not support changing 'type'");
        options.erase(key);
      }
      break;
    case sql::AlterOptionsKind::kComment:
      comment = statement.comment;
      break;
  }
  return state->catalogs.AlterCatalog(statement.name.name, std::move(options), std::move(comment));
}

/// Fails for more parts than catalog.database.
Status CheckDatabasePath(const sql::NamePath& name) {
  if (name.parts.size() <= 2) return {};
  return Status::Validation(
      "A database name has at most two parts (catalog.database): " + name.ToString(),
      name.range.begin);
}

Status CheckDatabaseExists(const sql::NamePath& name, const SessionState& state) {
  const std::string catalog =
      name.parts.size() == 2 ? name.parts[0].name : state.catalogs.current_catalog();
  SLUICE_ASSIGN_OR_RETURN(const std::vector<std::string> known,
                          state.catalogs.ListDatabases(catalog));
  const std::string& database = name.parts.back().name;
  for (const std::string& other : known) {
    if (other == database) return {};
  }
  return Status::Validation("A database with name [" + database +
                            "] does not exist in the catalog: [" + catalog + "]." +
                            DidYouMean(database, known));
}

Status AlterDatabase(const sql::AlterDatabase& statement, SessionState* state) {
  SLUICE_RETURN_NOT_OK(CheckDatabasePath(statement.name));
  SLUICE_RETURN_NOT_OK(CheckDatabaseExists(statement.name, *state));
  return state->catalogs.AlterDatabase(statement.name.Names(), ToMap(statement.options));
}

}  // namespace

Status ExecuteCatalogStatement(const sql::Statement& statement, SessionState* state) {
  catalog::CatalogManager& catalogs = state->catalogs;
  switch (statement.kind) {
    case sql::StatementKind::kCreateCatalog: {
      const auto& create = statement.As<sql::CreateCatalog>();
      return Located(catalogs.CreateCatalog(create.name.name, create.comment, ToMap(create.options),
                                            create.if_not_exists),
                     create.name.range);
    }
    case sql::StatementKind::kAlterCatalog: {
      const auto& alter = statement.As<sql::AlterCatalog>();
      return Located(AlterCatalog(alter, state), alter.name.range);
    }
    case sql::StatementKind::kDropCatalog: {
      const auto& drop = statement.As<sql::DropCatalog>();
      return Located(catalogs.DropCatalog(drop.name.name, drop.if_exists), drop.name.range);
    }
    case sql::StatementKind::kUseCatalog: {
      const auto& use = statement.As<sql::UseCatalog>();
      return Located(catalogs.UseCatalog(use.name.name), use.name.range);
    }
    case sql::StatementKind::kCreateDatabase: {
      const auto& create = statement.As<sql::CreateDatabase>();
      SLUICE_RETURN_NOT_OK(CheckDatabasePath(create.name));
      return Located(
          catalogs.CreateDatabase(create.name.Names(), {create.comment, ToMap(create.options)},
                                  create.if_not_exists),
          create.name.range);
    }
    case sql::StatementKind::kAlterDatabase: {
      const auto& alter = statement.As<sql::AlterDatabase>();
      return Located(AlterDatabase(alter, state), alter.name.range);
    }
    case sql::StatementKind::kDropDatabase: {
      const auto& drop = statement.As<sql::DropDatabase>();
      SLUICE_RETURN_NOT_OK(CheckDatabasePath(drop.name));
      return Located(catalogs.DropDatabase(drop.name.Names(), drop.if_exists, drop.cascade),
                     drop.name.range);
    }
    case sql::StatementKind::kUseDatabase: {
      const auto& use = statement.As<sql::UseDatabase>();
      return Located(catalogs.UseDatabase(use.name.Names()), use.name.range);
    }
    default:
      return Status::Internal("statement that is not about catalogs");
  }
}

}  // namespace sluice::engine
