#include "engine/verify_table.h"

#include "engine/definition/definition.h"
#include "engine/definition/statements.h"
#include "sql/physical/table_access.h"

namespace sluice::engine {
namespace {

namespace filesystem = connectors::filesystem;

bool OnlyDefines(const sql::Statement& statement) {
  switch (statement.kind) {
    case sql::StatementKind::kCreateTable:
    case sql::StatementKind::kDropTable:
    case sql::StatementKind::kCreateView:
    case sql::StatementKind::kAlterView:
    case sql::StatementKind::kDropView:
    case sql::StatementKind::kCreateCatalog:
    case sql::StatementKind::kAlterCatalog:
    case sql::StatementKind::kDropCatalog:
    case sql::StatementKind::kUseCatalog:
    case sql::StatementKind::kCreateDatabase:
    case sql::StatementKind::kAlterDatabase:
    case sql::StatementKind::kDropDatabase:
    case sql::StatementKind::kUseDatabase:
    case sql::StatementKind::kSet:
    case sql::StatementKind::kReset:
      return true;
    case sql::StatementKind::kAlterTable: {
      // Those of partitions change directories.
      const sql::AlterTableKind action = statement.As<sql::AlterTable>().action;
      return action != sql::AlterTableKind::kAddPartitions &&
             action != sql::AlterTableKind::kDropPartitions;
    }
    default:
      return false;
  }
}

Result<filesystem::VerifyReport> VerifyPath(Session* session, const std::string& uri,
                                            filesystem::VerifyRequest request) {
  SLUICE_ASSIGN_OR_RETURN(const connectors::ConnectorContext context,
                          session->state().MakeConnectorContext());
  SLUICE_ASSIGN_OR_RETURN(const auto located, context.file_systems->Locate(uri));
  request.root = located.path;
  return filesystem::VerifyTable(*located.file_system, request);
}

}  // namespace

Status RunDefinitionsOnly(const sql::ScriptParse& script, Session* session) {
  for (const sql::ParsedStatement& statement : script.statements) {
    if (!OnlyDefines(*statement.statement)) continue;
    SLUICE_RETURN_NOT_OK(ExecuteDefinition(*statement.statement, &session->state()).status());
  }
  return {};
}

Result<filesystem::VerifyReport> Verify(Session* session, const VerifyTarget& target) {
  filesystem::VerifyRequest request{.root = {},
                                    .layout = {},
                                    .small_file_bytes = target.small_file_bytes,
                                    .read_all = target.read_all};
  if (!target.is_table) return VerifyPath(session, target.name, std::move(request));
  SLUICE_ASSIGN_OR_RETURN(const sql::NamePath name, sql::ParsePath(target.name));
  auto found = FindObject(name, session->state(), "Table '", "' doesn't exist.");
  // The position is one in a text that nobody has written.
  if (!found.ok()) return Status::Validation(found.status().message());
  const OptionMap& options = found->table->options;
  const auto connector = options.find("connector");
  if (connector == options.end() || connector->second != "filesystem") {
    return Status::Validation("Table '" + target.name +
                              "' is none of the connector 'filesystem': there are no files to "
                              "verify.");
  }
  const connectors::TableInfo info = sql::MakeTableInfo(found->path, *found->table, options);
  SLUICE_ASSIGN_OR_RETURN(request.layout, filesystem::LayoutOfTable(info));
  const auto marker = options.find("sink.partition-commit.success-file.name");
  if (marker != options.end()) request.marker = marker->second;
  return VerifyPath(session, options.at("path"), std::move(request));
}

}  // namespace sluice::engine
