// Statements that run no job: DDL, USE, SET and RESET, SHOW, DESCRIBE.
#pragma once

#include "engine/definition/session_state.h"
#include "sql/syntax/ast.h"

namespace sluice::engine {

/// True for statements that ExecuteDefinition runs. CREATE TABLE … AS is one too: the table is made
/// here, the caller runs the INSERT.
bool IsDefinition(const sql::Statement& statement);

/// Runs one. Errors carry code, text and position as sql.md has them.
Result<TextTable> ExecuteDefinition(const sql::Statement& statement, SessionState* state);

/// What CREATE TABLE … AS still has to do after the table was made; nullopt when IF NOT EXISTS
/// found a table… then the INSERT runs into that one.
Result<catalog::ObjectPath> CreateTableForQuery(const sql::CreateTable& statement,
                                                SessionState* state);

}  // namespace sluice::engine
