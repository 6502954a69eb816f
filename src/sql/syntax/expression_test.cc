#include <gtest/gtest.h>

#include "sql/syntax/test_support.h"

namespace sluice::sql {
namespace {

struct Case {
  std::string text;
  std::string canonical;
};

class ExpressionTest : public testing::TestWithParam<Case> {};

TEST_P(ExpressionTest, WritesItsCanonicalForm) {
  const Case& c = GetParam();
  EXPECT_EQ(CanonicalExpr(c.text), c.canonical);
  EXPECT_EQ(CanonicalExpr(c.canonical), c.canonical) << "read again";
}

INSTANTIATE_TEST_SUITE_P(
    Precedence, ExpressionTest,
    testing::ValuesIn(std::vector<Case>{
        {"a or b and not c is null", "`a` OR `b` AND NOT `c` IS NULL"},
        {"(a or b) and c", "(`a` OR `b`) AND `c`"},
        {"a and (b and c)", "`a` AND `b` AND `c`"},
        {"not (a and b)", "NOT (`a` AND `b`)"},
        {"1 < 2 = TRUE", "1 < 2 = TRUE"},
        {"1 < (2 = TRUE)", "1 < (2 = TRUE)"},
        {"a = b is true", "`a` = `b` IS TRUE"},
        {"a is true = b", "(`a` IS TRUE) = `b`"},
        {"a - b - c", "`a` - `b` - `c`"},
        {"a - (b - c)", "`a` - (`b` - `c`)"},
        {"a + b * c || d", "`a` + `b` * `c` || `d`"},
        {"(a + b) * -c % 2", "(`a` + `b`) * -`c` % 2"},
        {"-5", "-5"},
        {"- 5 + -.5", "-5 + -.5"},
        {"-(5)", "-(5)"},
        {"- -a", "-(-`a`)"},
        {"a - -5", "`a` - -5"},
        {"-a[1].b", "-`a`[1].`b`"},
        {"(a.b).c", "(`a`.`b`).`c`"},
        {"a = not b", "`a` = (NOT `b`)"},
        {"not not a", "NOT NOT `a`"},
        {"a between 1 and 2 and b", "`a` BETWEEN 1 AND 2 AND `b`"},
        {"a not between symmetric b + 1 and 2", "`a` NOT BETWEEN SYMMETRIC `b` + 1 AND 2"},
        {"a in (1, 2) or a not in (select x from t)",
         "`a` IN (1, 2) OR `a` NOT IN (SELECT `x` FROM `t`)"},
        {"a in ((select 1), 2)", "`a` IN ((SELECT 1), 2)"},
        {"a in ((select 1))", "`a` IN ((SELECT 1))"},
        {"(a, b) in ((1, 2), (3, 4))", "(`a`, `b`) IN ((1, 2), (3, 4))"},
        {"a like 'x%' escape '!' and b not like c || '%'",
         "`a` LIKE 'x%' ESCAPE '!' AND `b` NOT LIKE `c` || '%'"},
        {"a similar to 'x+' or a ilike 'X' or a rlike 'r'",
         "`a` SIMILAR TO 'x+' OR `a` ILIKE 'X' OR `a` RLIKE 'r'"},
        {"a is not distinct from b and c is distinct from null",
         "`a` IS NOT DISTINCT FROM `b` AND `c` IS DISTINCT FROM NULL"},
        {"a is not unknown", "`a` IS NOT UNKNOWN"},
        {"a is json or a is not json object or a is json scalar",
         "`a` IS JSON OR `a` IS NOT JSON OBJECT OR `a` IS JSON SCALAR"},
        {"a = any (select 1) and a > all (1, 2) and a <> some (values 1)",
         "`a` = ANY (SELECT 1) AND `a` > ALL (1, 2) AND `a` <> ANY (VALUES (1))"},
        {"(a, b) overlaps (c, d)", "(`a`, `b`) OVERLAPS (`c`, `d`)"},
        {"((select 1) + 1)", "(SELECT 1) + 1"},
        {"((select 1) union (select 2))", "((SELECT 1) UNION (SELECT 2))"},
        {"(((a)))", "`a`"},
    }));

INSTANTIATE_TEST_SUITE_P(
    Literals, ExpressionTest,
    testing::ValuesIn(std::vector<Case>{
        {"'it''s'", "'it''s'"},
        {"'a'\n  'b'", "'ab'"},
        {"U&'\\00e9'", "'é'"},
        {"U&'!00e9!!' uescape '!'", "'é!'"},
        {"E'a\\nb'", "'a\nb'"},
        {"x'4f2A'", "x'4F2A'"},
        {"N'x'", "'x'"},
        {"1e3", "1e3"},
        {"5.", "5"},
        {"DECIMAL '7'", "DECIMAL '7'"},
        {"true and UNKNOWN or null is null", "TRUE AND UNKNOWN OR NULL IS NULL"},
        {"date '2020-1-2'", "DATE '2020-01-02'"},
        {"time without time zone '1:2:3'", "TIME '01:02:03'"},
        {"timestamp '2020-01-01 00:00:00.120'", "TIMESTAMP '2020-01-01 00:00:00.120'"},
        {"timestamp with local time zone '2020-01-01'",
         "TIMESTAMP WITH LOCAL TIME ZONE '2020-01-01 00:00:00'"},
        {"interval -'5' second(2, 3)", "INTERVAL -'5' SECOND(2, 3)"},
        {"interval '1 02:03:04.567' day(3) to second(3)",
         "INTERVAL '1 02:03:04.567' DAY(3) TO SECOND(3)"},
        {"interval 5 minutes", "INTERVAL 5 MINUTE"},
        {"interval '1-3' year to month", "INTERVAL '1-3' YEAR TO MONTH"},
        {"interval (a + 1) day", "INTERVAL (`a` + 1) DAY"},
        {"interval a hours", "INTERVAL `a` HOUR"},
        {"interval - a hours", "INTERVAL (-`a`) HOUR"},
        {"(a - b) day", "(`a` - `b`) DAY"},
        {"(a - (b - c)) minutes", "(`a` - (`b` - `c`)) MINUTE"},
        {"array[1, 2][1]", "ARRAY[1, 2][1]"},
        {"map['a', 1, 'b', 2]['a']", "MAP['a', 1, 'b', 2]['a']"},
        {"map['a']", "`map`['a']"},
        {"row(1, 'a')", "ROW(1, 'a')"},
        {"(1, 'a')", "(1, 'a')"},
        {"row()", "ROW()"},
        {"multiset[1, 1]", "MULTISET[1, 1]"},
    }));

INSTANTIATE_TEST_SUITE_P(
    Calls, ExpressionTest,
    testing::ValuesIn(std::vector<Case>{
        {"date_format(ts, 'yyyy')", "DATE_FORMAT(`ts`, 'yyyy')"},
        {"`my f`(1)", "`my f`(1)"},
        {"c.d.f(1)", "`c`.`d`.`f`(1)"},
        {"now() - current_timestamp", "NOW() - CURRENT_TIMESTAMP"},
        {"CURRENT_DATE = LOCALTIMESTAMP", "CURRENT_DATE = LOCALTIMESTAMP"},
        {"count(*) + count(distinct a) + sum(all b)",
         "COUNT(*) + COUNT(DISTINCT `a`) + SUM(ALL `b`)"},
        {"sum(a) filter (where b > 1)", "SUM(`a`) FILTER (WHERE `b` > 1)"},
        {"count(*) over w", "COUNT(*) OVER `w`"},
        {"row_number() over (partition by a, b order by c desc nulls last, d)",
         "ROW_NUMBER() OVER (PARTITION BY `a`, `b` ORDER BY `c` DESC NULLS LAST, `d`)"},
        {"sum(a) over (w rows between 2 preceding and current row)",
         "SUM(`a`) OVER (`w` ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"},
        {"sum(a) over (order by t range interval '1' day preceding)",
         "SUM(`a`) OVER (ORDER BY `t` RANGE INTERVAL '1' DAY PRECEDING)"},
        {"sum(a) over (order by t range between unbounded preceding and unbounded following)",
         "SUM(`a`) OVER (ORDER BY `t` RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"},
        {"first_value(a) ignore nulls over (order by t)",
         "FIRST_VALUE(`a` IGNORE NULLS) OVER (ORDER BY `t`)"},
        {"last_value(a respect nulls)", "LAST_VALUE(`a` RESPECT NULLS)"},
        {"left(a, 2) || right(b, 1)", "LEFT(`a`, 2) || RIGHT(`b`, 1)"},
        {"if(a, 1, 2)", "IF(`a`, 1, 2)"},
        {"year(d) + hour(t)", "YEAR(`d`) + HOUR(`t`)"},
        {"f(x => 1, y => 'a')", "F(`x` => 1, `y` => 'a')"},
        {"cast(a as decimal(10,2))", "CAST(`a` AS DECIMAL(10, 2))"},
        {"try_cast('x' as int)", "TRY_CAST('x' AS INT)"},
        {"extract(year from ts)", "EXTRACT(YEAR FROM `ts`)"},
        {"extract(days from interval '1' day)", "EXTRACT(DAY FROM INTERVAL '1' DAY)"},
        {"floor(ts to week) = ceiling(x)", "FLOOR(`ts` TO WEEK) = CEILING(`x`)"},
        {"position('a' in s)", "POSITION('a' IN `s`)"},
        {"position('a' in s from 3)", "POSITION('a' IN `s` FROM 3)"},
        {"substring(s from 2 for 3) || substring(s, 2)",
         "SUBSTRING(`s` FROM 2 FOR 3) || SUBSTRING(`s`, 2)"},
        {"trim(s)", "TRIM(BOTH ' ' FROM `s`)"},
        {"trim(leading 'x' from s)", "TRIM(LEADING 'x' FROM `s`)"},
        {"trim(trailing from s)", "TRIM(TRAILING ' ' FROM `s`)"},
        {"trim('x' from s)", "TRIM(BOTH 'x' FROM `s`)"},
        {"overlay(a placing b from 1 for 2)", "OVERLAY(`a` PLACING `b` FROM 1 FOR 2)"},
        {"timestampadd(minute, 5, ts)", "TIMESTAMPADD(MINUTE, 5, `ts`)"},
        {"timestampdiff(sql_tsi_day, a, b)", "TIMESTAMPDIFF(DAY, `a`, `b`)"},
        {"case when a then 1 when b then 2 else 3 end",
         "CASE WHEN `a` THEN 1 WHEN `b` THEN 2 ELSE 3 END"},
        {"case a when 1, 2 then 'x' end", "CASE `a` WHEN 1, 2 THEN 'x' END"},
        {"exists (select 1 from t)", "EXISTS (SELECT 1 FROM `t`)"},
        {"not exists (values (1))", "NOT EXISTS (VALUES (1))"},
        {"tumble_start(ts, interval '1' hour)", "TUMBLE_START(`ts`, INTERVAL '1' HOUR)"},
        {"grouping(a) + grouping_id(a, b)", "GROUPING(`a`) + GROUPING_ID(`a`, `b`)"},
        {"source_watermark()", "SOURCE_WATERMARK()"},
        {"t.`order`.field", "`t`.`order`.`field`"},
        {"result + datetime", "`result` + `datetime`"},
    }));

INSTANTIATE_TEST_SUITE_P(
    Json, ExpressionTest,
    testing::ValuesIn(std::vector<Case>{
        {"json_value(j, '$.a')", "JSON_VALUE(`j`, '$.a')"},
        {"json_value(j, 'lax $.a' returning int default -1 on empty error on error)",
         "JSON_VALUE(`j`, 'lax $.a' RETURNING INT DEFAULT -1 ON EMPTY ERROR ON ERROR)"},
        {"json_exists(j, '$.a' true on error)", "JSON_EXISTS(`j`, '$.a' TRUE ON ERROR)"},
        {"json_query(j, '$' with wrapper empty array on empty null on error)",
         "JSON_QUERY(`j`, '$' WITH UNCONDITIONAL ARRAY WRAPPER EMPTY ARRAY ON EMPTY NULL ON "
         "ERROR)"},
        {"json_query(j, '$' returning array<string> with conditional array wrapper)",
         "JSON_QUERY(`j`, '$' RETURNING ARRAY<STRING> WITH CONDITIONAL ARRAY WRAPPER)"},
        {"json_query(j, '$' without array wrapper)", "JSON_QUERY(`j`, '$' WITHOUT ARRAY WRAPPER)"},
        {"json_object('a' value 1, key 'b' value c absent on null)",
         "JSON_OBJECT(KEY 'a' VALUE 1, KEY 'b' VALUE `c` ABSENT ON NULL)"},
        {"json_object('a' : 1)", "JSON_OBJECT(KEY 'a' VALUE 1)"},
        {"json_object()", "JSON_OBJECT()"},
        {"json_object(key value 1)", "JSON_OBJECT(KEY `key` VALUE 1)"},
        {"json_array(1, 'a' null on null)", "JSON_ARRAY(1, 'a' NULL ON NULL)"},
        {"json_array(null on null)", "JSON_ARRAY(NULL ON NULL)"},
        {"json_objectagg(key k value v null on null) filter (where k is not null)",
         "JSON_OBJECTAGG(KEY `k` VALUE `v` NULL ON NULL) FILTER (WHERE `k` IS NOT NULL)"},
        {"json_arrayagg(a absent on null)", "JSON_ARRAYAGG(`a` ABSENT ON NULL)"},
        {"json_string(a)", "JSON_STRING(`a`)"},
    }));

TEST(TypeTest, WritesItsCanonicalForm) {
  const Case cases[] = {
      {"integer", "INT"},
      {"dec(5)", "DECIMAL(5)"},
      {"numeric(5, 2) not null", "DECIMAL(5, 2) NOT NULL"},
      {"character varying(10)", "VARCHAR(10)"},
      {"char varying", "VARCHAR"},
      {"character(3)", "CHAR(3)"},
      {"binary varying(3)", "VARBINARY(3)"},
      {"double precision", "DOUBLE"},
      {"time(3) without time zone", "TIME(3)"},
      {"timestamp", "TIMESTAMP"},
      {"timestamp(3) with local time zone", "TIMESTAMP_LTZ(3)"},
      {"timestamp_ltz(3)", "TIMESTAMP_LTZ(3)"},
      {"timestamp(3) with time zone", "TIMESTAMP(3) WITH TIME ZONE"},
      {"interval day to second(3)", "INTERVAL DAY TO SECOND(3)"},
      {"array<map<string, row<a int not null 'c', b array<int>>>>",
       "ARRAY<MAP<STRING, ROW<`a` INT NOT NULL 'c', `b` ARRAY<INT>>>>"},
      {"int not null array not null multiset", "MULTISET<ARRAY<INT NOT NULL> NOT NULL>"},
      {"row(a int, `b c` string)", "ROW<`a` INT, `b c` STRING>"},
      {"row<>", "ROW<>"},
      {"row()", "ROW<>"},
      {"int null", "INT NULL"},
      {"raw('java.lang.Void', 'abc')", "RAW('java.lang.Void', 'abc')"},
      {"structured<'com.x.Y', a int>", "STRUCTURED<'com.x.Y', `a` INT>"},
      {"variant", "VARIANT"},
      {"my.own_type", "`my`.`own_type`"},
  };
  for (const Case& c : cases) {
    Result<TypePtr> type = ParseType(c.text);
    ASSERT_TRUE(type.ok()) << c.text << "\n" << type.status().ToString();
    EXPECT_EQ(ToSql(**type), c.canonical);
    Result<TypePtr> again = ParseType(c.canonical);
    ASSERT_TRUE(again.ok()) << c.canonical;
    EXPECT_EQ(ToSql(**again), c.canonical);
  }
}

TEST(PathTest, IsANameAndNothingElse) {
  const Result<NamePath> path = ParsePath(" cat . `my db`.t");
  ASSERT_TRUE(path.ok()) << path.status().ToString();
  ASSERT_EQ(path->parts.size(), 3u);
  EXPECT_EQ(path->parts[1].name, "my db");
  for (const char* text : {"", "t DRY RUN", "t;", "t.", "t.*", "'t'", "select"}) {
    EXPECT_EQ(ParsePath(text).status().code(), StatusCode::kParseError) << text;
  }
}

TEST(ExpressionTreeTest, KeepsPositions) {
  Result<ExprPtr> parsed = ParseExpression("a +\n  (b * c) and not d");
  ASSERT_TRUE(parsed.ok());
  const auto& conjunction = (*parsed)->As<BinaryExpr>();
  EXPECT_EQ(conjunction.range.begin, (SourcePosition{1, 1}));
  EXPECT_EQ(conjunction.range.end, (SourcePosition{2, 19}));
  EXPECT_EQ(conjunction.op_range.begin, (SourcePosition{2, 11}));
  const auto& sum = conjunction.left->As<BinaryExpr>();
  EXPECT_EQ(sum.range.end, (SourcePosition{2, 9}));
  EXPECT_TRUE(sum.right->parenthesized);
  EXPECT_EQ(sum.right->range.begin, (SourcePosition{2, 4}));
  EXPECT_EQ(sum.right->range.end, (SourcePosition{2, 8}));
  EXPECT_EQ(conjunction.right->range.begin, (SourcePosition{2, 15}));
}

TEST(ExpressionTreeTest, BuildsFlatTreesOfLongChains) {
  std::string text = "a = 0";
  for (int i = 1; i < 20000; ++i) text += (i % 2 ? " OR a = " : " AND b = ") + std::to_string(i);
  Result<ExprPtr> parsed = ParseExpression(text);
  ASSERT_TRUE(parsed.ok()) << parsed.status().ToString();
  EXPECT_EQ(CanonicalExpr(ToSql(**parsed)), ToSql(**parsed));
}

TEST(ExpressionTreeTest, LimitsNestingAndChains) {
  auto repeat = [](std::string_view text, int times) {
    std::string result;
    for (int i = 0; i < times; ++i) result += text;
    return result;
  };
  struct Hostile {
    std::string start, middle, end;
  };
  const Hostile hostile[] = {
      {"(", "1", ")"},
      {"1+(", "1", ")"},
      {"NOT ", "a", ""},
      {"- ", "a", ""},
      {"f(", "1", ")"},
      {"a[", "1", "]"},
      {"ARRAY[", "1", "]"},
      {"(SELECT ", "1", ")"},
      {"CASE WHEN ", "a", " THEN 1 END"},
      {"EXISTS (SELECT ", "1", ")"},
      {"CAST(", "1", " AS INT)"},
      {"a IN (", "1", ")"},
      {"a = ANY (", "1", ")"},
      {"INTERVAL (", "1", ") DAY"},
      {"a OR (b AND ", "c", ")"},
      {"((SELECT 1) + ", "1", ")"},
  };
  for (const Hostile& h : hostile) {
    EXPECT_TRUE(ParseExpression(repeat(h.start, 60) + h.middle + repeat(h.end, 60)).ok())
        << h.start;
    const Status status =
        ParseExpression(repeat(h.start, 50000) + h.middle + repeat(h.end, 50000)).status();
    EXPECT_EQ(status.code(), StatusCode::kParseError) << h.start;
    EXPECT_NE(status.message().find("nested more than 200 levels"), std::string::npos)
        << h.start << status.message();
  }
  for (std::string_view link : {" + 1", " || 'x'", " = 1", " IS NULL", "[1]", " IN (1)"}) {
    EXPECT_TRUE(ParseExpression("a" + repeat(link, 900)).ok()) << link;
    const Status status = ParseExpression("a" + repeat(link, 100000)).status();
    EXPECT_NE(status.message().find("more than 1000 links"), std::string::npos) << status.message();
  }
}

}  // namespace
}  // namespace sluice::sql
