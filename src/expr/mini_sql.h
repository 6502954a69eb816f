// A small reader of SQL expressions for the tests of this folder, so that they need no planner:
// builds expressions through builder.h.
#pragma once

#include <string>
#include <string_view>

#include "expr/builder.h"
#include "types/schema.h"

namespace sluice::expr::testing {

/// Reads one expression; columns by the names of `input`.
Result<ExprPtr> ReadExpression(std::string_view sql, const Schema& input = {},
                               const TimeZone& session_zone = {});
/// Reads a type: "DECIMAL(10, 2)", "ARRAY<INT NOT NULL>".
Result<SqlType> ReadType(std::string_view sql);

/// The value of a constant expression as CAST(… AS STRING) shows it, BINARY as x'…', NULL as
/// "NULL"; "error: …" when it fails.
std::string Value(std::string_view sql, const EvalContext& context = {});
/// The type of an expression as TYPEOF shows it, or "error: …".
std::string TypeText(std::string_view sql);

}  // namespace sluice::expr::testing
