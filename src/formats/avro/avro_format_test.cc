#include "formats/avro/avro_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/avro/avro_test_support.h"
#include "formats/avro/table_schema.h"

namespace sluice::formats::avro {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(AvroOptionsTest, WrongValuesAreRefused) {
  const struct {
    OptionMap options;
    std::string message;
  } cases[] = {
      {{{"codec", "lz9"}}, "Unrecognized codec: lz9. The codecs are null, deflate, snappy, bzip2"},
      {{{"encoding", "xml"}}, "avro.encoding"},
      {{{"timestamp_mapping.legacy", "maybe"}}, "avro.timestamp_mapping.legacy"},
      {{{"codek", "null"}}, "avro.codec"},
      {{{"record-name", "a b"}}, "avro.record-name"},
      {{{"record-namespace", "a..b"}}, "avro.record-namespace"},
  };
  for (const auto& test : cases) {
    const Status status = ValidateFormatOptions(kAvroFormat, {test.options, "avro."});
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << test.message;
    EXPECT_THAT(status.message(), HasSubstr(test.message));
  }
}

TEST(AvroOptionsTest, FilesAndMessagesHaveTheirOwn) {
  const auto files = [](const OptionMap& options) {
    return kAvroFormat.validate_files({options, "avro."}, Schema());
  };
  const auto messages = [](const OptionMap& options) {
    return kAvroFormat.validate_messages({options, "value.avro."}, Schema());
  };
  EXPECT_TRUE(files({{"codec", "xz"}}).ok());
  EXPECT_THAT(files({{"encoding", "json"}}).message(),
              HasSubstr("'avro.encoding' is for messages"));
  EXPECT_FALSE(files({{"ignore-parse-errors", "true"}}).ok());
  EXPECT_TRUE(messages({{"encoding", "json"}, {"ignore-parse-errors", "true"}}).ok());
  EXPECT_THAT(messages({{"codec", "null"}}).message(),
              HasSubstr("'value.avro.codec' is for files"));
  EXPECT_TRUE(kAvroFormat.holds_messages());
}

TEST(AvroOptionsTest, TypesAndNamesThatAvroCannotHold) {
  const auto message = [](const Column& column) {
    return kAvroFormat.validate({{}, "avro."}, Schema({column}), Direction::kRead).message();
  };
  EXPECT_THAT(message({"a-b", SqlType::Int()}), HasSubstr("Illegal character in: a-b"));
  EXPECT_THAT(message({"1a", SqlType::Int()}), HasSubstr("Illegal initial character: 1a"));
  EXPECT_THAT(message({"i", SqlType::IntervalDayTime()}),
              HasSubstr("Unsupported to derive Schema"));
  EXPECT_THAT(message({"m", SqlType::Map(SqlType::Int(), SqlType::String())}),
              HasSubstr("doesn't support non-string as key type of map. The key type is: INT"));
  EXPECT_EQ(message({"m", SqlType::Multiset(SqlType::String())}), "");
}

// Rows of every type with NULLs at each level and extreme values.
Schema EveryType() {
  const SqlType row = SqlType::Row({{"x", SqlType::Int()}, {"y", SqlType::String()}});
  return Schema({
      {"b", SqlType::Boolean()},
      {"i8", SqlType::Tinyint()},
      {"i16", SqlType::Smallint()},
      {"i32", SqlType::Int()},
      {"i64", SqlType::Bigint().NotNull()},
      {"f", SqlType::Float()},
      {"d", SqlType::Double()},
      {"dc", SqlType::Decimal(3, 1)},
      {"dc38", SqlType::Decimal(38, 10)},
      {"s", SqlType::String()},
      {"bs", SqlType::Bytes()},
      {"dt", SqlType::Date()},
      {"t", SqlType::Time(3)},
      {"ts0", SqlType::Timestamp(0)},
      {"ts3", SqlType::Timestamp(3)},
      {"ts6", SqlType::Timestamp(6)},
      {"ts9", SqlType::Timestamp(9)},
      {"l3", SqlType::TimestampLtz(3)},
      {"l6", SqlType::TimestampLtz(6)},
      {"aa", SqlType::Array(SqlType::Array(SqlType::Int().NotNull()))},
      {"m", SqlType::Map(SqlType::String().NotNull(), SqlType::Timestamp(6))},
      {"ms", SqlType::Multiset(SqlType::String())},
      {"r", row},
      {"ar", SqlType::Array(row.NotNull()).NotNull()},
      {"rr", SqlType::Row({{"a", SqlType::Row({{"b", SqlType::Array(SqlType::String())}})}})},
      {"mm", SqlType::Map(SqlType::String(), SqlType::Map(SqlType::String(), row))},
  });
}

Batch ExtremeRows() {
  return BatchFromJson(EveryType(),
                       {
                           "[true, null, false]",
                           "[-128, null, 127]",
                           "[-32768, null, 32767]",
                           "[-2147483648, null, 2147483647]",
                           "[9223372036854775807, 0, -9223372036854775808]",
                           "[3.4028235e38, null, -0.0]",
                           "[1.7976931348623157e308, null, 4.9e-324]",
                           R"(["-99.9", null, "0.1"])",
                           R"(["-9999999999999999999999999999.9999999999", null, "0.0000000001"])",
                           R"(["", null, "한😀"])",
                           R"(["", null, "abc"])",
                           "[-719162, null, 2932896]",
                           "[0, null, 86399999]",
                           "[-62135596800000, null, -1000]",
                           "[-62135596800000, null, -1]",
                           "[-1, null, 253402300799999999]",
                           "[-9223372036854775808, null, 9223372036854775807]",
                           "[-62135596799999, null, 1]",
                           "[-62135596799999999, null, 1]",
                           "[[[1,2],[],null,[3]], null, []]",
                           R"([[["a",-1],["b",null]], null, []])",
                           R"([[["a",2],["b",1]], null, []])",
                           R"([[1,"x"], null, [null,null]])",
                           R"([[[1,"q"],[null,null]], [], [[7,""]]])",
                           R"([[[["x",null]]], [null], [[[]]]])",
                           R"([[["k",[["i",[1,null]],["j",null]]]], null, [["z",[]]]])",
                       });
}

TEST(AvroRoundTripTest, EveryTypeWithEveryCodec) {
  const Batch batch = ExtremeRows();
  const std::vector<std::string> expected = testing::RenderRows(batch);
  for (const char* codec : {"null", "deflate", "snappy", "bzip2", "xz", "zstandard"}) {
    for (const char* legacy : {"true", "false"}) {
      const auto bytes = WriteFile(EveryType(), {batch, batch.Slice(1, 2)},
                                   {{"codec", codec}, {"timestamp_mapping.legacy", legacy}}, true);
      ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
      EXPECT_THAT(*bytes, HasSubstr(Sized("avro.codec") + Sized(codec)));
      const auto rows = ReadRows(*bytes, EveryType());
      ASSERT_TRUE(rows.ok()) << codec << ": " << rows.status().ToString();
      EXPECT_THAT(*rows,
                  ElementsAre(expected[0], expected[1], expected[2], expected[1], expected[2]));
    }
  }
}

TEST(AvroRoundTripTest, NotANumberAndInfinities) {
  arrow::DoubleBuilder builder;
  const double infinity = std::numeric_limits<double>::infinity();
  ASSERT_TRUE(builder.AppendValues({std::nan(""), infinity, -infinity, -0.0}).ok());
  const Schema schema({{"d", SqlType::Double()}});
  const Batch batch(arrow::RecordBatch::Make(schema.ToArrow(), 4, {*builder.Finish()}));
  const auto bytes = WriteFile(schema, {batch});
  EXPECT_THAT(*ReadRows(*bytes, schema), ElementsAre("nan", "inf", "-inf", "-0"));
}

TEST(AvroRoundTripTest, NoRowsAndNoColumns) {
  const Schema schema({{"a", SqlType::Int()}});
  const auto empty = WriteFile(schema, {});
  ASSERT_TRUE(empty.ok());
  EXPECT_THAT(*ReadRows(*empty, schema), ElementsAre());
  const auto bytes = WriteFile(schema, {BatchFromJson(schema, {"[1, 2, 3]"})});
  const auto file = OpenFile(*bytes, {schema, {}});
  const auto batches = ReadBatches(**file);
  ASSERT_EQ(batches->size(), 1u);
  EXPECT_EQ(batches->front().row_count(), 3);
  EXPECT_EQ(batches->front().rows()->num_columns(), 0);
}

TEST(AvroRoundTripTest, SlicedBatches) {
  const Batch batch = ExtremeRows();
  const std::vector<std::string> expected = testing::RenderRows(batch);
  const auto bytes = WriteFile(EveryType(), {batch.Slice(2, 1), batch.Slice(0, 1)});
  EXPECT_THAT(*ReadRows(*bytes, EveryType()), ElementsAre(expected[2], expected[0]));
}

TEST(AvroRoundTripTest, PartsCoverEachBlockOnce) {
  const Schema schema({{"i", SqlType::Bigint()}, {"s", SqlType::String()}});
  std::string numbers = "[0";
  std::string texts = "[\"text 0\"";
  for (int i = 1; i < 40'000; ++i) {
    numbers += "," + std::to_string(i);
    texts += ",\"text " + std::to_string(i * 7919) + "\"";
  }
  const Batch batch = BatchFromJson(schema, {numbers + "]", texts + "]"});
  for (const char* codec : {"null", "snappy"}) {
    const auto bytes = WriteFile(schema, {batch}, {{"codec", codec}});
    for (const int64_t part_bytes :
         {int64_t{1} << 20, int64_t{100'000}, int64_t{5'000}, int64_t{777}}) {
      const auto file = OpenFile(*bytes, {schema, {0}}, part_bytes);
      EXPECT_GT((*file)->part_count(), part_bytes == 1 << 20 ? 0 : 1);
      const auto batches = ReadBatches(**file);
      ASSERT_TRUE(batches.ok()) << batches.status().ToString();
      int64_t next = 0;
      for (const Batch& rows : *batches) {
        EXPECT_LE(rows.row_count(), kTargetBatchRows);
        const auto& values = static_cast<const arrow::Int64Array&>(*rows.column(0));
        for (int64_t i = 0; i < values.length(); ++i) ASSERT_EQ(values.Value(i), next++);
      }
      EXPECT_EQ(next, 40'000);
    }
  }
}

TEST(AvroWriterTest, TellsItsSize) {
  const Schema schema({{"s", SqlType::String()}});
  auto stream = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto writer =
      kAvroFormat.make_bulk_writer({{{"codec", "null"}}, "avro."}, schema, stream, {});
  ASSERT_TRUE((*writer)->Write(BatchFromJson(schema, {R"(["abc", "de"])"})).ok());
  EXPECT_EQ((*writer)->buffered_bytes(), 9);
  EXPECT_EQ((*writer)->estimated_file_bytes(), 9);
  ASSERT_TRUE((*writer)->Flush().ok());
  EXPECT_EQ((*writer)->buffered_bytes(), 0);
  EXPECT_EQ((*writer)->estimated_file_bytes(), *stream->Tell());
  ASSERT_TRUE((*writer)->Finish().ok());
}

TEST(AvroWriterTest, ValuesThatCannotBeReadBackAreRefused) {
  const Schema schema({{"i", SqlType::Int().NotNull()}, {"s", SqlType::String()}});
  arrow::Int32Builder numbers;
  arrow::StringBuilder texts;
  ASSERT_TRUE(numbers.AppendValues({1, 2}).ok());
  ASSERT_TRUE(texts.AppendValues({"good", "he\xFFlo"}).ok());
  const Batch bad(
      arrow::RecordBatch::Make(schema.ToArrow(), 2, {*numbers.Finish(), *texts.Finish()}));
  EXPECT_THAT(WriteFile(schema, {bad}).status().message(),
              HasSubstr("Cannot write column `s`: the text is not UTF-8"));
  const Batch null = BatchFromJson(schema, {"[null]", "[null]"});
  EXPECT_THAT(WriteFile(schema, {null}).status().message(),
              HasSubstr("Cannot write column `i`: NULL in a column that is NOT NULL"));
}

TEST(TableSchemaTest, AsFlinkNamesIt) {
  const SqlType row = SqlType::Row({{"x", SqlType::Int().NotNull()}, {"y", SqlType::Bytes()}});
  const Schema schema({{"i", SqlType::Int()},
                       {"ts", SqlType::Timestamp(3)},
                       {"r", SqlType::Row({{"in", row}})},
                       {"ar", SqlType::Array(row).NotNull()},
                       {"ms", SqlType::Multiset(SqlType::String())}});
  EXPECT_EQ(
      TableSchemaJson(schema, {}),
      R"({"type":"record","name":"record","namespace":"org.apache.flink.avro.generated","fields":[)"
      R"({"name":"i","type":["null","int"],"default":null},)"
      R"({"name":"ts","type":["null",{"type":"long","logicalType":"timestamp-millis"}],"default":null},)"
      R"({"name":"r","type":["null",{"type":"record","name":"record_r","fields":[)"
      R"({"name":"in","type":["null",{"type":"record","name":"record_r_in","fields":[)"
      R"({"name":"x","type":"int"},{"name":"y","type":["null","bytes"],"default":null}]}],"default":null}]}],"default":null},)"
      R"({"name":"ar","type":{"type":"array","items":["null",{"type":"record","name":"record_ar","fields":[)"
      R"({"name":"x","type":"int"},{"name":"y","type":["null","bytes"],"default":null}]}]}},)"
      R"({"name":"ms","type":["null",{"type":"map","values":["null","int"]}],"default":null}]})");
}

TEST(TableSchemaTest, RowsOfOneNameAreToldApart) {
  const SqlType row = SqlType::Row({{"x", SqlType::Int()}});
  const Schema schema({{"r_a", row}, {"r", SqlType::Row({{"a", row}})}});
  EXPECT_THAT(TableSchemaJson(schema, {}), HasSubstr(R"("name":"record_r_a_2")"));
  EXPECT_TRUE(AvroSchema::Parse(TableSchemaJson(schema, {})).ok());
}

TEST(TableSchemaTest, TimestampMappings) {
  const auto logical = [](const SqlType& type, bool legacy) {
    AvroOptions options;
    options.legacy_timestamps = legacy;
    const auto schema =
        AvroSchema::Parse(TableSchemaJson(Schema({{"v", type.NotNull()}}), options));
    return std::string(LogicalName(schema->root().fields[0].type->logical));
  };
  EXPECT_EQ(logical(SqlType::Timestamp(3), true), "timestamp-millis");
  EXPECT_EQ(logical(SqlType::Timestamp(6), true), "timestamp-micros");
  EXPECT_EQ(logical(SqlType::Timestamp(9), true), "timestamp-nanos");
  EXPECT_EQ(logical(SqlType::TimestampLtz(3), true), "timestamp-millis");
  EXPECT_EQ(logical(SqlType::Timestamp(0), false), "local-timestamp-millis");
  EXPECT_EQ(logical(SqlType::Timestamp(6), false), "local-timestamp-micros");
  EXPECT_EQ(logical(SqlType::Timestamp(9), false), "local-timestamp-nanos");
  EXPECT_EQ(logical(SqlType::TimestampLtz(6), false), "timestamp-micros");
}

}  // namespace
}  // namespace sluice::formats::avro
