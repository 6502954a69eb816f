#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sql/syntax/test_support.h"

namespace sluice::sql {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Case {
  std::string text;
  SourcePosition at;
  std::string phrase;
};

class ParseErrorTest : public testing::TestWithParam<Case> {};

TEST_P(ParseErrorTest, SaysWhatAndWhere) {
  const Case& c = GetParam();
  const Status status = ParseStatement(c.text).status();
  ASSERT_EQ(status.code(), StatusCode::kParseError) << c.text << "\n" << Canonical(c.text);
  EXPECT_THAT(status.message(), testing::StartsWith("SQL parse failed. "));
  EXPECT_THAT(status.message(), HasSubstr(c.phrase)) << c.text;
  EXPECT_EQ(status.position(), c.at) << c.text << "\n" << status.message();
}

INSTANTIATE_TEST_SUITE_P(
    All, ParseErrorTest,
    testing::ValuesIn(std::vector<Case>{
        {"SELECT FROM t",
         {1, 8},
         "Encountered \"FROM\" at line 1, column 8.\nWas expecting one of:\n"},
        {"SELECT 1 +", {1, 11}, "Encountered \"<EOF>\" at line 1, column 11."},
        {"SELECT 1 +;", {1, 11}, "Encountered \";\" at line 1, column 11."},
        {"SELEC 1", {1, 1}, "Did you mean 'SELECT'?"},
        {"", {1, 1}, "Encountered \"<EOF>\" at line 1, column 1."},
        {"-- nothing\n", {2, 1}, "Encountered \"<EOF>\" at line 2, column 1."},
        {"CREATE TABLE t (a INT,)", {1, 23}, "Encountered \")\""},
        {"CREATE TABLE t (\n  a INT,\n  ...\n) WITH (...)", {3, 3}, "\"...\" is a placeholder"},
        {"CREATE TABLE t (a INT) WITH (...)", {1, 30}, "Encountered \"...\" at line 1, column 30."},
        {"CREATE TABLE t (a INT) WITH (connector='x')", {1, 30}, "<QUOTED_STRING> ..."},
        {"CREATE TABLE t (a INT) WITH ('a'='b') COMMENT 'x'", {1, 39}, "Encountered \"COMMENT\""},
        {"CREATE TABLE t (a, b)", {1, 22}, "\"AS\" ..."},
        {"CREATE TABLE t (a, b INT) AS SELECT 1", {1, 22}, "Encountered \"INT\""},
        {"CREATE TABLE t (user STRING)",
         {1, 17},
         "\"user\" is a reserved word: as a name it is written `user`."},
        {"CREATE TABLE t (a INT) LIKE s (INCLUDING ALL EXCLUDING ALL)",
         {1, 46},
         "Each like option feature can be declared only once."},
        {"CREATE TABLE t (a INT) LIKE s (OVERWRITING PARTITIONS)", {1, 44}, "\"GENERATED\" ..."},
        {"SELECT \"a\" FROM t",
         {1, 8},
         "Encountered \"\"a\"\" at line 1, column 8.\nDouble quotes are not used"},
        {"SELECT [a] FROM t", {1, 8}, "Encountered \"[\""},
        {"SELECT a FROM t WHERE a != 1",
         {1, 25},
         "Bang equal '!=' is not allowed under the current SQL conformance level"},
        {"SELECT 'abc",
         {1, 8},
         "Encountered \"<EOF>\" at line 1, column 12.\nThis string is not closed. It starts at "
         "line 1, column 8."},
        {"SELECT 1 /* x\n", {1, 10}, "Encountered \"<EOF>\" at line 2, column 1."},
        {"SELECT `abc", {1, 8}, "Encountered \"<EOF>\""},
        {"SELECT `abc\n` FROM t", {1, 8}, "not closed on its line"},
        {"SELECT 'a' 'b'", {1, 12}, "String literal continued on same line"},
        {"SELECT 1x", {1, 8}, "A name cannot begin with a digit"},
        {"SELECT 1 WHERE TRUE", {1, 10}, "Encountered \"WHERE\""},
        {"SELECT 1; SELECT 2", {1, 11}, "only single statement supported"},
        {"SELECT a FROM t x y", {1, 19}, "Encountered \"y\""},
        {"SELECT a FROM t GROUP a", {1, 23}, "\"BY\" ..."},
        {"SELECT a b c FROM t", {1, 12}, "Encountered \"c\""},
        {"SELECT 订单, \n 用户 用 户 FROM t", {2, 7}, "Encountered \"户\" at line 2, column 7."},
        {"SELECT a\xC2\xA0 FROM t", {1, 9}, "U+00A0 looks like a blank"},
        {"SELECT a，b", {1, 9}, "Full-width punctuation"},
        {"SELECT ‘a’", {1, 8}, "Typographic quotes"},
        {"SELECT ARRAY[]", {1, 14}, "empty ARRAY[]"},
        {"SELECT MAP['a', 1, 'b']", {1, 8}, "even number of arguments"},
        {"SELECT INTERVAL '1' MILLISECOND", {1, 21}, "INTERVAL '0.001' SECOND"},
        {"SELECT INTERVAL '1' DAY TO YEAR", {1, 28}, "An interval goes from"},
        {"SELECT DATE '2020-02-30'",
         {1, 13},
         "Illegal DATE literal '2020-02-30': not in format 'yyyy-MM-dd'"},
        {"SELECT U&'\\00g9'", {1, 8}, "Unicode escape is malformed"},
        {"SELECT U&'a' UESCAPE 'ab'", {1, 22}, "UESCAPE must be a single character"},
        {"SELECT x'4F2'", {1, 8}, "even number of hexadecimal digits"},
        {"SELECT a::int FROM t", {1, 9}, "A cast is written CAST(value AS type)."},
        {"SELECT CAST(a AS INT NOT NULL)", {1, 22}, "Encountered \"NOT\""},
        {"SELECT SAFE_CAST(a AS INT)", {1, 8}, "TRY_CAST"},
        {"SELECT /*+ A */ 1 /*+ B */", {1, 19}, "Encountered \"/*+\""},
        {"INSERT INTO t PARTITION (a = b) SELECT 1", {1, 30}, "must be a literal"},
        {"INSERT t SELECT 1", {1, 8}, "\"INTO\" ..."},
        {"EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1; SELECT 2; END",
         {1, 53},
         "Encountered \"SELECT\""},
        {"EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1;", {1, 52}, "Encountered \"<EOF>\""},
        {"EXECUTE STATEMENT SET BEGIN INSERT INTO t SELECT 1 END", {1, 52}, "\";\" ..."},
        {"EXPLAIN DROP TABLE t", {1, 9}, "EXPLAIN takes a query"},
        {"SET a", {1, 5}, "SET wants a value"},
        {"SET a = ;", {1, 9}, "SET wants a value behind the equals sign"},
        {"SET a = b\xff", {1, 9}, "not valid UTF-8"},
        {"SET 'a' b", {1, 9}, "\"=\" ..."},
        {"USE CATALOG", {1, 12}, "Encountered \"<EOF>\""},
        {"SHOW TABELS", {1, 6}, "Did you mean 'TABLES'?"},
        {"SELECT JSON_VALUE(a, '$' TRUE ON ERROR)", {1, 26}, "Encountered \"TRUE\""},
        {"SELECT EXTRACT(x FROM a)", {1, 16}, "<time unit> ..."},
        {"SELECT * FROM a NATURAL CROSS JOIN b", {1, 25}, "Encountered \"CROSS\""},
        {"SELECT * FROM a CROSS b", {1, 23}, "\"JOIN\" ..."},
        {"SELECT a FROM", {1, 14}, "Encountered \"<EOF>\""},
        {"SELECT \xff", {1, 8}, "not valid UTF-8"},
        {"CREATE TABLE t (a METADATA)", {1, 19}, "<type> ..."},
        {"DROP", {1, 5}, "Encountered \"<EOF>\""},
        {"GRANT x", {1, 1}, "Encountered \"GRANT\""},
    }));

TEST(ParseErrorsTest, ListsEachAlternativeOnce) {
  const Status status = ParseStatement("SELECT a FROM t LIMT 5").status();
  EXPECT_EQ(status.position(),
            (SourcePosition{1, 22}));  // LIMT is an alias; what follows is the surprise.
  const std::string& text = status.message();
  for (std::string_view word :
       {"\"WHERE\" ...", "\"GROUP\" ...", "\"LIMIT\" ...", "<EOF> ...", "\"JOIN\" ..."}) {
    const size_t first = text.find(word);
    ASSERT_NE(first, std::string::npos) << word << "\n" << text;
    EXPECT_EQ(text.find(word, first + 1), std::string::npos) << word;
  }
}

TEST(ParseErrorsTest, FindsAllErrorsOfAScript) {
  const ScriptParse script = ParseScriptFully(
      "SELEC 1;\nSELECT 2;\nSELECT FROM x; CREATE FUNCTION f AS 'x';\n"
      "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELEC 1; INSERT INTO b SELECT 1; END;\n"
      "SELECT * FROM t PIVOT (x); SELECT 3; SELECT 'a");
  ASSERT_EQ(script.statements.size(), 3u);
  EXPECT_EQ(script.statements[2].text, "SELECT 3");
  ASSERT_EQ(script.errors.size(), 5u);
  EXPECT_EQ(script.errors[1].position(), (SourcePosition{3, 8}));
  EXPECT_EQ(script.errors[2].position(), (SourcePosition{4, 43}));
  EXPECT_EQ(script.errors[3].code(), StatusCode::kUnsupported);
  EXPECT_EQ(script.errors[4].position(), (SourcePosition{5, 45}));
  EXPECT_FALSE(ParseScript("SELECT 1; SELEC 2").ok());
}

TEST(ParseErrorsTest, ShortensLongTokens) {
  const Status status = ParseStatement("DROP TABLE '" + std::string(5000, 'x') + "'").status();
  EXPECT_LT(status.message().size(), 300u);
  EXPECT_THAT(status.message(), HasSubstr("xxx...\" at line 1, column 12."));
}

}  // namespace
}  // namespace sluice::sql
