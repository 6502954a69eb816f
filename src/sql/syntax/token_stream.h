// The tokens of a script as the parser sees them: look ahead, take, and remember what would have
// been accepted where.
//
// Every question "is the next token X?" that is answered no adds X to the expected set of that
// position; a question further on starts a new set. So a failure can report the furthest token
// reached and all that could have stood there, without any table.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "common/result.h"
#include "common/status.h"
#include "sql/syntax/lexer.h"

namespace sluice::sql {

class TokenStream {
 public:
  explicit TokenStream(std::string_view text) : lexer_(text) {}

  const Token& Peek(size_t ahead = 0);
  /// Takes the next token; the end is never passed. The reference holds until Forget().
  const Token& Take();

  /// True when the next token is `wanted`: a keyword in upper case or a symbol.
  bool At(std::string_view wanted);
  /// Takes the next token if it is `wanted`.
  bool Accept(std::string_view wanted);
  /// Takes `first second …` if they all stand there, else nothing.
  bool AcceptAll(std::initializer_list<std::string_view> wanted);
  Status Expect(std::string_view wanted);
  Status ExpectAll(std::initializer_list<std::string_view> wanted);
  /// Look-ahead that adds nothing to the expected set.
  bool PeekIs(size_t ahead, std::string_view wanted);

  /// Adds `what` (`<IDENTIFIER>`) to what is expected at the next token.
  void Note(std::string_view what);

  /// "SQL parse failed. Encountered …" at the furthest token that was asked for.
  Status Fail();
  /// The same at the next token with a sentence of advice and no expected set.
  Status FailHere(std::string_view advice);
  /// A token that should not be there, taken or not.
  Status FailAt(const Token& token, std::string_view advice) const;
  /// kUnsupported: the text is valid in the peer and `feature` is not offered.
  Status Unsupported(std::string_view feature, const SourceRange& at) const;

  size_t index() const { return index_; }
  /// Range from the token at `first` to the one taken last.
  SourceRange Span(size_t first);
  const Token& TokenAt(size_t index) const { return tokens_[index]; }

  /// Index of the ')' that closes the '(' at `open`, or 0 when it is not closed in this statement.
  size_t FindMatch(size_t open);

  /// Drops what has been taken and the expected set; between statements.
  void Forget();
  /// Skips to behind the next ';' (the one that ends `… ; END` when `in_set`), or to the end.
  void SkipStatement(bool in_set);
  /// Throws away tokens that were looked at but not taken, and reads on at byte `offset`.
  void ReadOnAt(uint32_t offset);

  Lexer& lexer() { return lexer_; }

 private:
  std::string ExpectedText(const Token& token) const;

  Lexer lexer_;
  std::deque<Token> tokens_;
  size_t index_ = 0;
  size_t expected_index_ = 0;
  std::vector<std::string> expected_;
  std::unordered_map<size_t, size_t> matches_;
};

/// What stands after `Encountered`: the token as written, shortened, or <EOF>.
std::string TokenImage(const Token& token);

}  // namespace sluice::sql
