// Files written by Flink 2.3, read back: its values, and the right ones where Flink is wrong.
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/parquet/parquet_test_support.h"

namespace sluice::formats::parquet_format {
namespace {

using ::testing::ElementsAre;

std::string GoldenFile(const std::string& test_case, const std::string& table) {
  for (const auto& entry :
       std::filesystem::directory_iterator("tests/data/golden/" + test_case + "/files/" + table)) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    return bytes.str();
  }
  return "";
}

SqlType RowOf(std::vector<RowField> fields) { return SqlType::Row(std::move(fields)); }

struct GoldenColumn {
  std::string name;
  SqlType type;
  std::vector<std::string> texts;  // Rows in the order of the file.
};

void ExpectColumns(const std::string& bytes, const std::vector<GoldenColumn>& columns,
                   const OptionMap& options) {
  std::vector<Column> schema_columns;
  for (const GoldenColumn& column : columns) schema_columns.push_back({column.name, column.type});
  const Schema schema(schema_columns);
  const auto batch = ReadFile(bytes, schema, options);
  ASSERT_TRUE(batch.ok()) << batch.status().ToString();
  for (size_t i = 0; i < columns.size(); ++i) {
    EXPECT_EQ(Texts(schema, *batch, static_cast<int>(i)), columns[i].texts) << columns[i].name;
  }
}

TEST(ParquetGoldenTest, EveryType) {
  const std::string n = "NULL";
  const std::vector<GoldenColumn> columns = {
      {"b", SqlType::Boolean(), {"TRUE", n, "FALSE"}},
      {"i8", SqlType::Tinyint(), {"1", n, "-128"}},
      {"i16", SqlType::Smallint(), {"-2", n, "32767"}},
      {"i32", SqlType::Int(), {"3", n, "-2147483648"}},
      {"i64", SqlType::Bigint(), {"-4", n, "9223372036854775807"}},
      {"f", SqlType::Float(), {"1.5", n, "3.402823E38"}},
      {"d", SqlType::Double(), {"-2.25E10", n, "0.1"}},
      {"dc", SqlType::Decimal(10, 2), {"12345.67", n, "-0.01"}},
      {"dc38",
       SqlType::Decimal(38, 18),
       {"12345678901234567890.123456789012345678", n, "0.000000000000000000"}},
      {"c", SqlType::Char(5), {"abc  ", n, "fives"}},
      {"v", SqlType::Varchar(10), {"hello", n, ""}},
      {"s",
       SqlType::String(),
       {"plain", n, "quote \" comma , semi ; backslash \\ tab\tnewline\nend 한 ü 😀"}},
      {"bin", SqlType::Binary(4), {"\x01\x02\x03\x04", n, std::string(4, '\0')}},
      {"vb", SqlType::Varbinary(10), {std::string("\0\xff", 2), n, ""}},
      {"bs", SqlType::Bytes(), {"Hello", n, ""}},
      {"dt", SqlType::Date(), {"2020-05-20", n, "1969-12-31"}},
      {"t0", SqlType::Time(0), {"12:34:56", n, "00:00:00"}},
      {"t3", SqlType::Time(3), {"12:34:56.789", n, "23:59:59.999"}},
      // Times before 1970 as Flink stored them: a fraction of a second is lost to it, whole seconds
      // come back right.
      {"ts0", SqlType::Timestamp(0), {"2020-05-20 12:34:56", n, "1969-12-31 23:59:59"}},
      {"ts3", SqlType::Timestamp(3), {"2020-05-20 12:34:56.789", n, "1970-01-01 00:00:00.100"}},
      // Flink writes years before 1582 in the Julian calendar, here two days off.
      {"ts6",
       SqlType::Timestamp(6),
       {"2020-05-20 12:34:56.789012", n, "0000-12-30 00:00:00.000001"}},
      {"ts9",
       SqlType::Timestamp(9),
       {"2020-05-20 12:34:56.789012345", n, "2020-01-01 00:00:00.000000001"}},
      {"l0", SqlType::TimestampLtz(0), {"2020-05-20 12:34:56", n, "1969-12-31 23:59:59"}},
      {"l3", SqlType::TimestampLtz(3), {"2020-05-20 12:34:56.789", n, "1970-01-01 00:00:00.100"}},
      {"l6",
       SqlType::TimestampLtz(6),
       {"2020-05-20 12:34:56.789012", n, "2020-01-01 00:00:00.100000"}},
      {"l9",
       SqlType::TimestampLtz(9),
       {"2020-05-20 12:34:56.789012345", n, "2020-01-01 00:00:00.000000001"}},
      {"ai", SqlType::Array(SqlType::Int()), {"[1, 2, 3]", n, "[]"}},
      {"ast", SqlType::Array(SqlType::String()), {"[a, b;c, d,e]", n, "[, NULL]"}},
      {"r",
       RowOf({{"x", SqlType::Int()}, {"y", SqlType::String()}}),
       {"(7, seven)", n, "(NULL, NULL)"}},
      {"m", SqlType::Map(SqlType::String(), SqlType::Int()), {"{a=1, b=2}", n, "{z=NULL}"}},
      {"mi", SqlType::Map(SqlType::Int(), SqlType::String()), {"{1=x}", n, "{2=NULL}"}},
      {"ma", SqlType::Map(SqlType::String(), SqlType::Array(SqlType::Int())), {"{k=[1, 2]}", n, n}},
      {"ar",
       SqlType::Array(RowOf({{"p", SqlType::Int()}, {"q", SqlType::String()}})),
       {"[(1, x), (2, y)]", n, "[(NULL, n)]"}},
      {"rr",
       RowOf({{"a", RowOf({{"b", SqlType::Array(SqlType::Int())}})}}),
       {"(([1, 2]))", n, "((NULL))"}},
  };
  ExpectColumns(GoldenFile("types_parquet", "t"), columns, {{"utc-timezone", "true"}});
}

TEST(ParquetGoldenTest, Int64Timestamps) {
  // Flink cannot read this file itself; the values are those that were inserted, nanoseconds cut by
  // the file's unit.
  const std::string n = "NULL";
  ExpectColumns(
      GoldenFile("types_parquet_int64", "t"),
      {
          {"ts3", SqlType::Timestamp(3), {"2020-05-20 12:34:56.789", "1969-12-31 23:59:59.100", n}},
          {"ts6",
           SqlType::Timestamp(6),
           {"2020-05-20 12:34:56.789012", "0001-01-01 00:00:00.000001", n}},
          {"ts9",
           SqlType::Timestamp(9),
           {"2020-05-20 12:34:56.789012000", "2020-01-01 00:00:00.000000000", n}},
          {"l3",
           SqlType::TimestampLtz(3),
           {"2020-05-20 12:34:56.789", "1969-12-31 23:59:59.100", n}},
          {"l6",
           SqlType::TimestampLtz(6),
           {"2020-05-20 12:34:56.789012", "2020-01-01 00:00:00.100000", n}},
      },
      {});
}

TEST(ParquetGoldenTest, ShanghaiSessionIsNotTheProcessZone) {
  // The zone of the session does not shift anything; -28799.9 s is what Flink's own cut made of
  // -28800.9 s.
  const std::string n = "NULL";
  ExpectColumns(
      GoldenFile("types_parquet_shanghai", "t"),
      {
          {"ts3", SqlType::Timestamp(3), {"2020-05-20 12:34:56.789", "1970-01-01 00:00:00.100", n}},
          {"ts9",
           SqlType::Timestamp(9),
           {"2020-05-20 12:34:56.789012345", "2020-01-01 00:00:00.000000001", n}},
          {"l3",
           SqlType::TimestampLtz(3),
           {"2020-05-20 04:34:56.789", "1969-12-31 16:00:00.100", n}},
          {"l9",
           SqlType::TimestampLtz(9),
           {"2020-05-20 04:34:56.789012345", "2019-12-31 16:00:00.000000001", n}},
      },
      {{"utc-timezone", "true"}});
}

TEST(ParquetGoldenTest, NestedAndTimes) {
  ExpectColumns(GoldenFile("refused_parquet", "t0"), {{"v", SqlType::Time(0), {"12:34:56"}}}, {});
  ExpectColumns(GoldenFile("refused_parquet", "t3"), {{"v", SqlType::Time(3), {"12:34:56.789"}}},
                {});
  ExpectColumns(GoldenFile("refused_parquet", "m"),
                {{"v", SqlType::Map(SqlType::String(), SqlType::Int()), {"{a=1, b=2}"}}}, {});
  ExpectColumns(
      GoldenFile("refused_parquet", "rr"),
      {{"v", RowOf({{"a", RowOf({{"b", SqlType::Array(SqlType::Int())}})}}), {"(([1, 2]))"}}}, {});
}

}  // namespace
}  // namespace sluice::formats::parquet_format
