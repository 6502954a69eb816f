// One function a kind of statement; ExecuteDefinition picks. Internal to this folder.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/definition/session_state.h"
#include "sql/syntax/ast.h"

namespace sluice::engine {

// define_table.cc
Status ExecuteCreateTable(const sql::CreateTable& statement, SessionState* state);
Status ExecuteAlterTable(const sql::AlterTable& statement, SessionState* state);
Status ExecuteDropTable(const sql::DropTable& statement, SessionState* state);

// define_view.cc
Status ExecuteCreateView(const sql::CreateView& statement, SessionState* state);
Status ExecuteAlterView(const sql::AlterView& statement, SessionState* state);
Status ExecuteDropView(const sql::DropView& statement, SessionState* state);

// define_catalog.cc
Status ExecuteCatalogStatement(const sql::Statement& statement, SessionState* state);

// configuration.cc
Result<TextTable> ExecuteSet(const sql::SetStatement& statement, SessionState* state);
Status ExecuteReset(const sql::ResetStatement& statement, SessionState* state);

// show.cc
Result<TextTable> ExecuteShow(const sql::ShowStatement& statement, const SessionState& state);

// show_create.cc
Result<TextTable> ShowCreate(const sql::ShowStatement& statement, const SessionState& state);

// describe.cc
Result<TextTable> ExecuteDescribe(const sql::DescribeStatement& statement,
                                  const SessionState& state);
/// DESCRIBE and SHOW COLUMNS: those columns whose name `keep` takes.
Result<TextTable> DescribeColumns(const sql::NamePath& object, const SessionState& state,
                                  const std::function<bool(const std::string&)>& keep);

// jobs.cc
Result<TextTable> ShowJobs(const SessionState& state);
Result<TextTable> DescribeJob(const std::string& id, const SessionState& state);
Result<TextTable> ExecuteStopJob(const sql::StopJobStatement& statement, const SessionState& state);

// compact_table.cc
Result<TextTable> ExecuteCompactTable(const sql::CompactTableStatement& statement,
                                      const SessionState& state);

// clean_table.cc
Result<TextTable> ExecuteCleanTable(const sql::CleanTableStatement& statement,
                                    const SessionState& state);

// partitions.cc
Status AlterPartitions(const sql::AlterTable& statement,
                       const catalog::CatalogManager::Found& found, const SessionState& state);
Result<TextTable> ShowPartitions(const sql::ShowStatement& statement, const SessionState& state);

/// The table or view of that name; else kValidation "<before>c.d.t<after>", the nearest name and
/// the position.
Result<catalog::CatalogManager::Found> FindObject(const sql::NamePath& name,
                                                  const SessionState& state,
                                                  std::string_view before, std::string_view after);

/// CheckTableOptions for a definition: options that are still missing are no fault yet, because the
/// table may be completed by LIKE or a hint; everything else is told now. The error points at the
/// option that it names, if `written` has it.
Status CheckDefinedOptions(const catalog::ObjectPath& path, const catalog::CatalogTable& table,
                           const std::vector<sql::OptionPair>& written, const SessionState& state);

/// Puts the status at `position` unless it knows a better one.
Status Located(Status status, sql::SourceRange range);

}  // namespace sluice::engine
