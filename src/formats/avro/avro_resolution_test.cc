// The writer's schema against the table's columns (known-pitfalls §9).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/avro/avro_test_support.h"

namespace sluice::formats::avro {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Logical(const std::string& type, const std::string& logical) {
  return R"({"type":")" + type + R"(","logicalType":")" + logical + "\"}";
}

// Rule 9.1.
TEST(KnownPitfalls, Rule9_1_LogicalTypesDecideTheUnit) {
  const std::string micros = Logical("long", "timestamp-micros");
  const std::string data = Long(1714521600123456);
  EXPECT_EQ(ReadOne(micros, data, SqlType::Timestamp(6)), "2024-05-01 00:00:00.123456");
  EXPECT_EQ(ReadOne(micros, data, SqlType::Timestamp(3)), "2024-05-01 00:00:00.123");
  EXPECT_EQ(ReadOne(micros, data, SqlType::Timestamp(0)), "2024-05-01 00:00:00.000");
  EXPECT_EQ(ReadOne(micros, data, SqlType::Timestamp(5)), "2024-05-01 00:00:00.123450");
  EXPECT_EQ(ReadOne(micros, data, SqlType::Timestamp(9)), "2024-05-01 00:00:00.123456000");
  EXPECT_EQ(ReadOne(micros, data, SqlType::TimestampLtz(6)), "2024-05-01 00:00:00.123456Z");
  for (const char* logical : {"timestamp-millis", "local-timestamp-millis"}) {
    EXPECT_EQ(ReadOne(Logical("long", logical), Long(-1), SqlType::Timestamp(6)),
              "1969-12-31 23:59:59.999000");
    EXPECT_EQ(ReadOne(Logical("long", logical), Long(-1), SqlType::Timestamp(0)),
              "1969-12-31 23:59:59.000");
  }
  for (const char* logical : {"timestamp-nanos", "local-timestamp-nanos"}) {
    EXPECT_EQ(ReadOne(Logical("long", logical), Long(-1), SqlType::Timestamp(9)),
              "1969-12-31 23:59:59.999999999");
    EXPECT_EQ(ReadOne(Logical("long", logical), Long(-1), SqlType::Timestamp(6)),
              "1969-12-31 23:59:59.999999");
  }
  EXPECT_THAT(ReadOne(micros, Long(INT64_MAX), SqlType::Timestamp(9)),
              HasSubstr("outside of what TIMESTAMP(9) can hold"));
  EXPECT_EQ(ReadOne(micros, Long(INT64_MIN), SqlType::Bigint()), "-9223372036854775808");
  // Without a logical type a number means what the column itself would be written as.
  EXPECT_EQ(ReadOne("\"long\"", data, SqlType::Timestamp(6)), "2024-05-01 00:00:00.123456");

  EXPECT_EQ(ReadOne(Logical("int", "time-millis"), Long(45296789), SqlType::Time(3)),
            "12:34:56.789");
  EXPECT_EQ(ReadOne(Logical("int", "time-millis"), Long(45296789), SqlType::Time(0)),
            "12:34:56.000");
  EXPECT_EQ(ReadOne(Logical("long", "time-micros"), Long(45296789012), SqlType::Time(3)),
            "12:34:56.789");
  EXPECT_THAT(ReadOne(Logical("int", "time-millis"), Long(86'400'000), SqlType::Time(3)),
              HasSubstr("not within a day"));
  EXPECT_EQ(ReadOne(Logical("int", "date"), Long(18402), SqlType::Date()), "2020-05-20");
}

// Rule 9.2.
TEST(KnownPitfalls, Rule9_2_WriterTypesBecomeTheColumns) {
  const std::string colour = R"({"type":"enum","name":"C","symbols":["RED","GREEN"]})";
  EXPECT_EQ(ReadOne(colour, Long(0), SqlType::String()), "RED");
  EXPECT_EQ(ReadOne(colour, Long(1), SqlType::String()), "GREEN");
  EXPECT_THAT(ReadOne(colour, Long(2), SqlType::String()), HasSubstr("no symbol 2"));
  EXPECT_EQ(ReadOne("\"int\"", Long(7), SqlType::Bigint()), "7");
  EXPECT_EQ(ReadOne("\"int\"", Long(7), SqlType::Float()), "7");
  EXPECT_EQ(ReadOne("\"int\"", Long(7), SqlType::Double()), "7");
  EXPECT_EQ(ReadOne("\"long\"", Long(7), SqlType::Float()), "7");
  EXPECT_EQ(ReadOne("\"long\"", Long(-7), SqlType::Double()), "-7");
  EXPECT_EQ(ReadOne("\"float\"", std::string("\0\0\xC0\x3F", 4), SqlType::Double()), "1.5");
  EXPECT_EQ(ReadOne("\"bytes\"", Sized("abc"), SqlType::String()), "abc");
  EXPECT_EQ(ReadOne("\"string\"", Sized("abc"), SqlType::Bytes()), "x'616263'");
  const std::string fixed = R"({"type":"fixed","name":"F","size":2})";
  EXPECT_EQ(ReadOne(fixed, "\x01\x02", SqlType::Binary(2)), "x'0102'");
  const std::string uuid = R"({"type":"fixed","name":"U","size":16,"logicalType":"uuid"})";
  EXPECT_EQ(ReadOne(uuid, "0123456789abcdef", SqlType::String()),
            "30313233-3435-3637-3839-616263646566");
  const std::pair<std::string, SqlType> refused[] = {
      {"\"long\"", SqlType::Int()},
      {"\"string\"", SqlType::Int()},
      {"\"int\"", SqlType::String()},
      {"\"double\"", SqlType::Float()},
      {"\"boolean\"", SqlType::Int()},
      {fixed, SqlType::String()},
      {Logical("int", "date"), SqlType::Time(3)},
      {R"({"type":"array","items":"int"})", SqlType::Array(SqlType::String())},
  };
  for (const auto& [writer, type] : refused) {
    const std::string message = ReadOne(writer, Long(0), type);
    EXPECT_THAT(message, HasSubstr("column 'v': the file has ")) << writer;
    EXPECT_THAT(message, HasSubstr("which cannot become")) << writer;
  }
}

