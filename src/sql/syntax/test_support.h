// Shared by the tests of this folder.
#pragma once

#include <string>
#include <string_view>

#include "sql/syntax/parser.h"
#include "sql/syntax/unparse.h"

namespace sluice::sql {

/// Canonical text of the one statement in `text`, or "ERROR: …".
inline std::string Canonical(std::string_view text) {
  Result<ParsedStatement> parsed = ParseStatement(text);
  return parsed.ok() ? ToSql(*parsed->statement) : "ERROR: " + parsed.status().message();
}

/// Canonical text of an expression, or "ERROR: …".
inline std::string CanonicalExpr(std::string_view text) {
  Result<ExprPtr> parsed = ParseExpression(text);
  return parsed.ok() ? ToSql(**parsed) : "ERROR: " + parsed.status().message();
}

}  // namespace sluice::sql
