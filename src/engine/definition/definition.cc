#include "engine/definition/definition.h"

#include "common/nearest_name.h"
#include "engine/definition/statements.h"

namespace sluice::engine {
namespace {

Result<TextTable> OkOr(Status status) {
  if (!status.ok()) return status;
  return TextTable::Ok();
}

}  // namespace

Status Located(Status status, sql::SourceRange range) {
  if (status.ok() || status.position().known()) return status;
  return std::move(status).At(range.begin);
}

Result<catalog::CatalogManager::Found> FindObject(const sql::NamePath& name,
                                                  const SessionState& state,
                                                  std::string_view before, std::string_view after) {
  Result<std::optional<catalog::CatalogManager::Found>> found = state.catalogs.Find(name.Names());
  if (!found.ok()) return Located(found.status(), name.range);
  if (*found) return **std::move(found);
  SLUICE_ASSIGN_OR_RETURN(const catalog::ObjectPath path, state.catalogs.Qualify(name.Names()));
  std::string hint;
  if (const auto known = state.catalogs.ListTables({path.catalog, path.database}, false);
      known.ok()) {
    hint = DidYouMean(path.object, *known);
  }
  return Status::Validation(std::string(before) + path.ToString() + std::string(after) + hint,
                            name.range.begin);
}

bool IsDefinition(const sql::Statement& statement) {
  switch (statement.kind) {
    case sql::StatementKind::kQuery:
    case sql::StatementKind::kInsert:
    case sql::StatementKind::kStatementSet:
    case sql::StatementKind::kBeginStatementSet:
    case sql::StatementKind::kEndStatementSet:
    case sql::StatementKind::kExplain:
    case sql::StatementKind::kUnsupported:
      return false;
    default:
      return true;
  }
}

Result<TextTable> ExecuteDefinition(const sql::Statement& statement, SessionState* state) {
  switch (statement.kind) {
    case sql::StatementKind::kCreateTable: {
      const auto& create = statement.As<sql::CreateTable>();
      return OkOr(create.query ? CreateTableForQuery(create, state).status()
                               : ExecuteCreateTable(create, state));
    }
    case sql::StatementKind::kAlterTable:
      return OkOr(ExecuteAlterTable(statement.As<sql::AlterTable>(), state));
    case sql::StatementKind::kDropTable:
      return OkOr(ExecuteDropTable(statement.As<sql::DropTable>(), state));
    case sql::StatementKind::kCreateView:
      return OkOr(ExecuteCreateView(statement.As<sql::CreateView>(), state));
    case sql::StatementKind::kAlterView:
      return OkOr(ExecuteAlterView(statement.As<sql::AlterView>(), state));
    case sql::StatementKind::kDropView:
      return OkOr(ExecuteDropView(statement.As<sql::DropView>(), state));
    case sql::StatementKind::kCreateCatalog:
    case sql::StatementKind::kAlterCatalog:
    case sql::StatementKind::kDropCatalog:
    case sql::StatementKind::kUseCatalog:
    case sql::StatementKind::kCreateDatabase:
    case sql::StatementKind::kAlterDatabase:
    case sql::StatementKind::kDropDatabase:
    case sql::StatementKind::kUseDatabase:
      return OkOr(ExecuteCatalogStatement(statement, state));
    case sql::StatementKind::kSet:
      return ExecuteSet(statement.As<sql::SetStatement>(), state);
    case sql::StatementKind::kReset:
      return OkOr(ExecuteReset(statement.As<sql::ResetStatement>(), state));
    case sql::StatementKind::kShow:
      return ExecuteShow(statement.As<sql::ShowStatement>(), *state);
    case sql::StatementKind::kDescribe:
      return ExecuteDescribe(statement.As<sql::DescribeStatement>(), *state);
    case sql::StatementKind::kStopJob:
      return ExecuteStopJob(statement.As<sql::StopJobStatement>(), *state);
    case sql::StatementKind::kCompactTable:
      return ExecuteCompactTable(statement.As<sql::CompactTableStatement>(), *state);
    case sql::StatementKind::kCleanTable:
      return ExecuteCleanTable(statement.As<sql::CleanTableStatement>(), *state);
    default:
      return Status::Internal("statement that is no definition");
  }
}

}  // namespace sluice::engine