TEST(AvroResolutionTest, Decimals) {
  const auto decimal = [](const char* type, const char* more) {
    return R"({"type":")" + std::string(type) + R"(","logicalType":"decimal","precision":20,)" +
           more + "}";
  };
  const std::string bytes2 = decimal("bytes", R"("scale":2)");
  EXPECT_EQ(ReadOne(bytes2, Sized("\x04\xD2"), SqlType::Decimal(10, 2)), "12.34");
  EXPECT_EQ(ReadOne(bytes2, Sized("\xFF"), SqlType::Decimal(10, 2)), "-0.01");
  // More sign bytes than are needed, and a scale of its own.
  EXPECT_EQ(ReadOne(bytes2, Sized(std::string(20, '\0') + "\x04\xD2"), SqlType::Decimal(10, 4)),
            "12.3400");
  EXPECT_EQ(ReadOne(bytes2, Sized("\x78"), SqlType::Decimal(3, 1)), "1.2");
  EXPECT_THAT(ReadOne(bytes2, Sized("\x7B"), SqlType::Decimal(3, 1)), HasSubstr("losing digits"));
  EXPECT_THAT(ReadOne(bytes2, Sized("\x04\xD2"), SqlType::Decimal(3, 2)), HasSubstr("not fit"));
  EXPECT_THAT(ReadOne(bytes2, Sized(std::string(17, '\x11')), SqlType::Decimal(38, 2)),
              HasSubstr("not fit"));
  EXPECT_THAT(ReadOne(bytes2, Sized(""), SqlType::Decimal(10, 2)), HasSubstr("no bytes"));
  const std::string fixed = decimal("fixed", R"("scale":2,"name":"D","size":4)");
  EXPECT_EQ(ReadOne(fixed, std::string("\xFF\xFF\xFB\x2E", 4), SqlType::Decimal(10, 2)), "-12.34");
}

// Rule 9.3.
TEST(KnownPitfalls, Rule9_3_NamesDecideAndNullStandsAnywhere) {
  const std::string null_last = R"(["string","null"])";
  EXPECT_EQ(ReadOne(null_last, Long(0) + Sized("a"), SqlType::String()), "a");
  EXPECT_EQ(ReadOne(null_last, Long(1), SqlType::String()), "NULL");
  EXPECT_EQ(ReadOne(R"(["null"])", Long(0), SqlType::String()), "NULL");
  EXPECT_EQ(ReadOne("\"null\"", "", SqlType::String()), "NULL");
  EXPECT_THAT(ReadOne(null_last, Long(2), SqlType::String()), HasSubstr("no such branch"));
  EXPECT_THAT(ReadOne(null_last, Long(1), SqlType::String().NotNull()),
              HasSubstr("NULL stands in a column that is NOT NULL"));
  const std::string many = R"(["int","null","long","string"])";
  EXPECT_EQ(ReadOne(many, Long(0) + Long(5), SqlType::Bigint()), "5");
  EXPECT_EQ(ReadOne(many, Long(1), SqlType::Bigint()), "NULL");
  EXPECT_EQ(ReadOne(many, Long(2) + Long(1), SqlType::Bigint()), "1");
  EXPECT_THAT(ReadOne(many, Long(3) + Sized("x"), SqlType::Bigint()),
              HasSubstr("the file has string, which cannot become BIGINT"));
  EXPECT_THAT(ReadOne("\"int\"", Long(40000), SqlType::Smallint()),
              HasSubstr("the value 40000 does not fit in SMALLINT"));
  EXPECT_EQ(ReadOne("\"int\"", Long(-128), SqlType::Tinyint()), "-128");
  EXPECT_THAT(ReadOne("\"int\"", Long(128), SqlType::Tinyint()), HasSubstr("TINYINT"));
  // Fields in another order, with others between, and a record of another name.
  const std::string schema =
      R"({"type":"record","name":"any.Thing","fields":[{"name":"b","type":"int"},)"
      R"({"name":"extra","type":{"type":"map","values":["null","string"]}},)"
      R"({"name":"a","type":"string"}]})";
  const std::string data =
      Long(1) + Long(1) + Sized("k") + Long(1) + Sized("v") + Long(0) + Sized("x");
  const Schema table({{"a", SqlType::String()}, {"c", SqlType::Int()}, {"b", SqlType::Bigint()}});
  EXPECT_THAT(*ReadRows(FileOf(schema, 1, data), table), ElementsAre("x|NULL|1"));
  EXPECT_THAT(*ReadRows(FileOf(schema, 1, data), {table, {2}}), ElementsAre("1"));
  EXPECT_THAT(*ReadRows(FileOf(R"(["null",)" + schema + "]", 1, Long(1) + data), table),
              ElementsAre("x|NULL|1"));
  const Schema strict({{"c", SqlType::Int().NotNull()}});
  EXPECT_THAT(ReadRows(FileOf(schema, 1, data), strict).status().message(),
              HasSubstr("missing required field c"));
}

