// Syntax tree back to SQL: canonical text with every name in back-ticks, keywords in upper case and
// parentheses only where needed. Parsing the text again gives the same tree. Used by SHOW CREATE,
// stored views, DESCRIBE, EXPLAIN.
#pragma once

#include <string>
#include <string_view>

#include "sql/syntax/ast.h"

namespace sluice::sql {

std::string ToSql(const Expr& expr);
std::string ToSql(const Query& query);
/// The same with each clause on a line of its own, as SHOW CREATE VIEW prints it.
std::string ToSqlLines(const Query& query);
std::string ToSql(const QueryBody& body);
std::string ToSql(const TableRef& table);
std::string ToSql(const TypeSyntax& type);
std::string ToSql(const Statement& statement);
std::string ToSql(const WindowSpec& window);
std::string ToSql(const IntervalQualifier& qualifier);

/// `a`.`b`
std::string ToSql(const NamePath& path);
/// 'text', quotes inside doubled.
std::string QuoteString(std::string_view text);

}  // namespace sluice::sql
