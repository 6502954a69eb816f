#include "engine/definition/definition.h"

#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "common/log.h"
#include "connectors/all_connectors.h"
#include "engine/definition/config_keys.h"
#include "engine/definition/test_support.h"
#include "formats/all_formats.h"

namespace sluice::engine {
namespace {

/// A script: statements in order, each with what it answers. An answer that begins with "ERROR" or
/// "~" needs only be contained.
struct Step {
  std::string sql;
  std::string answer = "OK";
};

void RunScript(const std::vector<Step>& steps, DefinitionSession* session) {
  for (const Step& step : steps) {
    SCOPED_TRACE(step.sql);
    const std::string answer = session->Run(step.sql);
    if (step.answer.starts_with("ERROR ")) {
      EXPECT_TRUE(answer.starts_with("ERROR ")) << answer;
      EXPECT_NE(answer.find(step.answer.substr(6)), std::string::npos) << answer;
    } else {
      EXPECT_EQ(answer, step.answer);
    }
  }
}

void RunScript(const std::vector<Step>& steps) {
  DefinitionSession session;
  RunScript(steps, &session);
}

TEST(CreateTableTest, KeepsEveryKindOfColumn) {
  RunScript({
      {"CREATE TEMPORARY TABLE t (a INT COMMENT 'it''s', m STRING METADATA FROM 'timestamp' "
       "VIRTUAL, k BIGINT, "
       "ts TIMESTAMP_LTZ(3), c AS a + 1, p AS PROCTIME(), dt STRING, "
       "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (k, dt) NOT ENFORCED) "
       "COMMENT 'tc' PARTITIONED BY (dt)"},
      {"SHOW CREATE TABLE t",
       "CREATE TEMPORARY TABLE `default_catalog`.`default_database`.`t` (\n"
       "  `a` INT COMMENT 'it''s',\n"
       "  `m` VARCHAR(2147483647) METADATA FROM 'timestamp' VIRTUAL,\n"
       "  `k` BIGINT NOT NULL,\n"
       "  `ts` TIMESTAMP(3) WITH LOCAL TIME ZONE,\n"
       "  `c` AS `a` + 1,\n"
       "  `p` AS PROCTIME(),\n"
       "  `dt` VARCHAR(2147483647) NOT NULL,\n"
       "  WATERMARK FOR `ts` AS `ts` - INTERVAL '5' SECOND,\n"
       "  CONSTRAINT `PK_k_dt` PRIMARY KEY (`k`, `dt`) NOT ENFORCED\n"
       ")\n"
       "COMMENT 'tc'\n"
       "PARTITIONED BY (`dt`)\n"},
      {"DESCRIBE t",
       "a | INT | TRUE | <NULL> | <NULL> | <NULL> | it's\n"
       "m | STRING | TRUE | <NULL> | METADATA FROM 'timestamp' VIRTUAL | <NULL> | <NULL>\n"
       "k | BIGINT | FALSE | PRI(k, dt) | <NULL> | <NULL> | <NULL>\n"
       "ts | TIMESTAMP_LTZ(3) *ROWTIME* | TRUE | <NULL> | <NULL> | `ts` - INTERVAL '5' SECOND | "
       "<NULL>\n"
       "c | INT | TRUE | <NULL> | AS `a` + 1 | <NULL> | <NULL>\n"
       "p | TIMESTAMP_LTZ(3) *PROCTIME* | FALSE | <NULL> | AS PROCTIME() | <NULL> | <NULL>\n"
       "dt | STRING | FALSE | PRI(k, dt) | <NULL> | <NULL> | <NULL>"},
      {"SET 'execution.runtime-mode' = 'batch'"},
      {"CREATE TABLE b (ts TIMESTAMP(3), x INT, WATERMARK FOR ts AS ts)"},
      {"SHOW COLUMNS FROM b LIKE 't%'", "ts | TIMESTAMP(3) | TRUE | <NULL> | <NULL> | `ts`"},
  });
}

TEST(CreateTableTest, PrintsWhatMakesTheSameTableAgain) {
  DefinitionSession session;
  RunScript({{"CREATE TABLE t (id INT, r ROW<x INT, `when` TIMESTAMP(3)>, d DECIMAL, a "
              "ARRAY<STRING NOT NULL>, "
              "m MAP<STRING, DOUBLE>, u AS UPPER(CAST(r.x AS STRING) || 'a'), WATERMARK FOR "
              "r.`when` AS r.`when`) "
              "WITH ('connector' = 'datagen', 'rows-per-second' = '5')"}},
            &session);
  const std::string text = session.Run("SHOW CREATE TABLE t");
  EXPECT_NE(text.find("WATERMARK FOR `r`.`when` AS `r`.`when`"), std::string::npos) << text;
  RunScript({{"DROP TABLE t"}, {text}, {"SHOW CREATE TABLE t", text}}, &session);
}

TEST(CreateTableTest, RefusesWhatDoesNotFit) {
  RunScript({
      {"CREATE TABLE t (a INT, a INT)",
       "ERROR 1:24 A regular Column named 'a' already exists in the table."},
      {"CREATE TABLE t (a INT, b AS a, b AS a)",
       "ERROR A generated column named 'b' already exists in the table."},
      {"CREATE TABLE t (a INT, b AS a + 1, c AS b + 1)",
       "ERROR 1:41 Unknown identifier 'b'. A computed column cannot use"},
      {"CREATE TABLE t (amount INT, b AS amout + 1)",
       "ERROR 1:34 Unknown identifier 'amout'; did you mean 'amount'?"},
      {"CREATE TABLE t (a INT, b AS (SELECT 1))",
       "ERROR Query expression encountered in illegal context"},
      {"CREATE TABLE t (a INT, PRIMARY KEY (a))",
       "ERROR 1:24 Flink doesn't support ENFORCED mode for PRIMARY KEY"},
      {"CREATE TABLE t (a INT, UNIQUE (a))", "ERROR UNIQUE constraint is not supported yet"},
      {"CREATE TABLE t (a INT, PRIMARY KEY (b) NOT ENFORCED)",
       "ERROR 1:37 Primary key column 'b' is not defined in the schema"},
      {"CREATE TABLE t (a INT, b AS a, PRIMARY KEY (b) NOT ENFORCED)",
       "ERROR must be declared on physical columns"},
      {"CREATE TABLE t (a INT PRIMARY KEY NOT ENFORCED, b INT PRIMARY KEY NOT ENFORCED)",
       "ERROR Duplicate primary key definition"},
      {"CREATE TABLE t (a INT, b AS a) PARTITIONED BY (b)",
       "ERROR 1:48 Invalid partition key 'b'. A partition key must reference a physical column in "
       "the schema."},
      {"CREATE TABLE t (`day` INT) PARTITIONED BY (dy)",
       "ERROR Partition column 'dy' not defined in the table schema. "
       "Available columns: ['day'] Did you mean 'day'?"},
      {"CREATE TABLE t (a INT, b INT) PARTITIONED BY (a, a)",
       "ERROR Partition column 'a' is named more than once."},
      {"CREATE TABLE t (a TIMESTAMP(6), WATERMARK FOR a AS a)",
       "ERROR 1:47 Invalid data type of time field for watermark definition. The field must be of "
       "type TIMESTAMP(p) or "
       "TIMESTAMP_LTZ(p), the supported precision 'p' is from 0 to 3, but the time field type is "
       "TIMESTAMP(6)"},
      {"CREATE TABLE t (a TIMESTAMP(3), WATERMARK FOR a AS 'x')",
       "ERROR the watermark expression type is CHAR(1)"},
      {"CREATE TABLE t (a TIMESTAMP(3), WATERMARK FOR a AS a, WATERMARK FOR a AS a)",
       "ERROR Multiple WATERMARK declarations are not supported yet."},
      {"CREATE TABLE t (a INTERVAL DAY)", "ERROR Type is not supported: INTERVAL"},
      {"CREATE TABLE t (a DECIMAL(5, 6))",
       "ERROR Decimal scale must be between 0 and the precision 5 (both inclusive)."},
      {"CREATE TABLE t (a DECIMAL(39, 1))",
       "ERROR Decimal precision must be between 1 and 38 (both inclusive)."},
      {"CREATE TABLE t (a TIMESTAMP(10))",
       "ERROR Timestamp precision must be between 0 and 9 (both inclusive)."},
      {"CREATE TABLE t (a VARCHAR(0))",
       "ERROR length must be between 1 and 2147483647 (both inclusive)."},
      {"CREATE TABLE t (a REAL)", "ERROR Type is not supported: REAL"},
      {"CREATE TABLE t (a STRNG)", "ERROR 1:19 Unknown type 'STRNG'. Did you mean 'STRING'?"},
      {"CREATE TABLE t (a ROW<x INT, x INT>)",
       "ERROR Field names must be unique. Found duplicates: [x]"},
      {"CREATE TABLE t (a INT, p STRING METADATA FROM 'k', q STRING METADATA FROM 'k')",
       "ERROR The column `p` and column `q` are both from the same metadata key 'k'."},
      {"CREATE TABLE t (a INT) DISTRIBUTED BY HASH (a) INTO 4 BUCKETS",
       "ERROR 1:24 DISTRIBUTED BY is not supported yet."},
      {"CREATE TABLE nodb.t (a INT)",
       "ERROR A database with name [nodb] does not exist in the catalog: [default_catalog]."},
      {"SHOW TABLES", ""},
  });
}

TEST(CreateTableTest, ChecksOptionsAsFarAsOneTableTells) {
  RunScript({
      {"CREATE TABLE t (a INT) WITH ('connector' = 'dategen')",
       "ERROR 1:30 Cannot define the table"},
      {"CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'rows-per-secnd' = '1')",
       "ERROR 1:55 Cannot define the table 'default_catalog.default_database.t'.\n"},
      {"CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'rows-per-secnd' = '1')",
       "ERROR Did you mean 'rows-per-second'?"},
      {"CREATE TABLE t (a INT) WITH ('connector' = 'filesystem')"},  // May be completed by LIKE.
      {"CREATE TABLE u WITH ('path' = '/data/x', 'format' = 'csv') LIKE t"},
  });
}

TEST(CreateTableTest, ExistsAlready) {
  RunScript({
      {"CREATE TABLE t (a INT)"},
      {"CREATE TABLE t (b INT)",
       "ERROR 1:14 Could not execute CreateTable in path `default_catalog`.`default_database`.`t`\n"
       "Table (or view) default_database.t already exists in Catalog default_catalog."},
      {"CREATE TABLE IF NOT EXISTS t (b INT)"},
      {"CREATE TEMPORARY TABLE t (c INT)"},
      {"SHOW COLUMNS IN t", "c | INT | TRUE | <NULL> | <NULL> | <NULL>"},
      {"DROP TABLE t",
       "ERROR Temporary table with identifier '`default_catalog`.`default_database`.`t`' exists. "
       "Drop it first"},
      {"DROP TEMPORARY TABLE t"},
      {"SHOW COLUMNS IN t", "a | INT | TRUE | <NULL> | <NULL> | <NULL>"},
      {"DROP TABLE t"},
      {"DROP TABLE t",
       "ERROR 1:12 Table with identifier 'default_catalog.default_database.t' does not exist."},
  });
}

constexpr std::string_view kLikeBase =
    "CREATE TABLE base (id INT, ts TIMESTAMP(3), c AS id * 2, m STRING METADATA, dt STRING, "
    "WATERMARK FOR ts AS ts, PRIMARY KEY (id) NOT ENFORCED) PARTITIONED BY (dt) WITH ('x' = '1', "
    "'y' = '2')";

struct LikeCase {
  std::string create;
  std::string text;  // Of SHOW CREATE TABLE behind the head, or of the error.
};

class LikeTest : public testing::TestWithParam<LikeCase> {};

TEST_P(LikeTest, MergesTheSource) {
  DefinitionSession session;
  ASSERT_EQ(session.Run(kLikeBase), "OK");
  const std::string made = session.Run(GetParam().create);
  if (made != "OK") {
    EXPECT_NE(made.find(GetParam().text), std::string::npos) << made;
    return;
  }
  EXPECT_EQ(session.Run("SHOW CREATE TABLE t"),
            "CREATE TABLE `default_catalog`.`default_database`.`t` (\n" + GetParam().text);
}

INSTANTIATE_TEST_SUITE_P(
    Features, LikeTest,
    testing::ValuesIn(std::vector<LikeCase>{
        {"CREATE TABLE t (n INT) WITH ('y' = '3') LIKE base",
         "  `id` INT NOT NULL,\n  `ts` TIMESTAMP(3),\n  `c` AS `id` * 2,\n  `m` "
         "VARCHAR(2147483647) METADATA,\n"
         "  `dt` VARCHAR(2147483647),\n  `n` INT,\n  WATERMARK FOR `ts` AS `ts`,\n"
         "  CONSTRAINT `PK_id` PRIMARY KEY (`id`) NOT ENFORCED\n)\nPARTITIONED BY (`dt`)\n"
         "WITH (\n  'x' = '1',\n  'y' = '3'\n)\n"},
        {"CREATE TABLE t LIKE base (EXCLUDING ALL)",
         "  `id` INT NOT NULL,\n  `ts` TIMESTAMP(3),\n  `dt` VARCHAR(2147483647)\n)\n"},
        {"CREATE TABLE t (c AS id + 1, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) WITH ('z' = "
         "'9') LIKE base "
         "(EXCLUDING ALL OVERWRITING GENERATED OVERWRITING WATERMARKS EXCLUDING OPTIONS)",
         "  `id` INT NOT NULL,\n  `ts` TIMESTAMP(3),\n  `c` AS `id` + 1,\n  `dt` "
         "VARCHAR(2147483647),\n"
         "  WATERMARK FOR `ts` AS `ts` - INTERVAL '1' SECOND\n)\nWITH (\n  'z' = '9'\n)\n"},
        {"CREATE TABLE t WITH ('y' = '3') LIKE base (INCLUDING OPTIONS)",
         "There already exists an option ['y' -> '2']  in the base table."},
        {"CREATE TABLE t (c AS id + 1) LIKE base",
         "A generated column named 'c' already exists in the base table."},
        {"CREATE TABLE t (id INT) LIKE base",
         "1:17 A column named 'id' already exists in the base table."},
        {"CREATE TABLE t (WATERMARK FOR ts AS ts) LIKE base",
         "There already exists a watermark spec for column 'ts' in the base table. You might want "
         "to specify EXCLUDING "
         "WATERMARKS or OVERWRITING WATERMARKS."},
        {"CREATE TABLE t (PRIMARY KEY (dt) NOT ENFORCED) LIKE base",
         "The base table already has a primary key."},
        {"CREATE TABLE t PARTITIONED BY (id) LIKE base",
         "The base table already has partitions defined."},
        {"CREATE TABLE t LIKE bse",
         "1:21 Source table '`default_catalog`.`default_database`.`bse`' of the LIKE clause not "
         "found in the catalog, at line 1, column 21 Did you mean 'base'?"},
        {"CREATE TABLE t LIKE base (EXCLUDING GENERATED EXCLUDING GENERATED)",
         "Each like option feature can be declared only once."},
    }));

TEST(CreateTableAsTest, TakesTheColumnsOfTheQuery) {
  RunScript({
      {"CREATE TABLE s (a INT, b STRING)"},
      {"CREATE TABLE t1 AS SELECT a, b, 1 AS uno FROM s"},
      {"SHOW COLUMNS FROM t1",
       "a | INT | TRUE | <NULL> | <NULL> | <NULL>\nb | STRING | TRUE | <NULL> | <NULL> | <NULL>\n"
       "uno | INT | FALSE | <NULL> | <NULL> | <NULL>"},
      {"CREATE TABLE t2 (b, a) AS SELECT a, b FROM s"},
      {"SHOW COLUMNS FROM t2",
       "b | STRING | TRUE | <NULL> | <NULL> | <NULL>\na | INT | TRUE | <NULL> | <NULL> | <NULL>"},
      {"CREATE TABLE t3 (extra DOUBLE, a BIGINT, l AS a + 1) PARTITIONED BY (b) AS SELECT a, b "
       "FROM s"},
      {"SHOW COLUMNS FROM t3",
       "extra | DOUBLE | TRUE | <NULL> | <NULL> | <NULL>\nl | BIGINT | TRUE | <NULL> | AS `a` + 1 "
       "| <NULL>\n"
       "a | BIGINT | TRUE | <NULL> | <NULL> | <NULL>\nb | STRING | TRUE | <NULL> | <NULL> | "
       "<NULL>"},
      {"CREATE TABLE t4 (b, c) AS SELECT a, b FROM s",
       "ERROR 1:21 Column 'c' not found in the source schema."},
      {"CREATE TABLE t4 (b) AS SELECT a, b FROM s",
       "ERROR The number of columns in the column list must match"},
      {"CREATE TABLE t4 (x INT, a BIGINT NOT NULL) AS SELECT a FROM s",
       "ERROR 1:25 Incompatible types for sink column 'a' at position 1. The source column has "
       "type 'INT', while the target "
       "column has type 'BIGINT NOT NULL'."},
      {"CREATE TEMPORARY TABLE t4 AS SELECT 1 AS a",
       "ERROR does not support to create temporary table yet."},
      {"REPLACE TABLE t4 AS SELECT 1 AS a", "ERROR to be replaced doesn't exist."},
      {"CREATE OR REPLACE TABLE t1 AS SELECT a FROM s"},
      {"SHOW COLUMNS FROM t1", "a | INT | TRUE | <NULL> | <NULL> | <NULL>"},
  });
}

struct ViewCase {
  std::string query;
  std::string stored;
};

class ViewTextTest : public testing::TestWithParam<ViewCase> {};

TEST_P(ViewTextTest, IsStoredExpanded) {
  DefinitionSession session;
  RunScript({{"CREATE TABLE t (a INT, b STRING, r ROW<x INT>)"},
             {"CREATE TABLE u (a INT, c STRING)"},
             {"CREATE DATABASE d"},
             {"CREATE TABLE d.t (a INT)"}},
            &session);
  ASSERT_EQ(session.Run("CREATE VIEW v AS " + GetParam().query), "OK");
  const std::string text = session.Run("SHOW CREATE VIEW v");
  EXPECT_EQ(text.substr(text.find("\nAS ") + 4), GetParam().stored + "\n");
  // Means the same from anywhere.
  EXPECT_EQ(session.Run("USE d"), "OK");
  EXPECT_EQ(session.Run("DROP VIEW default_database.v"), "OK");
  EXPECT_EQ(session.Run(text), "OK") << text;
}

INSTANTIATE_TEST_SUITE_P(
    Queries, ViewTextTest,
    testing::ValuesIn(std::vector<ViewCase>{
        {"SELECT * FROM t",
         "SELECT `t`.`a`, `t`.`b`, `t`.`r`\nFROM `default_catalog`.`default_database`.`t` AS `t`"},
        {"SELECT a + 1, r.x FROM t WHERE b = 'x'",
         "SELECT `t`.`a` + 1, `t`.`r`.`x`\nFROM `default_catalog`.`default_database`.`t` AS "
         "`t`\nWHERE `t`.`b` = 'x'"},
        {"SELECT x.a, c FROM t AS x JOIN u ON x.a = u.a",
         "SELECT `x`.`a`, `u`.`c`\nFROM `default_catalog`.`default_database`.`t` AS `x`\n"
         "INNER JOIN `default_catalog`.`default_database`.`u` AS `u` ON `x`.`a` = `u`.`a`"},
        {"SELECT a, c FROM t JOIN u USING (a)",
         "SELECT `a`, `u`.`c`\nFROM `default_catalog`.`default_database`.`t` AS `t`\n"
         "INNER JOIN `default_catalog`.`default_database`.`u` AS `u` USING (`a`)"},
        {"WITH q AS (SELECT a AS z FROM t) SELECT z FROM q",
         "WITH `q` AS (SELECT `t`.`a` AS `z`\nFROM `default_catalog`.`default_database`.`t` AS "
         "`t`) SELECT `q`.`z`\n"
         "FROM `q` AS `q`"},
        {"SELECT a FROM t UNION ALL SELECT a FROM u",
         "SELECT `t`.`a`\nFROM `default_catalog`.`default_database`.`t` AS `t`\nUNION ALL\n"
         "SELECT `u`.`a`\nFROM `default_catalog`.`default_database`.`u` AS `u`"},
        {"SELECT s.a FROM (SELECT * FROM t) AS s",
         "SELECT `s`.`a`\nFROM (SELECT `t`.`a`, `t`.`b`, `t`.`r`\n"
         "FROM `default_catalog`.`default_database`.`t` AS `t`) AS `s`"},
        {"SELECT default_database.t.a AS uno, d2.a AS two FROM t, d.t AS d2",
         "SELECT `t`.`a` AS `uno`, `d2`.`a` AS `two`\n"
         "FROM `default_catalog`.`default_database`.`t` AS `t`, `default_catalog`.`d`.`t` AS `d2`"},
        // Two tables of one name: the database tells them apart.
        {"SELECT d.t.a AS x, default_database.t.b AS y FROM t, d.t",
         "SELECT `d`.`t`.`a` AS `x`, `default_database`.`t`.`b` AS `y`\n"
         "FROM `default_catalog`.`default_database`.`t`, `default_catalog`.`d`.`t`"},
        {"VALUES (1, 'a')", "VALUES (1, 'a')"},
        {"TABLE t", "TABLE `default_catalog`.`default_database`.`t`"},
    }));

TEST(ViewTest, Definitions) {
  RunScript({
      {"CREATE TABLE t (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)"},
      {"CREATE VIEW v (x COMMENT 'the x', y) COMMENT 'vc' AS SELECT a, ts FROM t"},
      {"SHOW CREATE VIEW v",
       "CREATE VIEW `default_catalog`.`default_database`.`v` (\n  `x` COMMENT 'the x',\n  "
       "`y`\n)\nCOMMENT 'vc'\n"
       "AS SELECT `t`.`a`, `t`.`ts`\nFROM `default_catalog`.`default_database`.`t` AS `t`\n"},
      {"DESCRIBE v",
       "x | INT | TRUE | <NULL> | <NULL> | <NULL> | the x\n"
       "y | TIMESTAMP(3) *ROWTIME* | TRUE | <NULL> | <NULL> | <NULL> | <NULL>"},
      {"SHOW CREATE TABLE v",
       "ERROR SHOW CREATE TABLE is only supported for tables, but "
       "default_catalog.default_database.v is a view. Please use "
       "SHOW CREATE VIEW instead."},
      {"SHOW TABLES", "t\nv"},
      {"SHOW VIEWS", "v"},
      {"CREATE VIEW w (x) AS SELECT a, ts FROM t",
       "ERROR 1:16 VIEW definition and input fields not match:\n\tDef fields: [x].\n\tInput "
       "fields: [a, ts]."},
      {"CREATE VIEW w (x, x) AS SELECT a, ts FROM t",
       "ERROR A column with the same name `x` has been defined"},
      {"CREATE VIEW w AS SELECT nope FROM t", "ERROR 1:25 Column 'nope' not found in any table"},
      {"CREATE VIEW v AS SELECT 1", "ERROR already exists in Catalog default_catalog."},
      {"CREATE VIEW IF NOT EXISTS v AS SELECT 1"},
      {"DROP TABLE v", "ERROR does not exist."},
      {"DROP VIEW t", "ERROR does not exist."},
      {"ALTER VIEW v RENAME TO v2"},
      {"ALTER VIEW v2 AS SELECT a FROM t"},
      {"SHOW COLUMNS FROM v2", "a | INT | TRUE | <NULL> | <NULL> | <NULL>"},
      {"CREATE VIEW v3 AS SELECT * FROM v2"},
      {"ALTER VIEW v2 AS SELECT * FROM v3", "ERROR would read itself."},
      {"ALTER TABLE v3 SET ('a' = 'b')", "ERROR ALTER TABLE for a view is not allowed"},
      {"DROP VIEW v3"},
      {"DROP VIEW IF EXISTS v3"},
  });
}

TEST(AlterTableTest, ChangesColumns) {
  RunScript({
      {"CREATE TABLE t (id INT, b STRING, ts TIMESTAMP(3), dt STRING, c AS id + 1, k INT, PRIMARY "
       "KEY (k) NOT ENFORCED, "
       "WATERMARK FOR ts AS ts) PARTITIONED BY (dt) WITH ('x' = '1')"},
      {"ALTER TABLE t ADD (first_one INT FIRST, s STRING COMMENT 'new' AFTER b, d AS id * 2)"},
      {"SHOW COLUMNS FROM t",
       "first_one | INT | TRUE | <NULL> | <NULL> | <NULL> | <NULL>\nid | INT | TRUE | <NULL> | "
       "<NULL> | <NULL> | <NULL>\n"
       "b | STRING | TRUE | <NULL> | <NULL> | <NULL> | <NULL>\ns | STRING | TRUE | <NULL> | <NULL> "
       "| <NULL> | new\n"
       "ts | TIMESTAMP(3) *ROWTIME* | TRUE | <NULL> | <NULL> | `ts` | <NULL>\n"
       "dt | STRING | TRUE | <NULL> | <NULL> | <NULL> | <NULL>\n"
       "c | INT | TRUE | <NULL> | AS `id` + 1 | <NULL> | <NULL>\n"
       "k | INT | FALSE | PRI(k) | <NULL> | <NULL> | <NULL>\n"
       "d | INT | TRUE | <NULL> | AS `id` * 2 | <NULL> | <NULL>"},
      {"ALTER TABLE t ADD id INT",
       "ERROR 1:19 Failed to execute ALTER TABLE statement.\nColumn `id` already exists in the "
       "table."},
      {"ALTER TABLE t DROP zz",
       "ERROR 1:20 Failed to execute ALTER TABLE statement.\nColumn `zz` does not exist in the "
       "table."},
      {"ALTER TABLE t DROP id",
       "ERROR Failed to execute ALTER TABLE statement.\nThe column `id` is referenced by computed "
       "column `c`, `d`."},
      {"ALTER TABLE t DROP (id, c, d)"},
      {"ALTER TABLE t RENAME ts TO t2",
       "ERROR The column `ts` is referenced by watermark expression."},
      {"ALTER TABLE t RENAME dt TO d2", "ERROR The column `dt` is used as the partition keys."},
      {"ALTER TABLE t RENAME k TO k2", "ERROR The column `k` is used as the primary key."},
      {"ALTER TABLE t RENAME b TO s", "ERROR Column `s` already exists in the table."},
      {"ALTER TABLE t RENAME b TO bb"},
      {"ALTER TABLE t MODIFY (bb BIGINT NOT NULL FIRST, k BIGINT)"},
      {"ALTER TABLE t MODIFY nope INT", "ERROR Column `nope` does not exist in the table."},
      {"ALTER TABLE t ADD z INT AFTER nope",
       "ERROR Referenced column `nope` by 'AFTER' does not exist in the table."},
      {"ALTER TABLE t ADD WATERMARK FOR ts AS ts",
       "ERROR already defined the watermark strategy `ts` AS `ts`."},
      {"ALTER TABLE t MODIFY WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE"},
      {"ALTER TABLE t ADD PRIMARY KEY (bb) NOT ENFORCED",
       "ERROR already defined the primary key constraint CONSTRAINT `PK_k`"},
      {"ALTER TABLE t DROP CONSTRAINT nope", "ERROR Available constraint name: ['PK_k']."},
      {"ALTER TABLE t DROP PRIMARY KEY"},
      {"ALTER TABLE t DROP PRIMARY KEY",
       "ERROR The current table does not define any primary key."},
      {"ALTER TABLE t ADD CONSTRAINT pk PRIMARY KEY (bb) NOT ENFORCED"},
      {"ALTER TABLE t DROP CONSTRAINT pk"},
      {"ALTER TABLE t SET ('x' = '2', 'y' = '3')"},
      {"ALTER TABLE t RESET ('x')"},
      {"ALTER TABLE t RESET ()", "ERROR ALTER TABLE RESET does not support empty key"},
      {"SHOW CREATE TABLE t",
       "CREATE TABLE `default_catalog`.`default_database`.`t` (\n  `bb` BIGINT NOT NULL,\n  "
       "`first_one` INT,\n"
       "  `s` VARCHAR(2147483647) COMMENT 'new',\n  `ts` TIMESTAMP(3),\n  `dt` "
       "VARCHAR(2147483647),\n"
       "  `k` BIGINT NOT NULL,\n  WATERMARK FOR `ts` AS `ts` - INTERVAL '1' MINUTE\n)\nPARTITIONED "
       "BY (`dt`)\n"
       "WITH (\n  'y' = '3'\n)\n"},
      {"ALTER TABLE t DROP WATERMARK"},
      {"ALTER TABLE t DROP WATERMARK",
       "ERROR The current table does not define any watermark strategy."},
      {"ALTER TABLE t RENAME TO t9"},
      {"ALTER TABLE t SET ('a' = 'b')",
       "ERROR 1:13 Table `default_catalog`.`default_database`.`t` doesn't exist or is a temporary "
       "table."},
      {"ALTER TABLE IF EXISTS t SET ('a' = 'b')"},
  });
}

TEST(PartitionTest, AreDirectories) {
  const std::filesystem::path root =
      std::filesystem::temp_directory_path() / ("sluice_partitions_" + std::to_string(::getpid()));
  std::filesystem::remove_all(root);
  DefinitionSession session;
  RunScript(
      {
          {"CREATE TABLE n (a INT) WITH ('connector'='filesystem','path'='" + root.string() +
           "','format'='csv')"},
          {"ALTER TABLE n ADD PARTITION (a = 1)",
           "ERROR Table default_database.n in catalog default_catalog is not partitioned."},
          {"SHOW PARTITIONS n",
           "ERROR Table default_database.n in catalog default_catalog is not partitioned."},
          {"CREATE TABLE t (v INT, a STRING, b INT) PARTITIONED BY (a, b) WITH "
           "('connector'='filesystem','path'='" +
           root.string() + "/t','format'='csv')"},
          {"SHOW PARTITIONS t", ""},
          {"ALTER TABLE t ADD PARTITION (a='x/y', b=-1) PARTITION (b=2, a='q')"},
          {"SHOW PARTITIONS t", "a=q/b=2\na=x/y/b=-1"},
          {"SHOW PARTITIONS t PARTITION (a='q')", "a=q/b=2"},
          {"ALTER TABLE t ADD PARTITION (a='q', b=2)",
           "ERROR 1:30 Could not execute ALTER TABLE default_catalog.default_database.t ADD "
           "PARTITION (a=q, b=2)\n"
           "Partition CatalogPartitionSpec{{a=q, b=2}} of table default_database.t in catalog "
           "default_catalog already exists."},
          {"ALTER TABLE t ADD IF NOT EXISTS PARTITION (a='q', b=2)"},
          {"ALTER TABLE t ADD PARTITION (a='q')", "ERROR does not match partition keys [a, b]"},
          {"ALTER TABLE t ADD PARTITION (a='q', c=2)", "ERROR 'c' is no partition key of table"},
          {"ALTER TABLE t ADD PARTITION (a='q', b='x')", "ERROR Partition key 'b': "},
          {"ALTER TABLE t DROP PARTITION (a='9', b=9)",
           "ERROR Partition CatalogPartitionSpec{{a=9, b=9}} of table default_database.t in "
           "catalog default_catalog does not "
           "exist."},
          {"ALTER TABLE t DROP IF EXISTS PARTITION (a='9', b=9), PARTITION (a='q', b=2)"},
          {"SHOW PARTITIONS t", "a=x/y/b=-1"},
      },
      &session);
  EXPECT_TRUE(std::filesystem::is_directory(root / "t" / "a=x%2Fy" / "b=-1"));
  EXPECT_FALSE(std::filesystem::exists(root / "t" / "a=q" / "b=2"));
  std::filesystem::remove_all(root);
}

TEST(CatalogTest, CatalogsAndDatabases) {
  RunScript({
      {"CREATE CATALOG c COMMENT 'cc' WITH ('type' = 'generic_in_memory', 'default-database' = "
       "'d0')"},
      {"CREATE CATALOG x WITH ('a' = 'b')",
       "ERROR 1:16 Catalog options do not contain an option key 'type'"},
      {"SHOW CATALOGS", "c\ndefault_catalog"},
      {"SHOW CATALOGS ILIKE 'DEF%'", "default_catalog"},
      {"SHOW CREATE CATALOG c",
       "CREATE CATALOG `c`\nCOMMENT 'cc'\nWITH (\n  'default-database' = 'd0',\n  'type' = "
       "'generic_in_memory'\n)\n"},
      {"DESCRIBE CATALOG EXTENDED c",
       "name | c\ntype | generic_in_memory\ncomment | cc\noption:default-database | d0"},
      {"ALTER CATALOG c COMMENT 'new'"},
      {"DESCRIBE CATALOG c", "name | c\ntype | generic_in_memory\ncomment | new"},
      {"USE CATALOG c"},
      {"SHOW CURRENT DATABASE", "d0"},
      {"CREATE DATABASE d1 COMMENT 'dc' WITH ('k' = 'v')"},
      {"CREATE DATABASE d1", "ERROR already exists"},
      {"CREATE DATABASE IF NOT EXISTS d1"},
      {"ALTER DATABASE d1 SET ('k' = 'w')"},
      {"ALTER DATABASE nope SET ('k' = 'w')",
       "ERROR A database with name [nope] does not exist in the catalog: [c]."},
      {"DESCRIBE DATABASE EXTENDED d1", "name | d1\ncatalog | c\ncomment | dc\noption:k | w"},
      {"SHOW DATABASES", "d0\nd1"},
      {"SHOW DATABASES FROM default_catalog", "default_database"},
      {"SHOW DATABASES NOT LIKE '%0'", "d1"},
      {"USE d1"},
      {"CREATE TABLE t_one (a INT)"},
      {"CREATE TABLE txone (a INT)"},
      {"SHOW TABLES LIKE 't\\_%'", "t_one"},
      {"SHOW TABLES FROM c.d0", ""},
      {"SHOW TABLES FROM nope",
       "ERROR A database with name [nope] does not exist in the catalog: [c]."},
      {"DROP DATABASE d1", "ERROR Cannot drop a database which is currently in use."},
      {"USE default_catalog.default_database"},
      {"DROP DATABASE c.d1", "ERROR is not empty"},
      {"DROP DATABASE c.d1 CASCADE"},
      {"USE d1",
       "ERROR 1:5 A database with name [d1] does not exist in the catalog: [default_catalog]."},
      {"USE CATALOG k", "ERROR A catalog with name [k] does not exist."},
      {"DROP CATALOG default_catalog", "ERROR Cannot drop a catalog which is currently in use."},
      {"DROP CATALOG c"},
      {"SHOW CATALOGS", "default_catalog"},
  });
}

TEST(SetTest, ChecksKeysAndValues) {
  std::vector<std::string> log;
  SetLogSink([&](LogLevel, std::string_view message) { log.emplace_back(message); });
  DefinitionSession session;
  session.state().initial_configuration = {{"pipeline.name", "first"}};
  session.state().configuration = session.state().initial_configuration;
  RunScript(
      {
          {"SET 'parallelism.default' = '3'"},
          {"SET 'state.checkpoints.dir' = 'file:///tmp/x'"},
          {"SET pipeline.name = second"},
          {"SET",
           "execution.checkpointing.dir | file:///tmp/x\nparallelism.default | 3\npipeline.name | "
           "second"},
          {"RESET 'pipeline.name'"},
          {"RESET 'state.checkpoints.dir'"},
          {"SET", "parallelism.default | 3\npipeline.name | first"},
          {"RESET"},
          {"SET", "pipeline.name | first"},
          {"SET 'execution.runtime-mode' = 'nope'",
           "ERROR 1:32 Failed to set key execution.runtime-mode with value nope.\nInvalid value "
           "for option "
           "'execution.runtime-mode'. Could not parse value 'nope' for key "
           "'execution.runtime-mode'. Expected one of: "
           "[[STREAMING, BATCH, AUTOMATIC]]"},
          {"SET 'parallelism.default' = 'many'",
           "ERROR Could not parse value 'many' for key 'parallelism.default'."},
          {"SET 'execution.checkpointing.interval' = '5 parsecs'",
           "ERROR Failed to set key execution.checkpointing.interval"},
          {"SET 'table.local-time-zone' = 'Asia/Shangai'", "ERROR Asia/Shanghai"},
          {"SET 'table.local-time-zone' = 'GMT-08:00'"},
          {"SET 'table.sql-dialect' = 'hive'", "ERROR The SQL dialect 'hive' is not supported yet"},
      },
      &session);
  log.clear();
  RunScript({{"SET 'paralelism.default' = '1'"}}, &session);
  SetLogSink(nullptr);
  ASSERT_EQ(log.size(), 1u);
  EXPECT_EQ(log[0],
            "The configuration key 'paralelism.default' is not known and has no effect. Did you "
            "mean 'parallelism.default'?");
}

TEST(SetTest, EveryDefaultIsValid) {
  for (const OptionSpec& spec : ConfigKeys()) {
    SCOPED_TRACE(spec.key);
    EXPECT_FALSE(spec.doc.empty());
    if (spec.default_text.empty()) continue;
    const Status status =
        ValidateConfiguration({{std::string(spec.key), std::string(spec.default_text)}});
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
}

TEST(ShowTest, FunctionsModulesJobs) {
  DefinitionSession session;
  RunScript(
      {
          {"SHOW FUNCTIONS LIKE 'CHAR\\_LENGTH'", "CHAR_LENGTH"},
          {"SHOW FUNCTIONS ILIKE 'coun_'", "COUNT"},
          {"SHOW USER FUNCTIONS", ""},
          {"SHOW MODULES", "core"},
          {"SHOW FULL MODULES", "core | TRUE"},
          {"SHOW JARS", ""},
          {"SHOW JOBS", ""},
          {"DESCRIBE JOB '0123456789abcdef0123456789abcdef'", "ERROR does not exist"},
          {"STOP JOB 'x'", "ERROR 'x' is no job id"},
          {"DESCRIBE nowhere",
           "ERROR 1:10 Tables or views with the identifier "
           "'default_catalog.default_database.nowhere' doesn't exist."},
      },
      &session);
}

class TwoJobs final : public JobDirectory {
 public:
  std::vector<JobInfo> ListJobs() override {
    return {{"00000000000000000000000000000002", "insert-into_c.d.t", "RUNNING", 1'600'000'000'123},
            {"00000000000000000000000000000001", "q", "FINISHED", -1}};
  }
  Status CancelJob(const std::string& id) override {
    cancelled = id;
    return {};
  }
  Result<std::string> StopJobWithSavepoint(const std::string&, bool drain) override {
    return std::string(drain ? "/savepoints/drained" : "/savepoints/plain");
  }
  std::string cancelled;
};

TEST(JobsTest, AreAskedOfTheDirectory) {
  TwoJobs jobs;
  DefinitionSession session;
  session.state().jobs = &jobs;
  const std::string first = "00000000000000000000000000000002";
  RunScript(
      {
          {"SET 'table.local-time-zone' = 'Asia/Shanghai'"},
          {"SHOW JOBS",
           first + " | insert-into_c.d.t | RUNNING | 2020-09-13 20:26:40.123\n"
                   "00000000000000000000000000000001 | q | FINISHED | 1970-01-01 07:59:59.999"},
          {"DESCRIBE JOB '" + first + "'",
           first + " | insert-into_c.d.t | RUNNING | 2020-09-13 20:26:40.123"},
          {"STOP JOB '" + first + "' WITH SAVEPOINT",
           "ERROR 'execution.checkpointing.savepoint-dir'"},
          {"SET 'state.savepoints.dir' = '/savepoints'"},
          {"STOP JOB '" + first + "' WITH SAVEPOINT WITH DRAIN", "/savepoints/drained"},
          {"STOP JOB '" + first + "'"},
      },
      &session);
  EXPECT_EQ(jobs.cancelled, first);
}

}  // namespace
}  // namespace sluice::engine
