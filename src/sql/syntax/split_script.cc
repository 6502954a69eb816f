// A script cut into statements without parsing them.
#include "sql/syntax/lexer.h"
#include "sql/syntax/parser.h"

namespace sluice::sql {
namespace {

// Follows the tokens of one statement and tells whether a ';' closes it.
class StatementShape {
 public:
  void See(const Token& token) {
    if (count_ == 0) {
      may_hold_set_ = token.IsWord("EXECUTE") || token.IsWord("EXPLAIN");
      raw_ = token.IsWord("SET") || token.IsWord("RESET");
    }
    if (may_hold_set_ && before_is_statement_ && token.IsWord("SET")) in_set_ = true;
    // END closes the set only as the first word of an entry: a CASE … END stands inside one.
    if (in_set_ && before_is_semicolon_ && token.IsWord("END")) in_set_ = false;
    before_is_statement_ = token.IsWord("STATEMENT");
    before_is_semicolon_ = token.IsSymbol(";") || token.IsWord("BEGIN");
    ++count_;
  }
  bool Closes(const Token& token) const { return token.IsSymbol(";") && !in_set_; }
  bool empty() const { return count_ == 0; }
  /// The text behind SET or RESET may be no tokens at all.
  bool AtRawText(const Token& next) const {
    return raw_ && count_ == 1 && next.kind != TokenKind::kString && next.kind != TokenKind::kEnd &&
           !next.IsSymbol(";");
  }

 private:
  int count_ = 0;
  bool may_hold_set_ = false;
  bool raw_ = false;
  bool in_set_ = false;
  bool before_is_statement_ = false;
  bool before_is_semicolon_ = false;
};

}  // namespace

std::vector<ScriptPiece> SplitScript(std::string_view text) {
  std::vector<ScriptPiece> pieces;
  Lexer lexer(text);
  StatementShape shape;
  SourceRange start;
  uint32_t end = 0;
  auto close = [&](bool terminated) {
    pieces.push_back(
        {text.substr(start.begin_byte, end - start.begin_byte), start.begin, terminated});
    shape = {};
  };
  for (;;) {
    const Token token = lexer.Next();
    if (token.kind == TokenKind::kEnd) break;
    if (shape.empty()) {
      if (token.IsSymbol(";")) continue;
      start = token.range;
    }
    end = token.range.end_byte;
    if (shape.AtRawText(token)) {
      end = RawLineEnd(text, token.range.begin_byte);
      lexer.Reset(token.range, end);
    }
    const bool closes = shape.Closes(token);
    shape.See(token);
    if (closes) close(true);
  }
  if (!shape.empty()) close(false);
  return pieces;
}

}  // namespace sluice::sql
