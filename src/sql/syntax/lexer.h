// SQL text to tokens, one at a time. Never fails: what cannot be read is a token of kind kError
// that carries the reason, and matters only if the parser gets to it (the raw part of SET k = v is
// read around the tokens).
//
// Positions count characters (code points), not bytes; LF, CR and CR LF end a line.
#pragma once

#include <string>
#include <string_view>

#include "sql/syntax/keywords.h"
#include "sql/syntax/node.h"

namespace sluice::sql {

enum class TokenKind {
  kEnd,
  kWord,           // value: upper case; text: as written
  kQuotedName,     // value: without back-ticks
  kString,         // 'x', N'x', _UTF8'x', E'x': value decoded
  kUnicodeString,  // U&'x': value with its escapes still in it, quotes undoubled
  kBinaryString,   // x'4F': value is the bytes
  kInteger,        // value: digits
  kDecimal,        // 1.5 .5
  kDouble,         // 1e3
  kSymbol,
  kHintStart,  // /*+
  kHintEnd,    // the */ that closes it
  kError,      // value: what is wrong, a sentence
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  std::string value;
  WordClass word_class = WordClass::kFree;
  SourceRange range;
  bool after_line_break = false;  // A line break stands between this token and the one before it.
  bool unclosed = false;          // kError: the text ends inside a string, name or comment.

  bool IsWord(std::string_view upper) const { return kind == TokenKind::kWord && value == upper; }
  bool IsSymbol(std::string_view symbol) const {
    return kind == TokenKind::kSymbol && text == symbol;
  }
  bool IsName() const {
    return kind == TokenKind::kQuotedName ||
           (kind == TokenKind::kWord && word_class != WordClass::kReserved);
  }
};

class Lexer {
 public:
  /// `text` must outlive the lexer and its tokens.
  explicit Lexer(std::string_view text);

  Token Next();

  /// Goes on at byte `offset`, which lies at or behind the start of the token read last.
  void Reset(const SourceRange& from, uint32_t offset);

  std::string_view text() const { return text_; }
  /// Range of the text between two byte offsets at or behind `from`, for parts that were not read
  /// as tokens.
  SourceRange RangeFrom(const SourceRange& from, uint32_t begin, uint32_t end) const;

 private:
  struct Cursor {
    uint32_t offset = 0;
    SourcePosition position{1, 1};
    SourcePosition last{1, 1};  // Of the character before `offset`.
  };

  char At(uint32_t ahead = 0) const;
  void Advance();
  void AdvanceTo(uint32_t offset);
  /// Skips blanks and comments; false when a comment is not closed.
  bool SkipBlanks();
  /// Appends the character here; false when it is none, and nothing is taken.
  bool TakeCharacter(std::string* value);
  uint32_t WordEnd(uint32_t offset) const;
  Token Finish(Token token, TokenKind kind, const Cursor& start) const;
  Token Error(Token token, const Cursor& start, std::string reason, bool unclosed = false) const;
  /// Takes the byte here, which is none of a character.
  Token NotUtf8(Token token);
  Token ReadWord(Token token);
  Token ReadNumber(Token token);
  Token ReadString(Token token, const Cursor& start, TokenKind kind);
  Token ReadEscapedString(Token token, const Cursor& start);
  Token ReadBinaryString(Token token, const Cursor& start);
  Token ReadQuotedName(Token token);
  Token ReadSymbol(Token token);

  std::string_view text_;
  Cursor cursor_;
  Cursor comment_start_;
  bool in_hint_ = false;
  bool line_break_ = false;
};

/// Where the raw text of SET k = v that starts at byte `offset` ends: at a ';', at the end of the
/// line, or at a comment behind a blank.
uint32_t RawLineEnd(std::string_view text, uint32_t offset);

/// Decodes the escapes of U&'…' (four hexadecimal digits after `escape`); false when one is
/// malformed.
bool DecodeUnicodeEscapes(std::string_view raw, char32_t escape, std::string* decoded);

/// Length in bytes of the character that starts at text[offset]; 0 when it is not valid UTF-8.
uint32_t CharacterBytes(std::string_view text, size_t offset, char32_t* code_point);

}  // namespace sluice::sql
