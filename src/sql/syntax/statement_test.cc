#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sql/syntax/test_support.h"

namespace sluice::sql {
namespace {

struct Case {
  std::string text;
  std::string canonical;
};

class StatementTest : public testing::TestWithParam<Case> {};

TEST_P(StatementTest, WritesItsCanonicalForm) {
  const Case& c = GetParam();
  EXPECT_EQ(Canonical(c.text), c.canonical);
  EXPECT_EQ(Canonical(c.canonical), c.canonical) << "read again";
}

INSTANTIATE_TEST_SUITE_P(
    Queries, StatementTest,
    testing::ValuesIn(std::vector<Case>{
        {"select 1", "SELECT 1"},
        {"select *, t.*, a as b, c d from t;", "SELECT *, `t`.*, `a` AS `b`, `c` AS `d` FROM `t`"},
        {"select distinct a from c.d.t x (p, q) where a > 1",
         "SELECT DISTINCT `a` FROM `c`.`d`.`t` AS `x` (`p`, `q`) WHERE `a` > 1"},
        {"select a from t group by a, (b, c), rollup(d), cube (e, (f, g)), grouping sets ((a), ()) "
         "having count(*) > 1",
         "SELECT `a` FROM `t` GROUP BY `a`, (`b`, `c`), ROLLUP (`d`), CUBE (`e`, (`f`, `g`)), "
         "GROUPING SETS ((`a`), ()) HAVING COUNT(*) > 1"},
        {"select a from t order by 1 desc, b nulls first limit 10 offset 5 rows",
         "SELECT `a` FROM `t` ORDER BY 1 DESC, `b` NULLS FIRST LIMIT 10 OFFSET 5"},
        {"select a from t offset 5 fetch next 3 rows only", "SELECT `a` FROM `t` LIMIT 3 OFFSET 5"},
        {"select a from t limit all", "SELECT `a` FROM `t`"},
        {"with x as (select 1), y (a, b) as (values (1, 2)) select * from x, y",
         "WITH `x` AS (SELECT 1), `y` (`a`, `b`) AS (VALUES (1, 2)) SELECT * FROM `x`, `y`"},
        {"values 1, (2), (3, 'a'), row(4), ((5, 6))", "VALUES (1), (2), (3, 'a'), (4), ((5, 6))"},
        {"table db.t", "TABLE `db`.`t`"},
        {"select 1 union all select 2 intersect select 3 except distinct select 4 minus all select "
         "5",
         "SELECT 1 UNION ALL SELECT 2 INTERSECT SELECT 3 EXCEPT SELECT 4 EXCEPT ALL SELECT 5"},
        {"(select 1 order by 1 limit 1) union (select 2)",
         "(SELECT 1 ORDER BY 1 LIMIT 1) UNION (SELECT 2)"},
        {"select * from a join b on a.x = b.x left outer join c using (x) cross join d natural "
         "join e full join f on true",
         "SELECT * FROM `a` INNER JOIN `b` ON `a`.`x` = `b`.`x` LEFT JOIN `c` USING (`x`) CROSS "
         "JOIN `d` NATURAL INNER JOIN `e` FULL JOIN `f` ON TRUE"},
        {"select * from a join (b join c on true) on true",
         "SELECT * FROM `a` INNER JOIN (`b` INNER JOIN `c` ON TRUE) ON TRUE"},
        {"select * from (a, b) join c on true", "SELECT * FROM (`a`, `b`) INNER JOIN `c` ON TRUE"},
        {"select * from ((select 1) union (select 2)) as u",
         "SELECT * FROM ((SELECT 1) UNION (SELECT 2)) AS `u`"},
        {"select * from (values (1, 2)) as t(a, b)",
         "SELECT * FROM (VALUES (1, 2)) AS `t` (`a`, `b`)"},
        {"select * from t /*+ OPTIONS('a'='b', 'c' = 'd') */ as x",
         "SELECT * FROM `t` /*+ `OPTIONS`('a' = 'b', 'c' = 'd') */ AS `x`"},
        {"select /*+ BROADCAST(a, b.c), STATE_TTL('a'='1d') */ * from a",
         "SELECT /*+ `BROADCAST`('a', 'b.c'), `STATE_TTL`('a' = '1d') */ * FROM `a`"},
        {"select * from o join r for system_time as of o.ts as r on o.k = r.k",
         "SELECT * FROM `o` INNER JOIN `r` FOR SYSTEM_TIME AS OF `o`.`ts` AS `r` ON `o`.`k` = "
         "`r`.`k`"},
        {"select * from t, lateral table(f(a)) as x(b)",
         "SELECT * FROM `t`, LATERAL TABLE(F(`a`)) AS `x` (`b`)"},
        {"select * from t left join lateral (select 1) x on true",
         "SELECT * FROM `t` LEFT JOIN LATERAL (SELECT 1) AS `x` ON TRUE"},
        {"select * from t cross join unnest(arr) with ordinality as u (c, n)",
         "SELECT * FROM `t` CROSS JOIN UNNEST(`arr`) WITH ORDINALITY AS `u` (`c`, `n`)"},
        {"select * from table(tumble(table b, descriptor(ts), interval '10' minutes))",
         "SELECT * FROM TABLE(TUMBLE(TABLE `b`, DESCRIPTOR(`ts`), INTERVAL '10' MINUTE))"},
        {"select * from tumble(data => table b, timecol => descriptor(ts), size => interval '10' "
         "minutes, `offset` => interval '1' minute) w",
         "SELECT * FROM TUMBLE(`data` => TABLE `b`, `timecol` => DESCRIPTOR(`ts`), `size` => "
         "INTERVAL '10' MINUTE, `offset` => INTERVAL '1' MINUTE) AS `w`"},
        {"select * from table(session(table b partition by a, c, descriptor(ts), interval '5' "
         "minutes))",
         "SELECT * FROM TABLE(SESSION(TABLE `b` PARTITION BY (`a`, `c`), DESCRIPTOR(`ts`), "
         "INTERVAL '5' MINUTE))"},
        {"select * from table(hop((select * from t), descriptor(ts), interval '5' minutes, "
         "interval '1' hour))",
         "SELECT * FROM TABLE(HOP((SELECT * FROM `t`), DESCRIPTOR(`ts`), INTERVAL '5' MINUTE, "
         "INTERVAL '1' HOUR))"},
        {"select * from table(f((select * from t) partition by (a) order by (b desc)))",
         "SELECT * FROM TABLE(F(TABLE (SELECT * FROM `t`) PARTITION BY (`a`) ORDER BY (`b` "
         "DESC)))"},
        {"select sum(a) over w from t window w as (partition by b order by c), v as (w rows "
         "unbounded preceding) qualify a = 1",
         "SELECT SUM(`a`) OVER `w` FROM `t` WINDOW `w` AS (PARTITION BY `b` ORDER BY `c`), `v` AS "
         "(`w` ROWS UNBOUNDED PRECEDING) QUALIFY `a` = 1"},
        {"execute select 1", "SELECT 1"},
        {"select a name, b data, c type from t key",
         "SELECT `a` AS `name`, `b` AS `data`, `c` AS `type` FROM `t` AS `key`"},
    }));

INSTANTIATE_TEST_SUITE_P(
    Tables, StatementTest,
    testing::ValuesIn(std::vector<Case>{
        {"create table t (a int)", "CREATE TABLE `t` (\n  `a` INT\n)"},
        {"create temporary table if not exists c.d.t (a int not null comment 'x', b as a + 1 "
         "comment 'y', "
         "`file.path` string not null metadata, k string metadata from 'key' virtual comment 'z', "
         "ts timestamp(3), watermark for ts as ts - interval '5' second, constraint pk primary key "
         "(a) not enforced) "
         "comment 'tc' partitioned by (a, datetime) with ('connector' = 'x', 'p'='//')",
         "CREATE TEMPORARY TABLE IF NOT EXISTS `c`.`d`.`t` (\n  `a` INT NOT NULL COMMENT 'x',\n  "
         "`b` AS `a` + 1 COMMENT 'y',\n"
         "  `file.path` STRING NOT NULL METADATA,\n  `k` STRING METADATA FROM 'key' VIRTUAL "
         "COMMENT 'z',\n  `ts` TIMESTAMP(3),\n"
         "  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,\n  CONSTRAINT `pk` PRIMARY KEY (`a`) "
         "NOT ENFORCED\n)\n"
         "COMMENT 'tc'\nPARTITIONED BY (`a`, `datetime`)\nWITH (\n  'connector' = 'x',\n  'p' = "
         "'//'\n)"},
        {"create table t (a int primary key not enforced, b int unique, c timestamp(3) with local "
         "time zone)",
         "CREATE TABLE `t` (\n  `a` INT PRIMARY KEY NOT ENFORCED,\n  `b` INT UNIQUE,\n  `c` "
         "TIMESTAMP_LTZ(3)\n)"},
        {"create table t (a int) distributed by hash(a) into 4 buckets with ()",
         "CREATE TABLE `t` (\n  `a` INT\n)\nDISTRIBUTED BY HASH(`a`) INTO 4 BUCKETS\nWITH ()"},
        {"create table t (a int) distributed into 2 buckets",
         "CREATE TABLE `t` (\n  `a` INT\n)\nDISTRIBUTED INTO 2 BUCKETS"},
        {"create table t (b int) with ('a'='b') like s (including all overwriting options "
         "excluding partitions)",
         "CREATE TABLE `t` (\n  `b` INT\n)\nWITH (\n  'a' = 'b'\n)\nLIKE `s` (INCLUDING ALL "
         "OVERWRITING OPTIONS EXCLUDING PARTITIONS)"},
        {"create table t like s", "CREATE TABLE `t`\nLIKE `s`"},
        {"create table t (b, a) with ('k'='v') as select a, b from s",
         "CREATE TABLE `t` (`b`, `a`)\nWITH (\n  'k' = 'v'\n)\nAS SELECT `a`, `b` FROM `s`"},
        {"create or replace table t as select 1", "CREATE OR REPLACE TABLE `t`\nAS SELECT 1"},
        {"replace table t as select 1", "REPLACE TABLE `t`\nAS SELECT 1"},
        {"create table t (r row<a int, b array<row<c int>>>, watermark for r.a as r.a)",
         "CREATE TABLE `t` (\n  `r` ROW<`a` INT, `b` ARRAY<ROW<`c` INT>>>,\n  WATERMARK FOR "
         "`r`.`a` AS `r`.`a`\n)"},
        {"alter table if exists t rename to d.t2", "ALTER TABLE IF EXISTS `t` RENAME TO `d`.`t2`"},
        {"alter table t rename a to b", "ALTER TABLE `t` RENAME `a` TO `b`"},
        {"alter table t set ('a'='b')", "ALTER TABLE `t` SET (\n  'a' = 'b'\n)"},
        {"alter table t reset ('a', 'b')", "ALTER TABLE `t` RESET ('a', 'b')"},
        {"alter table t reset ()", "ALTER TABLE `t` RESET ()"},
        {"alter table t add a int after b", "ALTER TABLE `t` ADD (\n  `a` INT AFTER `b`\n)"},
        {"alter table t add (a int first, b as a, watermark for ts as ts, primary key (a) not "
         "enforced)",
         "ALTER TABLE `t` ADD (\n  `a` INT FIRST,\n  `b` AS `a`,\n  WATERMARK FOR `ts` AS `ts`,\n  "
         "PRIMARY KEY (`a`) NOT ENFORCED\n)"},
        {"alter table t modify a bigint not null comment 'x'",
         "ALTER TABLE `t` MODIFY (\n  `a` BIGINT NOT NULL COMMENT 'x'\n)"},
        {"alter table t drop a", "ALTER TABLE `t` DROP (`a`)"},
        {"alter table t drop (a, b)", "ALTER TABLE `t` DROP (`a`, `b`)"},
        {"alter table t drop primary key", "ALTER TABLE `t` DROP PRIMARY KEY"},
        {"alter table t drop constraint c", "ALTER TABLE `t` DROP CONSTRAINT `c`"},
        {"alter table t drop watermark", "ALTER TABLE `t` DROP WATERMARK"},
        {"alter table t add if not exists partition (a='1', b=-2) with ('k'='v') partition (a='2', "
         "b=3)",
         "ALTER TABLE `t` ADD IF NOT EXISTS PARTITION (`a` = '1', `b` = -2) WITH (\n  'k' = 'v'\n) "
         "PARTITION (`a` = '2', `b` = 3)"},
        {"alter table t drop if exists partition (a='1'), partition (a='2')",
         "ALTER TABLE `t` DROP IF EXISTS PARTITION (`a` = '1'), PARTITION (`a` = '2')"},
        {"drop temporary table if exists t", "DROP TEMPORARY TABLE IF EXISTS `t`"},
        {"create view if not exists v (a comment 'x', b) comment 'y' as select 1, 2",
         "CREATE VIEW IF NOT EXISTS `v` (`a` COMMENT 'x', `b`) COMMENT 'y' AS SELECT 1, 2"},
        {"create temporary view v as with x as (select 1) select * from x",
         "CREATE TEMPORARY VIEW `v` AS WITH `x` AS (SELECT 1) SELECT * FROM `x`"},
        {"alter view v rename to w", "ALTER VIEW `v` RENAME TO `w`"},
        {"alter view v as select 1", "ALTER VIEW `v` AS SELECT 1"},
        {"drop view if exists v", "DROP VIEW IF EXISTS `v`"},
    }));

INSTANTIATE_TEST_SUITE_P(
    Others, StatementTest,
    testing::ValuesIn(std::vector<Case>{
        {"insert into t select 1", "INSERT INTO `t` SELECT 1"},
        {"insert overwrite t /*+ options('a'='b') */ partition (dt = '2020', h = 1) (a, b.c) "
         "values (1, 2)",
         "INSERT OVERWRITE `t` /*+ `options`('a' = 'b') */ PARTITION (`dt` = '2020', `h` = 1) "
         "(`a`, `b`.`c`) VALUES (1, 2)"},
        {"insert into t (select 1)", "INSERT INTO `t` (SELECT 1)"},
        {"insert into t (a) (select 1)", "INSERT INTO `t` (`a`) (SELECT 1)"},
        {"execute insert into t table s", "INSERT INTO `t` TABLE `s`"},
        {"execute statement set begin insert into a select 1; insert into b select 2;; create "
         "table c as select 3; end;",
         "EXECUTE STATEMENT SET BEGIN\nINSERT INTO `a` SELECT 1;\nINSERT INTO `b` SELECT "
         "2;\nCREATE TABLE `c`\nAS SELECT 3;\nEND"},
        {"begin statement set;", "BEGIN STATEMENT SET"},
        {"end", "END"},
        {"create catalog if not exists c comment 'x' with ('type'='hive')",
         "CREATE CATALOG IF NOT EXISTS `c` COMMENT 'x' WITH (\n  'type' = 'hive'\n)"},
        {"alter catalog c set ('a'='b')", "ALTER CATALOG `c` SET (\n  'a' = 'b'\n)"},
        {"alter catalog c reset ('a')", "ALTER CATALOG `c` RESET ('a')"},
        {"alter catalog c comment 'x'", "ALTER CATALOG `c` COMMENT 'x'"},
        {"drop catalog if exists c", "DROP CATALOG IF EXISTS `c`"},
        {"use catalog c", "USE CATALOG `c`"},
        {"use catalog.d", "USE `catalog`.`d`"},
        {"use c.d", "USE `c`.`d`"},
        {"create database if not exists c.d comment 'x' with ('a'='b')",
         "CREATE DATABASE IF NOT EXISTS `c`.`d` COMMENT 'x' WITH (\n  'a' = 'b'\n)"},
        {"alter database d set ('a'='b')", "ALTER DATABASE `d` SET (\n  'a' = 'b'\n)"},
        {"drop database if exists d cascade", "DROP DATABASE IF EXISTS `d` CASCADE"},
        {"drop database d restrict", "DROP DATABASE `d`"},
        {"set 'a' = 'b''c'", "SET 'a' = 'b''c'"},
        {"set a.b-c = file:///x//y ;", "SET 'a.b-c' = 'file:///x//y'"},
        {"set a = 'b'", "SET 'a' = 'b'"},
        {"set a=10 s -- ten\n;", "SET 'a' = '10 s'"},
        {"set", "SET"},
        {"reset 'a'", "RESET 'a'"},
        {"reset a.b", "RESET 'a.b'"},
        {"reset;", "RESET"},
        {"show catalogs not like 'a%'", "SHOW CATALOGS NOT LIKE 'a%'"},
        {"show databases in c ilike 'a%'", "SHOW DATABASES FROM `c` ILIKE 'a%'"},
        {"show tables from c.d like 'a%'", "SHOW TABLES FROM `c`.`d` LIKE 'a%'"},
        {"show views", "SHOW VIEWS"},
        {"show columns in t like 'a'", "SHOW COLUMNS FROM `t` LIKE 'a'"},
        {"show partitions t partition (a='1')", "SHOW PARTITIONS `t` PARTITION (`a` = '1')"},
        {"show user functions", "SHOW USER FUNCTIONS"},
        {"show full modules", "SHOW FULL MODULES"},
        {"show jars", "SHOW JARS"},
        {"show jobs", "SHOW JOBS"},
        {"show current catalog", "SHOW CURRENT CATALOG"},
        {"show current database", "SHOW CURRENT DATABASE"},
        {"show create table t", "SHOW CREATE TABLE `t`"},
        {"show create view v", "SHOW CREATE VIEW `v`"},
        {"show create catalog c", "SHOW CREATE CATALOG `c`"},
        {"desc t", "DESCRIBE `t`"},
        {"describe extended c.d.t", "DESCRIBE EXTENDED `c`.`d`.`t`"},
        {"describe catalog extended c", "DESCRIBE CATALOG EXTENDED `c`"},
        {"describe catalog", "DESCRIBE `catalog`"},
        {"describe job '228d70913eab60dda85c5e7f78b5782c'",
         "DESCRIBE JOB '228d70913eab60dda85c5e7f78b5782c'"},
        {"explain select 1", "EXPLAIN SELECT 1"},
        {"explain plan for insert into t select 1", "EXPLAIN INSERT INTO `t` SELECT 1"},
        {"explain estimated_cost, changelog_mode, json_execution_plan, plan_advice select 1",
         "EXPLAIN ESTIMATED_COST, CHANGELOG_MODE, JSON_EXECUTION_PLAN, PLAN_ADVICE SELECT 1"},
        {"explain statement set begin insert into a select 1; end",
         "EXPLAIN EXECUTE STATEMENT SET BEGIN\nINSERT INTO `a` SELECT 1;\nEND"},
        {"stop job 'x' with savepoint with drain", "STOP JOB 'x' WITH SAVEPOINT WITH DRAIN"},
        {"compact table a.t", "COMPACT TABLE `a`.`t`"},
        {"compact table t partition (dt = 'x')", "COMPACT TABLE `t` PARTITION (`dt` = 'x')"},
        {"clean table t", "CLEAN TABLE `t`"},
        {"clean table t dry run", "CLEAN TABLE `t` DRY RUN"},
        {"clean table t older than '2 h' dry run", "CLEAN TABLE `t` OLDER THAN '2 h' DRY RUN"},
    }));

TEST(UnsupportedTest, NamesStatements) {
  const Case cases[] = {
      {"delete from t where a = 1", "DELETE"},
      {"update t set a = 1", "UPDATE"},
      {"truncate table t", "TRUNCATE TABLE"},
      {"merge into t using s on true when matched then update set a = 1", "MERGE"},
      {"analyze table t compute statistics for columns a, b", "ANALYZE TABLE"},
      {"call sys.f(1)", "CALL"},
      {"compile plan 'x' for insert into t select 1", "COMPILE PLAN"},
      {"execute plan 'x'", "EXECUTE PLAN"},
      {"create function f as 'com.x.F' language java using jar 'f.jar'", "CREATE FUNCTION"},
      {"create temporary system function f as 'x'", "CREATE SYSTEM FUNCTION"},
      {"drop temporary function if exists f", "DROP FUNCTION"},
      {"create materialized table m freshness = interval '1' minute as select 1",
       "CREATE MATERIALIZED TABLE"},
      {"alter materialized table m suspend", "ALTER MATERIALIZED TABLE"},
      {"create model m input (a int) output (b int) with ('x'='y')", "CREATE MODEL"},
      {"load module hive with ('a'='b')", "LOAD MODULE"},
      {"use modules hive, core", "USE MODULES"},
      {"add jar 'x.jar'", "ADD JAR"},
      {"show procedures", "SHOW PROCEDURES"},
      {"describe function f", "DESCRIBE FUNCTION"},
      {"create connection c with ('a'='b')", "CREATE CONNECTION"},
  };
  for (const Case& c : cases) {
    Result<ParsedStatement> parsed = ParseStatement(c.text + ";");
    ASSERT_TRUE(parsed.ok()) << c.text << parsed.status().ToString();
    ASSERT_EQ(parsed->statement->kind, StatementKind::kUnsupported) << c.text;
    EXPECT_EQ(parsed->statement->As<UnsupportedStatement>().feature, c.canonical);
    EXPECT_EQ(parsed->statement->As<UnsupportedStatement>().text, c.text);
  }
}

TEST(UnsupportedTest, NamesFeaturesOfQueries) {
  struct Refusal {
    std::string text;
    std::string feature;
    int column;
  };
  const Refusal cases[] = {
      {"SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY a)", "MATCH_RECOGNIZE", 17},
      {"SELECT * FROM t PIVOT (SUM(a) FOR b IN (1))", "PIVOT", 17},
      {"SELECT * FROM t TABLESAMPLE BERNOULLI (10)", "TABLESAMPLE", 17},
      {"SELECT * FROM t AS x UNPIVOT (a FOR b IN (c))", "UNPIVOT", 22},
      {"WITH RECURSIVE x AS (SELECT 1) SELECT * FROM x", "WITH RECURSIVE", 6},
      {"SELECT LISTAGG(a) WITHIN GROUP (ORDER BY b) FROM t", "WITHIN GROUP", 19},
      {"SELECT a COLLATE x FROM t", "COLLATE", 10},
      {"SELECT ? FROM t", "A dynamic parameter (?)", 8},
      {"INSERT INTO t SELECT 1 ON CONFLICT DO NOTHING", "INSERT … ON CONFLICT", 24},
      {"SELECT ARRAY(SELECT 1)", "ARRAY (query)", 8},
      {"ALTER TABLE t ADD DISTRIBUTION BY (a)", "ALTER TABLE … ADD DISTRIBUTION", 19},
      {"SELECT SUM(a) OVER (ORDER BY b GROUPS 1 PRECEDING) FROM t", "A GROUPS frame", 32},
  };
  for (const Refusal& c : cases) {
    const Status status = ParseStatement(c.text).status();
    EXPECT_EQ(status.code(), StatusCode::kUnsupported) << c.text << status.ToString();
    EXPECT_THAT(status.message(),
                testing::StartsWith(c.feature + " is not supported yet (tier L)"));
    EXPECT_EQ(status.position(), (SourcePosition{1, c.column})) << c.text;
  }
}

TEST(ScriptTest, KeepsTextAndRangeOfEachStatement) {
  Result<std::vector<ParsedStatement>> script =
      ParseScript("-- first\nSELECT 1 ; ;\n  SET a = b // c\n; /* x */ INSERT INTO t\nVALUES (1);");
  ASSERT_TRUE(script.ok()) << script.status().ToString();
  ASSERT_EQ(script->size(), 3u);
  EXPECT_EQ((*script)[0].text, "SELECT 1");
  EXPECT_EQ((*script)[0].range.begin, (SourcePosition{2, 1}));
  EXPECT_EQ((*script)[0].range.end, (SourcePosition{2, 8}));
  EXPECT_EQ((*script)[1].text, "SET a = b // c");
  EXPECT_EQ((*script)[1].range.end, (SourcePosition{3, 16}));
  EXPECT_EQ((*script)[2].text, "INSERT INTO t\nVALUES (1)");
  EXPECT_EQ((*script)[2].range.end, (SourcePosition{5, 10}));
}

TEST(ScriptTest, NotesSoftWords) {
  Result<ParsedStatement> parsed =
      ParseStatement("CREATE TABLE t (datetime STRING) PARTITIONED BY (datetime)");
  ASSERT_TRUE(parsed.ok());
  ASSERT_EQ(parsed->notes.size(), 2u);
  EXPECT_THAT(parsed->notes[0], testing::HasSubstr("`datetime`"));
}

}  // namespace
}  // namespace sluice::sql