TEST(KnownPitfalls, Rule9_3_NameAndNamespaceCanBeSetWhenWriting) {
  const Schema schema({{"a", SqlType::Int()}});
  const Batch batch = BatchFromJson(schema, {"[1]"});
  const auto named =
      WriteFile(schema, {batch}, {{"record-name", "Order"}, {"record-namespace", "shop.events"}});
  EXPECT_THAT(*named, HasSubstr(R"("name":"Order","namespace":"shop.events")"));
  const auto bare = WriteFile(schema, {batch}, {{"record-namespace", ""}});
  EXPECT_THAT(*bare, HasSubstr(R"({"type":"record","name":"record","fields")"));
  EXPECT_THAT(*ReadRows(*bare, schema), ElementsAre("1"));
}

TEST(AvroResolutionTest, AliasesOfTheWriter) {
  const std::string schema =
      R"({"type":"record","name":"r","fields":[{"name":"new_name","aliases":["old"],"type":"int"},)"
      R"({"name":"b","aliases":["a"],"type":"int"}]})";
  const std::string file = FileOf(schema, 1, Long(1) + Long(2));
  EXPECT_THAT(*ReadRows(file, Schema({{"old", SqlType::Int()}, {"a", SqlType::Int()}})),
              ElementsAre("1|2"));
  // A name counts more than an alias, and a field is read once.
  EXPECT_THAT(*ReadRows(file, Schema({{"a", SqlType::Int()}, {"b", SqlType::Int()}})),
              ElementsAre("NULL|2"));
}

TEST(AvroResolutionTest, NestedRowsMatchByNameToo) {
  const std::string schema = RecordOf(
      R"({"type":"array","items":{"type":"record","name":"i","fields":[)"
      R"({"name":"y","type":"string"},{"name":"z","type":"int"},{"name":"x","type":"int"}]}})");
  const SqlType row = SqlType::Row(
      {{"x", SqlType::Bigint()}, {"gone", SqlType::String()}, {"y", SqlType::String()}});
  const std::string items = Long(-2) + Long(8) + Sized("a") + Long(0) + Long(1) + Sized("b") +
                            Long(0) + Long(2) + Long(0);
  EXPECT_THAT(*ReadRows(FileOf(schema, 1, items), Schema({{"v", SqlType::Array(row)}})),
              ElementsAre("[(1, NULL, a), (2, NULL, b)]"));
}

TEST(AvroResolutionTest, RecursiveTypesAreSkipped) {
  const std::string schema =
      R"({"type":"record","name":"r","fields":[{"name":"list","type":{"type":"record","name":"l",)"
      R"("fields":[{"name":"n","type":"int"},{"name":"next","type":["null","l"]}]}},)"
      R"({"name":"v","type":"int"}]})";
  const auto file = [&](int links) {
    std::string data;
    for (int i = 0; i < links; ++i) data += Long(i) + Long(1);
    return FileOf(schema, 1, data + Long(9) + Long(0) + Long(42));
  };
  EXPECT_THAT(*ReadRows(file(100), Schema({{"v", SqlType::Int()}})), ElementsAre("42"));
  EXPECT_THAT(ReadRows(file(100'000), Schema({{"v", SqlType::Int()}})).status().message(),
              HasSubstr("nested deeper than"));
}

TEST(AvroResolutionTest, SchemasThatAreNoRows) {
  const Schema table({{"v", SqlType::Int()}});
  EXPECT_THAT(ReadRows(FileOf("\"int\"", 1, Long(1)), table).status().message(),
              HasSubstr("rows are read from records"));
  EXPECT_THAT(ReadRows(FileOf(R"(["null","int"])", 1, Long(0)), table).status().message(),
              HasSubstr("holds no record"));
  const std::string schema = R"(["null",)" + RecordOf("\"int\"") + "]";
  EXPECT_THAT(ReadRows(FileOf(schema, 1, Long(0)), table).status().message(),
              HasSubstr("stands for a row"));
}

}  // namespace
}  // namespace sluice::formats::avro
