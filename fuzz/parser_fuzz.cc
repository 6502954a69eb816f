// SQL text: no text crashes or hangs the lexer, the parser or what renders its errors, and what
// parses can be written and read again.
#include <cstdint>
#include <string_view>

#include "common/check.h"
#include "sql/syntax/literal.h"
#include "sql/syntax/parser.h"
#include "sql/syntax/unparse.h"

namespace {

using sluice::sql::ParsedStatement;

void CheckRoundTrip(const ParsedStatement& parsed) {
  const std::string canonical = sluice::sql::ToSql(*parsed.statement);
  auto again = sluice::sql::ParseStatement(canonical);
  SLUICE_CHECK(again.ok(),
               "canonical text does not parse: " + canonical + "\n" + again.status().ToString());
  SLUICE_CHECK(sluice::sql::ToSql(*again->statement) == canonical, "not canonical: " + canonical);
}

void CheckScript(std::string_view text) {
  const sluice::sql::ScriptParse script = sluice::sql::ParseScriptFully(text);
  for (const ParsedStatement& parsed : script.statements) CheckRoundTrip(parsed);
  for (const sluice::Status& error : script.errors) {
    (void)sluice::sql::RenderCaret(text, error.position());
  }
  size_t bytes = 0;
  for (const auto& piece : sluice::sql::SplitScript(text)) bytes += piece.text.size();
  SLUICE_CHECK(bytes <= text.size(), "pieces of a script overlap");
}

void CheckExpression(std::string_view text) {
  auto parsed = sluice::sql::ParseExpression(text);
  if (!parsed.ok()) return;
  const auto* literal = (*parsed)->If<sluice::sql::LiteralExpr>();
  if (literal == nullptr) return;
  using sluice::sql::LiteralKind;
  if (literal->literal_kind == LiteralKind::kInterval) (void)sluice::sql::ReadInterval(*literal);
  const bool exact = literal->literal_kind == LiteralKind::kInteger ||
                     literal->literal_kind == LiteralKind::kDecimal;
  if (exact) (void)sluice::sql::ReadExactNumber(*literal);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CheckScript(text);
  CheckExpression(text);
  (void)sluice::sql::ParseType(text);
  return 0;
}
