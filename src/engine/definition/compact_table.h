// COMPACT TABLE.
#pragma once

#include "engine/definition/session_state.h"
#include "sql/syntax/ast.h"

namespace sluice::engine {

/// It is no statement of the peer's grammar: it comes as the text that was written.
bool IsCompactTable(const sql::UnsupportedStatement& statement);
Result<TextTable> ExecuteCompactTable(const sql::UnsupportedStatement& written,
                                      const SessionState& state);

}  // namespace sluice::engine
