// Statements as people write them down in articles and manuals: they must be read unchanged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sql/syntax/test_support.h"

namespace sluice::sql {
namespace {

constexpr std::string_view kKafkaToFiles = R"sql(CREATE TABLE kafka_table (
  user_id STRING,
  order_amount DOUBLE,
  ts BIGINT, -- time in epoch milliseconds
  ts_ltz AS TO_TIMESTAMP_LTZ(ts, 3),
  WATERMARK FOR ts_ltz AS ts_ltz - INTERVAL '5' SECOND -- Define watermark on TIMESTAMP_LTZ column
) WITH (
  'connector' = 'kafka',
  'topic' = 'user_source',
  'properties.bootstrap.servers' = 'IP address of the broker:port number',
  'format' = 'csv',
   --Ignore the CSV data that fails to be parsed.
  'csv.ignore-parse-errors' = 'true' ,--If the data is in JSON format, set 'json.ignore-parse-errors' to true.
  'properties.kerberos.domain.name' = 'hadoop.System domain name'

);

CREATE TABLE fs_table (
  user_id STRING,
  order_amount DOUBLE,
  dt STRING,
  `hour` STRING
) PARTITIONED BY (dt, `hour`) WITH ( --Date-specific file partitioning
  'connector'='filesystem',
  'path'='hdfs:///sql/parquet',
  'format'='parquet',
  'partition.time-extractor.timestamp-pattern'='$dt $hour:00:00',
  'sink.partition-commit.delay'='1 h',
  'sink.partition-commit.trigger'='partition-time',
  'sink.partition-commit.watermark-time-zone'='Asia/Shanghai', -- Assume user configured time zone is 'Asia/Shanghai'
  'sink.partition-commit.policy.kind'='success-file'
);
-- streaming sql, insert into file system table
INSERT INTO fs_table
SELECT
  user_id,
  order_amount,
  DATE_FORMAT(ts_ltz, 'yyyy-MM-dd'),
  DATE_FORMAT(ts_ltz, 'HH')
FROM kafka_table;
-- batch sql, select with partition pruning
SELECT * FROM fs_table WHERE dt='2020-05-20' and `hour`='12';
)sql";

constexpr std::string_view kOptionsWithComments = R"sql(
CREATE TABLE MyUserTable (
  column_name1 INT,
  column_name2 STRING,
  datetime STRING,
  `hour` STRING
) PARTITIONED BY (datetime, `hour`) WITH (
  'connector' = 'filesystem',           -- required: must be 'filesystem'
  'path' = 'file:///path/to/whatever',  -- required: path to a directory
  'format' = 'orc',                     -- required: orc, parquet, avro, csv, json, or raw
-- Please refer to Table Formats
  'source.path.regex-pattern' = '.*', -- optional: with the absolute file path. If this option is set,
-- of `path` option
  'auto-compaction' = 'true'            -- optional (sink only): enable automatic compaction
);

CREATE TABLE MyUserTableWithFilepath (
  column_name1 INT,
  column_name2 STRING,
  `file.path` STRING NOT NULL METADATA
) WITH (
  'connector' = 'filesystem',
  'path' = 'oss://<bucket>/path',
  'format' = 'json'
)
;
CREATE TEMPORARY TABLE fs_table_source (
  `id` INT,
  `name` VARCHAR
) WITH (
  'connector' = 'filesystem'
);

INSERT INTO blackhole_sink SELECT * FROM fs_table_source;
)sql";

TEST(SeedStatementsTest, ParseUnchanged) {
  struct Script {
    std::string_view text;
    size_t statements;
  };
  for (const Script& script : {Script{kKafkaToFiles, 4}, Script{kOptionsWithComments, 4}}) {
    const ScriptParse parsed = ParseScriptFully(script.text);
    for (const Status& error : parsed.errors) ADD_FAILURE() << error.ToString();
    EXPECT_EQ(parsed.statements.size(), script.statements);
    EXPECT_EQ(SplitScript(script.text).size(), script.statements);
    for (const ParsedStatement& statement : parsed.statements) {
      const std::string canonical = ToSql(*statement.statement);
      EXPECT_EQ(Canonical(canonical), canonical);
    }
  }
}

TEST(SeedStatementsTest, ReadWhatTheyMean) {
  const ScriptParse script = ParseScriptFully(kKafkaToFiles);
  ASSERT_EQ(script.statements.size(), 4u);
  const auto& kafka = script.statements[0].statement->As<CreateTable>();
  ASSERT_EQ(kafka.elements.size(), 5u);
  EXPECT_EQ(kafka.elements[3].column.kind, ColumnKind::kComputed);
  EXPECT_EQ(kafka.elements[4].kind, ElementKind::kWatermark);
  EXPECT_EQ(ToSql(*kafka.elements[4].watermark.expression), "`ts_ltz` - INTERVAL '5' SECOND");
  ASSERT_EQ(kafka.options.size(), 6u);
  EXPECT_EQ(kafka.options[4].key, "csv.ignore-parse-errors");
  EXPECT_EQ(kafka.options[4].key_range.begin, (SourcePosition{13, 3}));

  const auto& files = script.statements[1].statement->As<CreateTable>();
  ASSERT_EQ(files.partitioned_by.size(), 2u);
  EXPECT_EQ(files.partitioned_by[1].name, "hour");
  EXPECT_EQ(files.options[3].value, "$dt $hour:00:00");

  const ScriptParse others = ParseScriptFully(kOptionsWithComments);
  ASSERT_EQ(others.statements.size(), 4u);
  const auto& with_path = others.statements[1].statement->As<CreateTable>();
  const ColumnDefinition& path = with_path.elements[2].column;
  EXPECT_EQ(path.kind, ColumnKind::kMetadata);
  EXPECT_EQ(path.name.name, "file.path");
  EXPECT_TRUE(path.type->not_null());
  EXPECT_FALSE(path.metadata_key.has_value());
  const auto& source = others.statements[2].statement->As<CreateTable>();
  EXPECT_TRUE(source.temporary);
  EXPECT_TRUE(source.elements[1].column.type->arguments.empty());
}

}  // namespace
}  // namespace sluice::sql
