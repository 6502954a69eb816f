// SQL text in, syntax tree out. Hand-written recursive descent over Flink's dialect (docs: SQL
// reference).
//
// A failure is a Status of code kParseError ("SQL parse failed. Encountered "X" at line L, column
// C." and what was expected), or kUnsupported when the text is valid Flink SQL that names a feature
// not offered. Both carry the position. Text that merely ends too early gives `Encountered
// "<EOF>"`: clients read that as "send more".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "sql/syntax/ast.h"

namespace sluice::sql {

struct ParsedStatement {
  StatementPtr statement;
  /// From the first to the last token, without the semicolon; positions count in the whole script.
  SourceRange range;
  /// That part of the text, a copy: the tree and this may outlive the script.
  std::string text;
  /// Remarks on portability for verbose output: a word used as a name that Flink 2.3 wants in
  /// back-ticks.
  std::vector<std::string> notes;
};

/// Parses statements separated by ';'. Empty statements are skipped. On failure the first error;
/// see ParseScriptFully for all.
Result<std::vector<ParsedStatement>> ParseScript(std::string_view text);

/// Every statement that parses and every error of the rest, both in the order of the text: after an
/// error it goes on behind the next ';'.
struct ScriptParse {
  std::vector<ParsedStatement> statements;
  std::vector<Status> errors;
};
ScriptParse ParseScriptFully(std::string_view text);

/// Parses exactly one statement, one ';' may follow. Two: kParseError "only single statement
/// supported".
Result<ParsedStatement> ParseStatement(std::string_view text);

/// Parses an expression, a query or a type that stands alone (stored view text, computed columns,
/// watermark text).
Result<ExprPtr> ParseExpression(std::string_view text);
Result<QueryPtr> ParseQuery(std::string_view text);
Result<TypePtr> ParseType(std::string_view text);

/// Parses the name of a table that stands alone, such as `db`.`t`.
Result<NamePath> ParsePath(std::string_view text);

/// A statement of a script, cut out without parsing it.
struct ScriptPiece {
  std::string_view text;  // With its ';' if it has one; leading blanks and comments removed.
  SourcePosition begin;
  bool terminated = false;  // A ';' closes it.
};
/// Cuts `text` at ';' outside strings, quoted names and comments; EXECUTE STATEMENT SET BEGIN … END
/// stays one piece. Pieces without any token are left out. Never fails: an open string or comment
/// takes the rest of the text.
std::vector<ScriptPiece> SplitScript(std::string_view text);

/// The offending line of `sql` and a caret under column `at.column`, `width` characters wide (at
/// least one):
///
///     SELECT nocol FROM t
///            ^^^^^
///
/// Two lines, each ended by '\n'. Wide (East Asian, emoji) characters get two carets' room, tabs
/// are kept. A very long line is cut around the caret. Empty text when `at` is not known.
std::string RenderCaret(std::string_view sql, SourcePosition at, int width = 1);

}  // namespace sluice::sql
