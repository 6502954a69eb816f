#include "sql/syntax/lexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sql/syntax/parser.h"

namespace sluice::sql {
namespace {

using testing::ElementsAre;

std::vector<std::string> Values(std::string_view text) {
  std::vector<std::string> values;
  Lexer lexer(text);
  for (Token token = lexer.Next(); token.kind != TokenKind::kEnd; token = lexer.Next()) {
    if (token.kind == TokenKind::kError) {
      values.push_back("error");
      break;
    }
    values.push_back(token.kind == TokenKind::kSymbol ? std::string(token.text) : token.value);
  }
  return values;
}

TEST(LexerTest, ReadsNamesOfAllScripts) {
  EXPECT_THAT(Values("订单 ünïcode a$b _x `a.b c` `x``y`"),
              ElementsAre("订单", "üNïCODE", "A$B", "_X", "a.b c", "x`y"));
}

TEST(LexerTest, RefusesWhatNoNameIs) {
  for (std::string_view text : {"1x", "1e", "\"abc\"", "``", "`a\nb`", "é\xff"}) {
    Lexer lexer(text);
    Token token = lexer.Next();
    if (token.kind != TokenKind::kError) token = lexer.Next();
    EXPECT_EQ(token.kind, TokenKind::kError) << text;
  }
}

TEST(LexerTest, ReadsStrings) {
  EXPECT_THAT(Values("'it''s' 'a\\b' N'x' _UTF8'y' _utf-16le'z' E'a\\n\\t\\\\\\'\\u00e9' 'a\nb'"),
              ElementsAre("it's", "a\\b", "x", "y", "z", "a\n\t\\'é", "a\nb"));
  EXPECT_THAT(Values("x'4F2a' X''"), ElementsAre("O*", ""));
  EXPECT_THAT(Values("x'4F2'"), ElementsAre("error"));
  EXPECT_THAT(Values("E'\\ud83d\\ude00'"), ElementsAre("😀"));
  for (std::string_view bad : {"E'\\q'", "E'\\ud83d'", "E'\\u12'", "E'\\", "E'abc\\'", "'a\xff'"}) {
    EXPECT_THAT(Values(bad), ElementsAre("error")) << bad;
  }
}

TEST(LexerTest, ReadsNumbers) {
  EXPECT_THAT(Values("123 1.5 .5 5. 1e3 1.5E-3 a.5"),
              ElementsAre("123", "1.5", ".5", "5", "1e3", "1.5E-3", "A", ".5"));
  Lexer lexer("5. 5.0 5e0");
  EXPECT_EQ(lexer.Next().kind, TokenKind::kInteger);
  EXPECT_EQ(lexer.Next().kind, TokenKind::kDecimal);
  EXPECT_EQ(lexer.Next().kind, TokenKind::kDouble);
}

TEST(LexerTest, SkipsComments) {
  EXPECT_THAT(Values("a -- b\n c // d 'e\n f /* g\n ' */ h,--i\n j"),
              ElementsAre("A", "C", "F", "H", ",", "J"));
  EXPECT_THAT(Values("2*/*x*/3 a/b"), ElementsAre("2", "*", "3", "A", "/", "B"));
  Lexer open("a /* b");
  open.Next();
  EXPECT_TRUE(open.Next().unclosed);
}

TEST(LexerTest, ReadsHintsAsTokens) {
  EXPECT_THAT(Values("/*+ a */ 1 */ 2"), ElementsAre("", "A", "", "1", "*", "/", "2"));
}

TEST(LexerTest, CountsPositionsInCharacters) {
  Lexer lexer("é 'ü\r\nx' b\rc");
  lexer.Next();
  Token text = lexer.Next();
  EXPECT_EQ(text.range.begin, (SourcePosition{1, 3}));
  EXPECT_EQ(text.range.end, (SourcePosition{2, 2}));
  Token b = lexer.Next();
  EXPECT_EQ(b.range.begin, (SourcePosition{2, 4}));
  EXPECT_EQ(b.range.begin_byte, 11u);
  Token c = lexer.Next();
  EXPECT_EQ(c.range.begin, (SourcePosition{3, 1}));
  EXPECT_TRUE(c.after_line_break);
}

TEST(LexerTest, SkipsAByteOrderMark) {
  EXPECT_THAT(Values("\xEF\xBB\xBFselect"), ElementsAre("SELECT"));
}

TEST(KeywordsTest, KnowsFreeSoftAndReservedWords) {
  for (std::string_view word :
       {"DATA", "NAME", "MAP", "TUMBLE", "HOURS", "METADATA", "DESC", "IF"}) {
    EXPECT_EQ(ClassifyWord(word), WordClass::kFree) << word;
  }
  for (std::string_view word : {"DATETIME", "RESULT", "LANGUAGE", "SUNDAY", "GROUPS"}) {
    EXPECT_EQ(ClassifyWord(word), WordClass::kSoft) << word;
  }
  for (std::string_view word :
       {"HOUR", "USER", "VALUE", "TIMESTAMP", "OFFSET", "ORDER", "YEAR", "ABS"}) {
    EXPECT_EQ(ClassifyWord(word), WordClass::kReserved) << word;
  }
  EXPECT_TRUE(IsCallableWord("LEFT"));
  EXPECT_FALSE(IsCallableWord("SELECT"));
}

TEST(SplitScriptTest, CutsAtSemicolonsThatEndStatements) {
  auto pieces = [](std::string_view text) {
    std::vector<std::string> texts;
    for (const ScriptPiece& piece : SplitScript(text)) texts.emplace_back(piece.text);
    return texts;
  };
  EXPECT_THAT(pieces(" ; -- only a comment\n;"), ElementsAre());
  EXPECT_THAT(pieces("SELECT ';' ; -- x;\nSELECT `;` /* ; */"),
              ElementsAre("SELECT ';' ;", "SELECT `;`"));
  EXPECT_THAT(pieces("SET a = file:///x//y; SELECT 1"),
              ElementsAre("SET a = file:///x//y;", "SELECT 1"));
  EXPECT_THAT(pieces("SET 'a' = 'b;c'; RESET x.y\n;"),
              ElementsAre("SET 'a' = 'b;c';", "RESET x.y\n;"));
  EXPECT_THAT(
      pieces("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT CASE WHEN b THEN c END; "
             "INSERT INTO b SELECT 1; END; SELECT 2;"),
      ElementsAre("EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT CASE WHEN b THEN c END; "
                  "INSERT INTO b SELECT 1; END;",
                  "SELECT 2;"));
  EXPECT_THAT(pieces("BEGIN STATEMENT SET; INSERT INTO a SELECT 1; END;"),
              ElementsAre("BEGIN STATEMENT SET;", "INSERT INTO a SELECT 1;", "END;"));
  EXPECT_THAT(pieces("SELECT 'a; SELECT 2;"), ElementsAre("SELECT 'a; SELECT 2;"));
}

TEST(RenderCaretTest, PointsAtTheColumn) {
  EXPECT_EQ(RenderCaret("SELECT nocol FROM t", {1, 8}, 5), "SELECT nocol FROM t\n       ^^^^^\n");
  EXPECT_EQ(RenderCaret("a\r\n\tb 订单 c", {2, 4}, 2), "\tb 订单 c\n\t  ^^^^\n");
  EXPECT_EQ(RenderCaret("订 x", {1, 3}), "订 x\n   ^\n");
  EXPECT_EQ(RenderCaret("abc", {1, 4}), "abc\n   ^\n");
  EXPECT_EQ(RenderCaret("abc", {9, 9}), "\n^\n");
  EXPECT_EQ(RenderCaret("abc", {}), "");
  const std::string longer = RenderCaret(std::string(5000, 'x'), {1, 3000});
  EXPECT_LT(longer.size(), 400u);
  EXPECT_THAT(longer, testing::HasSubstr("…"));
}

}  // namespace
}  // namespace sluice::sql
