#include "formats/parquet/parquet_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <parquet/column_writer.h>
#include <parquet/file_reader.h>

#include "common/random.h"
#include "common/text.h"
#include "expr/builder.h"
#include "formats/parquet/parquet_file.h"
#include "formats/parquet/parquet_test_support.h"
#include "formats/parquet/parquet_writer.h"
#include "types/carried_status.h"

namespace sluice::formats::parquet_format {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A file whose storage gives up after some reads.
class FailingFile final : public arrow::io::RandomAccessFile {
 public:
  FailingFile(const std::string& bytes, int reads_left, Status failure)
      : file_(arrow::Buffer::FromString(bytes)),
        reads_left_(reads_left),
        failure_(std::move(failure)) {
    set_mode(arrow::io::FileMode::READ);
  }
  arrow::Result<int64_t> GetSize() override { return file_.GetSize(); }
  arrow::Result<int64_t> ReadAt(int64_t position, int64_t count, void* out) override {
    if (--reads_left_ < 0) return ToArrow(failure_);
    return file_.ReadAt(position, count, out);
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t count) override {
    if (--reads_left_ < 0) return ToArrow(failure_);
    return file_.ReadAt(position, count);
  }
  arrow::Result<int64_t> Read(int64_t count, void* out) override { return file_.Read(count, out); }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t count) override {
    return file_.Read(count);
  }
  arrow::Status Seek(int64_t position) override { return file_.Seek(position); }
  arrow::Result<int64_t> Tell() const override { return file_.Tell(); }
  arrow::Status Close() override { return file_.Close(); }
  bool closed() const override { return file_.closed(); }

 private:
  arrow::io::BufferReader file_;
  int reads_left_;
  const Status failure_;
};

Status ReadAll(const Schema& schema, std::shared_ptr<arrow::io::RandomAccessFile> file) {
  SLUICE_ASSIGN_OR_RETURN(const auto opened,
                          kParquetFormat.open_bulk_file({{}, "parquet."}, {schema, {0}}, file, {}));
  SLUICE_ASSIGN_OR_RETURN(const auto rows, opened->ReadPart(0));
  return rows->Next().status();
}

// A store that is away, or an object that was replaced, is no damage: what can heal is tried again.
TEST(ParquetFileTest, WhatStorageAnswersIsPassedOn) {
  const Schema schema = NumberedSchema({SqlType::Bigint()});
  std::vector<std::string> values;
  for (int i = 0; i < 1000; ++i) values.push_back(std::to_string(i));
  const std::string column = "[" + Join(values, ",") + "]";
  const auto bytes = WriteFile(schema, {testing::BatchFromJson(schema, {column})});
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  const Status away = Status::Unavailable("answered 503").Retriable(true);
  const Status gone = Status::NotFound("answered 404");
  int reads = 0;
  for (; reads < 20; ++reads) {
    const Status first = ReadAll(schema, std::make_shared<FailingFile>(*bytes, reads, away));
    if (first.ok()) break;
    EXPECT_TRUE(first.retriable()) << reads << ": " << first.ToString();
    const Status second = ReadAll(schema, std::make_shared<FailingFile>(*bytes, reads, gone));
    EXPECT_EQ(second.code(), StatusCode::kNotFound) << reads << ": " << second.ToString();
  }
  EXPECT_GE(reads, 2);  // The footer, and the rows.
  EXPECT_LT(reads, 20);
}

TEST(ParquetOptionsTest, WrongValuesAreRefused) {
  const struct {
    OptionMap options;
    std::string message;
  } cases[] = {
      {{{"timestamp.time.unit", "SECONDS"}}, "nanos, micros, millis"},
      {{{"compression", "FOO"}}, "UNCOMPRESSED, SNAPPY"},
      {{{"compression", "lzo"}}, "not available"},
      {{{"utc-timezone", "maybe"}}, "parquet.utc-timezone"},
      {{{"block.size", "0"}}, "parquet.block.size"},
      {{{"compresion", "snappy"}}, "parquet.compression"},
      {{{"writer.version", "3"}}, "PARQUET_1_0"},
      {{{"compression.codec.zstd.level", "99"}}, "1 to 22"},
      {{{"bloom.filter.fpp#a", "2"}}, "between 0 and 1"},
  };
  for (const auto& test : cases) {
    const Status status =
        kParquetFormat.validate({test.options, "parquet."}, Schema(), Direction::kWrite);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << test.message;
    EXPECT_THAT(status.message(), HasSubstr(test.message));
  }
  EXPECT_THAT(
      kParquetFormat
          .validate({{{"bloom.filter.enabled#prize", "true"}}, "parquet."},
                    Schema({{"price", SqlType::Int()}}), Direction::kWrite)
          .message(),
      AllOf(HasSubstr("'prize' of 'parquet.bloom.filter.enabled#prize'"), HasSubstr("'price'")));
  EXPECT_FALSE(kParquetFormat
                   .validate({{}, "parquet."}, Schema({{"i", SqlType::IntervalDayTime()}}),
                             Direction::kWrite)
                   .ok());
}

TEST(ParquetRoundTripTest, EveryTypeWithEveryOption) {
  const SqlType row = SqlType::Row({{"x", SqlType::Int()}, {"t", SqlType::Timestamp(6)}});
  const Schema schema = NumberedSchema({
      SqlType::Boolean(),
      SqlType::Tinyint(),
      SqlType::Bigint().NotNull(),
      SqlType::Double(),
      SqlType::Decimal(3, 1),
      SqlType::Decimal(38, 10),
      SqlType::String(),
      SqlType::Date(),
      SqlType::Time(3),
      SqlType::Timestamp(3),
      SqlType::Timestamp(6),
      SqlType::TimestampLtz(6),
      SqlType::Array(SqlType::Array(SqlType::Int().NotNull())),
      SqlType::Map(SqlType::String().NotNull(), SqlType::Timestamp(6)),
      row,
      SqlType::Array(row.NotNull()).NotNull(),
      SqlType::Multiset(SqlType::String()),
      SqlType::Row({{"a", SqlType::Row({{"b", SqlType::Array(SqlType::String())}})}}),
  });
  const Batch batch = BatchFromJson(
      schema, {
                  "[true, null, false]",
                  "[-128, null, 127]",
                  "[9223372036854775807, 0, -9223372036854775808]",
                  "[1.5, null, -1e300]",
                  R"(["-99.9", null, "0.1"])",
                  R"(["-9999999999999999999999999999.9999999999", null, "0.0000000001"])",
                  R"(["", null, "한😀"])",
                  "[-719162, null, 2932896]",
                  "[0, null, 86399999]",
                  "[-62135596800000, null, -1]",
                  "[-1, null, 253402300799999999]",
                  "[-62135596799999999, null, 1]",
                  "[[[1,2],[],null,[3]], null, []]",
                  R"([[["a",-1],["b",null]], null, []])",
                  "[[1,-1], null, [null,null]]",
                  "[[[1,5],[null,null]], [], [[7,-62135596800000000]]]",
                  R"([[["a",2],["b",1]], null, []])",
                  R"([[[["x",null]]], [null], [[[]]]])",
              });
  const OptionMap variants[] = {
      {},
      {{"write.int64.timestamp", "true"}},
      {{"utc-timezone", "true"}, {"compression", "zstd"}, {"enable.dictionary", "false"}},
      {{"writer.version", "PARQUET_2_0"},
       {"compression", "GZIP"},
       {"bloom.filter.enabled", "true"}},
      {{"compression", "LZ4_RAW"}, {"page.size", "64"}, {"batch-size", "2"}},
      {{"compression", "uncompressed"}},
  };
  for (const OptionMap& options : variants) {
    const auto bytes = WriteFile(schema, {batch, batch.Slice(1, 2)}, options);
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    const auto read = ReadFile(*bytes, schema, options);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    ASSERT_EQ(read->row_count(), 5);
    for (int i = 0; i < schema.column_count(); ++i) {
      const auto expected = Texts(schema, batch, i);
      EXPECT_THAT(Texts(schema, *read, i),
                  ElementsAre(expected[0], expected[1], expected[2], expected[1], expected[2]))
          << i;
    }
  }
}

TEST(ParquetRoundTripTest, NullsListsAndElementsStayApart) {
  const Schema schema = NumberedSchema({SqlType::Array(SqlType::Int())});
  const auto bytes = WriteFile(schema, {BatchFromJson(schema, {"[[1,null,3], null, []]"})});
  const auto read = ReadFile(*bytes, schema);
  ASSERT_TRUE(read.ok());
  EXPECT_THAT(Texts(schema, *read, 0), ElementsAre("[1, NULL, 3]", "NULL", "[]"));
}

TEST(ParquetWriterTest, SchemaIsFlinks) {
  const SqlType inner = SqlType::Row({{"a", SqlType::Int().NotNull()}, {"b", SqlType::String()}});
  const Schema schema(
      {{"d", SqlType::Decimal(10, 2)}, {"l", SqlType::Array(inner.NotNull()).NotNull()}});
  const auto bytes = WriteFile(schema, {BatchFromJson(schema, {R"(["1.00"])", R"([[[1,"x"]]])"})});
  ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
  const auto file = ::parquet::ParquetFileReader::Open(
      std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(*bytes)));
  const auto metadata = file->metadata();
  EXPECT_EQ(metadata->schema()->name(), "flink_schema");
  EXPECT_EQ(metadata->version(), ::parquet::ParquetVersion::PARQUET_1_0);
  EXPECT_EQ(metadata->key_value_metadata(), nullptr);
  EXPECT_EQ(metadata->schema()->Column(0)->type_length(), 5);
  EXPECT_EQ(metadata->schema()->Column(1)->path()->ToDotString(), "l.list.element.a");
  EXPECT_EQ(metadata->schema()->Column(1)->max_definition_level(), 1);
  EXPECT_EQ(metadata->schema()->Column(2)->max_definition_level(), 2);
}

TEST(ParquetWriterTest, DecimalLengths) {
  // The n of formats.md §4.2: least bytes that hold the digits.
  for (int precision = 1; precision <= 38; ++precision) {
    const Schema schema({{"d", SqlType::Decimal(precision, 0)}});
    const std::string nines(static_cast<size_t>(precision), '9');
    const auto bytes =
        WriteFile(schema, {BatchFromJson(schema, {"[\"" + nines + "\", \"-" + nines + "\"]"})});
    ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
    EXPECT_THAT(Texts(schema, *ReadFile(*bytes, schema), 0), ElementsAre(nines, "-" + nines));
  }
}

TEST(ParquetWriterTest, RefusedValueNamesItsColumnAndTheFileGoesOn) {
  const Schema schema = NumberedSchema({SqlType::Int(), SqlType::Timestamp(6)});
  const OptionMap options = {{"write.int64.timestamp", "true"}, {"timestamp.time.unit", "nanos"}};
  auto stream = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto writer =
      kParquetFormat.make_bulk_writer({options, "parquet."}, schema, stream, FormatContext());
  ASSERT_TRUE(writer.ok());
  const Status status = (*writer)->Write(BatchFromJson(schema, {"[7]", "[-62135596800000000]"}));
  EXPECT_EQ(status.code(), StatusCode::kDataError);
  EXPECT_THAT(status.ToString(), AllOf(HasSubstr("0001-01-01"), HasSubstr("'c1'")));
  EXPECT_TRUE((*writer)->Write(BatchFromJson(schema, {"[8]", "[1]"})).ok());
  EXPECT_TRUE((*writer)->Finish().ok());
  EXPECT_THAT(Texts(schema, *ReadFile(stream->Finish().ValueOrDie()->ToString(), schema), 0),
              ElementsAre("8"));
}

// What a kind of timestamp cannot hold is refused, in the words of its unit.
TEST(ParquetWriterTest, TimesTooFarAreRefused) {
  const struct {
    SqlType type;
    OptionMap options;
    std::string values;
    std::string words;
  } cases[] = {
      {SqlType::Timestamp(3), {}, "[185331720383999999, null]", "185331720384000000"},
      {SqlType::Timestamp(3), {}, "[185331720384000000]", "INT96"},
      {SqlType::TimestampLtz(3), {}, "[-9223372036854775807]", "Julian day"},
      {SqlType::Array(SqlType::Timestamp(0)), {}, "[[9223372036854775000]]", "INT96"},
      {SqlType::Timestamp(3),
       {{"write.int64.timestamp", "true"}},
       "[9223372036854775807]",
       "Take 'millis'"},
      {SqlType::Timestamp(6),
       {{"write.int64.timestamp", "true"}, {"timestamp.time.unit", "nanos"}},
       "[9223372036854775807]",
       "Take 'micros'"},
  };
  for (const auto& test : cases) {
    const Schema schema({{"c", test.type}});
    const auto written = WriteFile(schema, {BatchFromJson(schema, {test.values})}, test.options);
    if (written.ok()) {
      EXPECT_EQ(test.words, "185331720384000000");  // The last one that fits.
      EXPECT_EQ(Texts(schema, *ReadFile(*written, schema), 0)[0], "5874898-06-03 23:59:59.999");
      continue;
    }
    EXPECT_THAT(written.status().ToString(), AllOf(HasSubstr(test.words), HasSubstr("'c'")));
  }
}

TEST(ParquetWriterTest, SizesGrowWithRowsAndRowGroupsEndByBytes) {
  const Schema schema = NumberedSchema({SqlType::Bigint()});
  std::string json = "[";
  for (int i = 0; i < 8192; ++i) json += (i > 0 ? "," : "") + std::to_string(i * 7919L % 100003);
  const Batch batch = BatchFromJson(schema, {json + "]"});
  auto stream = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto writer = kParquetFormat.make_bulk_writer(
      {{{"block.size", "400000"}, {"enable.dictionary", "false"}}, "parquet."}, schema, stream,
      FormatContext());
  int64_t last = 0;
  bool flushed = false;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE((*writer)->Write(batch).ok());
    // A finished page shrinks a little by its compression.
    EXPECT_GT((*writer)->estimated_file_bytes(), last * 8 / 10);
    last = (*writer)->estimated_file_bytes();
    if ((*writer)->buffered_bytes() == 0) flushed = true;
  }
  EXPECT_TRUE(flushed);
  EXPECT_GT(last, 200'000);
  ASSERT_TRUE((*writer)->Finish().ok());
  const auto file = OpenFile(stream->Finish().ValueOrDie()->ToString(), schema, {0});
  ASSERT_TRUE(file.ok());
  EXPECT_GT((*file)->part_count(), 1);
}

TEST(ParquetWriterTest, DroppedWriterWritesNoFooter) {
  const Schema schema = NumberedSchema({SqlType::Int()});
  auto stream = arrow::io::BufferOutputStream::Create().ValueOrDie();
  {
    const auto writer =
        kParquetFormat.make_bulk_writer({{}, "parquet."}, schema, stream, FormatContext());
    ASSERT_TRUE((*writer)->Write(BatchFromJson(schema, {"[1]"})).ok());
  }
  EXPECT_EQ(stream->Tell().ValueOrDie(), 4);
}

TEST(ParquetZoneTest, WallClocksGoThroughTheZoneAndInstantsDoNot) {
  const Schema schema = NumberedSchema({SqlType::Timestamp(3), SqlType::TimestampLtz(3)});
  const Batch batch = BatchFromJson(schema, {"[1656875460000]", "[0]"});  // 2022-07-03 19:11:00.
  ParquetOptions options;
  options.wall_clock_zone = *TimeZone::Find("Asia/Shanghai");
  auto stream = arrow::io::BufferOutputStream::Create().ValueOrDie();
  auto writer = ParquetWriter::Make(options, schema, stream, FormatContext());
  ASSERT_TRUE((*writer)->Write(batch).ok());
  ASSERT_TRUE((*writer)->Finish().ok());
  const std::string bytes = stream->Finish().ValueOrDie()->ToString();
  const auto as_utc = ReadFile(bytes, schema, {{"utc-timezone", "true"}});
  EXPECT_THAT(Texts(schema, *as_utc, 0), ElementsAre("2022-07-03 11:11:00.000"));
  EXPECT_THAT(Texts(schema, *as_utc, 1), ElementsAre("1970-01-01 00:00:00.000"));
}

TEST(ParquetReaderTest, ColumnsAreFoundByNameInEachFile) {
  const Schema table({{"id", SqlType::Int()}, {"b", SqlType::String()}});
  const Schema only_id({{"id", SqlType::Int()}});
  const Schema swapped(
      {{"b", SqlType::String()}, {"extra", SqlType::Int()}, {"id", SqlType::Int()}});
  const auto first = ReadFile(*WriteFile(only_id, {BatchFromJson(only_id, {"[1]"})}), table);
  EXPECT_THAT(Texts(table, *first, 1), ElementsAre("NULL"));
  const auto second =
      ReadFile(*WriteFile(swapped, {BatchFromJson(swapped, {R"(["x"])", "[5]", "[2]"})}), table);
  EXPECT_THAT(Texts(table, *second, 0), ElementsAre("2"));
  EXPECT_THAT(Texts(table, *second, 1), ElementsAre("x"));

  const Schema strict({{"id", SqlType::Int()}, {"b", SqlType::String().NotNull()}});
  const auto refused = ReadFile(*WriteFile(only_id, {BatchFromJson(only_id, {"[1]"})}), strict);
  EXPECT_THAT(refused.status().message(), HasSubstr("'b'"));
}

TEST(ParquetReaderTest, CompatibleTypesAreConvertedOthersNamed) {
  const struct {
    SqlType file;
    std::string values;
    SqlType table;
    std::string text;  // Empty: an error that names both types.
  } cases[] = {
      {SqlType::Int(), "[5]", SqlType::Bigint(), "5"},
      {SqlType::Int(), "[5]", SqlType::Double(), "5.0"},
      {SqlType::Float(), "[1.5]", SqlType::Double(), "1.5"},
      {SqlType::Int(), "[5]", SqlType::Decimal(10, 2), "5.00"},
      {SqlType::Decimal(10, 2), R"(["1.50"])", SqlType::Decimal(38, 4), "1.5000"},
      {SqlType::Decimal(10, 2), R"(["1.50"])", SqlType::Decimal(10, 1), "1.5"},
      {SqlType::Bytes(), R"(["abc"])", SqlType::String(), "abc"},
      {SqlType::String(), R"(["abc"])", SqlType::Bytes(), "abc"},
      {SqlType::Timestamp(6), "[-1]", SqlType::Timestamp(3), "1969-12-31 23:59:59.999"},
      {SqlType::Smallint(), "[7]", SqlType::Tinyint(), "7"},
      {SqlType::Bigint(), "[5]", SqlType::Int(), ""},
      {SqlType::String(), R"(["5"])", SqlType::Int(), ""},
      {SqlType::Bigint(), "[5]", SqlType::Timestamp(3), ""},
      {SqlType::Date(), "[5]", SqlType::Int(), ""},
      {SqlType::Int(), "[5]", SqlType::Array(SqlType::Int()), ""},
  };
  for (const auto& test : cases) {
    const Schema file({{"a", test.file}});
    const Schema table({{"a", test.table}});
    const auto read = ReadFile(*WriteFile(file, {BatchFromJson(file, {test.values})}), table);
    if (test.text.empty()) {
      EXPECT_EQ(read.status().code(), StatusCode::kDataError);
      EXPECT_THAT(read.status().message(), AllOf(HasSubstr("'a'"), HasSubstr("Unexpected type"),
                                                 HasSubstr(test.table.ToString())));
      continue;
    }
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_THAT(Texts(table, *read, 0), ElementsAre(test.text));
  }
}

TEST(ParquetReaderTest, ValuesThatDoNotFitNameColumnRowGroupAndRows) {
  const Schema file({{"a", SqlType::Decimal(10, 2)}});
  const Schema table({{"a", SqlType::Decimal(10, 1)}});
  const auto read = ReadFile(*WriteFile(file, {BatchFromJson(file, {R"(["1.55"])"})}), table);
  EXPECT_EQ(read.status().code(), StatusCode::kDataError);
  EXPECT_THAT(read.status().ToString(),
              AllOf(HasSubstr("column 'a'"), HasSubstr("row group 0"), HasSubstr("rows 1 to 1")));

  const Schema bytes_file({{"s", SqlType::Bytes()}});
  const Schema text_table({{"s", SqlType::String()}});
  arrow::BinaryBuilder builder;
  ASSERT_TRUE(builder.Append("good").ok());
  ASSERT_TRUE(builder
                  .Append("he\xff"
                          "lo")
                  .ok());
  const Batch rows(arrow::RecordBatch::Make(bytes_file.ToArrow(), 2,
                                            arrow::ArrayVector{builder.Finish().ValueOrDie()}));
  const auto text = ReadFile(*WriteFile(bytes_file, {rows}), text_table);
  EXPECT_THAT(text.status().ToString(),
              AllOf(HasSubstr("column 's'"), HasSubstr("row 2"), HasSubstr("UTF-8")));

  const Schema early({{"t", SqlType::Timestamp(6)}});
  const Schema nanos({{"t", SqlType::Timestamp(9)}});
  const auto timestamp =
      ReadFile(*WriteFile(early, {BatchFromJson(early, {"[-62135596800000000]"})}), nanos,
               {{"utc-timezone", "true"}});
  EXPECT_THAT(timestamp.status().ToString(),
              AllOf(HasSubstr("0001-01-01"), HasSubstr("nanoseconds"), HasSubstr("'t'")));
}

// As in ORC and Avro, and at every level.
TEST(ParquetReaderTest, NullsWhereTheTableAllowsNone) {
  const SqlType strict = SqlType::Int().NotNull();
  const auto row_of = [](const SqlType& x) {
    return SqlType::Row({{"x", x}, {"y", SqlType::Int()}});
  };
  const auto times = [](bool nullable) { return SqlType::Timestamp(3).WithNullable(nullable); };
  struct Case {
    SqlType file;
    SqlType table;
    const char* good;
    const char* bad;  // In its third row.
  };
  const Case cases[] = {
      {SqlType::Int(), strict, "[1, 2, 3]", "[1, 2, null]"},
      {times(true), times(false), "[1, 2, 3]", "[1, 2, null]"},
      {row_of(SqlType::Int()), row_of(strict), "[[1, null], null, [2, 2]]",
       "[[1, 1], null, [null, 2]]"},
      {row_of(SqlType::Int()).NotNull(), row_of(SqlType::Int()).NotNull(), "[[null, null], [1, 1]]",
       nullptr},
      {SqlType::Array(SqlType::Int()), SqlType::Array(strict), "[[1], null, []]",
       "[[1, 2], null, [null]]"},
      {SqlType::Map(SqlType::String(), SqlType::Int()), SqlType::Map(SqlType::String(), strict),
       "[[[\"a\", 1]], null, []]", "[[[\"a\", 1]], [], [[\"b\", 1], [\"c\", null]]]"},
      {SqlType::Array(row_of(SqlType::Int())), SqlType::Array(row_of(strict)),
       "[[[1, 1], null], null, []]", "[[[1, 1]], [null], [[2, 2], [null, 1]]]"},
  };
  for (const Case& c : cases) {
    const Schema file = NumberedSchema({c.file});
    const Schema table = NumberedSchema({c.table});
    const std::string good = *WriteFile(file, {BatchFromJson(file, {c.good})});
    EXPECT_TRUE(ReadFile(good, table).ok()) << c.table.ToString();
    if (c.bad == nullptr) continue;
    const std::string bad = *WriteFile(file, {BatchFromJson(file, {c.bad})});
    EXPECT_TRUE(ReadFile(bad, file).ok());
    EXPECT_THAT(ReadFile(bad, table).status().ToString(),
                AllOf(HasSubstr("Cannot read column 'c0' in row group 0, row 3."),
                      HasSubstr("A value is NULL, but the table declares " + c.table.ToString())))
        << c.table.ToString();
  }
}

TEST(ParquetReaderTest, RowGroupsOfNoRowsAndEmptyProjections) {
  const Schema schema({{"a", SqlType::Int()}});
  const Batch two = BatchFromJson(schema, {"[1, 2]"});
  const auto bytes = WriteFile(schema, {two.Slice(0, 0), two, two.Slice(0, 0)}, {}, true);
  EXPECT_EQ(ReadFile(*bytes, schema)->row_count(), 2);
  EXPECT_EQ(ReadFile(*WriteFile(schema, {}), schema)->row_count(), 0);
  const auto file = OpenFile(*bytes, schema, {});
  int64_t count = 0;
  for (int part = 0; part < (*file)->part_count(); ++part) {
    const auto rows = (*file)->ReadPart(part);
    while (auto batch = *(*rows)->Next()) {
      EXPECT_EQ(batch->rows()->num_columns(), 0);
      count += batch->row_count();
    }
  }
  EXPECT_EQ(count, 2);
}

TEST(ParquetReaderTest, DamagedFilesAreErrors) {
  const Schema schema = NumberedSchema(
      {SqlType::Int(), SqlType::String(), SqlType::Timestamp(6), SqlType::Array(SqlType::Int())});
  const std::string good = *WriteFile(
      schema, {BatchFromJson(schema, {"[1,2]", R"(["abc","def"])", "[1,2]", "[[1,2],[3]]"})},
      {{"compression", "none"}});
  EXPECT_THAT(OpenFile("", schema, {0}).status().message(), HasSubstr("length is too low: 0"));
  EXPECT_THAT(OpenFile("PAR1 something PARE", schema, {0}).status().message(),
              HasSubstr("encrypted"));
  sluice::Random random(11);
  for (int i = 0; i < 300; ++i) {
    std::string bad = good;
    if (i % 3 == 0) {
      bad.resize(random.Below(good.size()));
    } else {
      for (int flips = 0; flips < 3; ++flips)
        bad[random.Below(bad.size())] = static_cast<char>(random.Next());
    }
    const auto file = OpenFile(bad, schema, AllColumns(schema));
    if (!file.ok()) continue;
    for (int part = 0; part < (*file)->part_count(); ++part) {
      const auto rows = (*file)->ReadPart(part);
      if (!rows.ok()) continue;
      while (true) {
        const auto batch = (*rows)->Next();
        if (!batch.ok() || !*batch) break;
      }
    }
  }
}

class PruningTest : public ::testing::Test {
 protected:
  PruningTest()
      : schema_({{"a", SqlType::Int()},
                 {"s", SqlType::String()},
                 {"n", SqlType::Int()},
                 {"d", SqlType::Double()}}) {
    const Batch low =
        BatchFromJson(schema_, {"[1, 5]", R"(["b", "d"])", "[null, null]", "[1.5, 2.5]"});
    const Batch high =
        BatchFromJson(schema_, {"[10, 20]", R"(["m", "z"])", "[1, null]", "[3.5, 4.5]"});
    bytes_ = *WriteFile(schema_, {low, high}, {}, true);
  }
  /// Which of the two row groups may match.
  std::string Matching(const expr::ExprPtr& filter, const Schema& schema) {
    const auto file = OpenFile(bytes_, schema, {0});
    std::string parts;
    for (int part = 0; part < (*file)->part_count(); ++part) {
      const std::vector<expr::ExprPtr> filters = {filter};
      if ((*file)->MayMatch(part, filters)) parts += std::to_string(part);
    }
    return parts;
  }
  expr::ExprPtr A() { return expr::MakeColumn(0, SqlType::Int()); }
  expr::ExprPtr S() { return expr::MakeColumn(1, SqlType::String()); }
  expr::ExprPtr N() { return expr::MakeColumn(2, SqlType::Int()); }
  static expr::ExprPtr Compare(expr::ComparisonOp op, expr::ExprPtr left, expr::ExprPtr right) {
    return *expr::MakeComparison(op, std::move(left), std::move(right));
  }

  Schema schema_;
  std::string bytes_;
};

TEST_F(PruningTest, ByStatistics) {
  using enum expr::ComparisonOp;
  EXPECT_EQ(Matching(Compare(kLess, A(), expr::MakeInt(1)), schema_), "");
  EXPECT_EQ(Matching(Compare(kLessEqual, A(), expr::MakeInt(1)), schema_), "0");
  EXPECT_EQ(Matching(Compare(kGreater, A(), expr::MakeInt(5)), schema_), "1");
  EXPECT_EQ(Matching(Compare(kGreaterEqual, A(), expr::MakeInt(5)), schema_), "01");
  EXPECT_EQ(Matching(Compare(kEqual, A(), expr::MakeInt(7)), schema_), "");
  EXPECT_EQ(Matching(Compare(kGreater, expr::MakeInt(7), A()), schema_), "0");
  EXPECT_EQ(Matching(Compare(kNotEqual, A(), expr::MakeInt(7)), schema_), "01");
  EXPECT_EQ(Matching(Compare(kEqual, A(), expr::MakeBigint(20)), schema_), "1");
  EXPECT_EQ(Matching(Compare(kEqual, N(), expr::MakeInt(1)), schema_), "1");
  EXPECT_EQ(Matching(*expr::MakeIs(expr::IsTest::kNull, A()), schema_), "");
  EXPECT_EQ(Matching(*expr::MakeIs(expr::IsTest::kNull, N(), true), schema_), "1");
  EXPECT_EQ(Matching(*expr::MakeIn(A(), {expr::MakeInt(3), expr::MakeInt(100)}), schema_), "0");
  EXPECT_EQ(Matching(Compare(kEqual, S(),
                             std::make_shared<expr::LiteralExpr>(arrow::MakeScalar("n"),
                                                                 SqlType::String())),
                     schema_),
            "1");
  EXPECT_EQ(Matching(*expr::MakeOr({Compare(kEqual, A(), expr::MakeInt(1)),
                                    Compare(kEqual, A(), expr::MakeInt(20))}),
                     schema_),
            "01");
  const Schema with_missing(
      {{"a", SqlType::Int()}, {"gone", SqlType::String()}, {"n", SqlType::Int()}});
  EXPECT_EQ(Matching(*expr::MakeIs(expr::IsTest::kNull, S(), true), with_missing), "");
}

// Two row groups cannot be told apart by their bounds, the pages of one of them can.
TEST(PagePruningTest, RowGroupsOfPagesThatDoNotMatchAreSkipped) {
  using enum expr::ComparisonOp;
  const Schema schema({{"a", SqlType::Bigint()}, {"b", SqlType::Bigint()}});
  arrow::Int64Builder a;
  arrow::Int64Builder b;
  // a: 0 … 9999 and 20000 … 29999; b falls while a rises.
  for (int64_t i = 0; i < 20000; ++i) {
    ASSERT_TRUE(a.Append(i < 10000 ? i : i + 10000).ok());
    ASSERT_TRUE(b.Append(i < 10000 ? 1000000 + i : i).ok());
  }
  const arrow::ArrayVector columns = {a.Finish().ValueOrDie(), b.Finish().ValueOrDie()};
  const Batch batch(arrow::RecordBatch::Make(schema.ToArrow(), 20000, columns));
  const std::string bytes =
      *WriteFile(schema, {batch}, {{"page.size", "8000"}, {"enable.dictionary", "false"}});
  const auto file = OpenFile(bytes, schema, {0});
  ASSERT_EQ((*file)->part_count(), 1);
  const auto column = [&](int index) { return expr::MakeColumn(index, SqlType::Bigint()); };
  const auto compare = [&](expr::ComparisonOp op, int index, int64_t value) {
    return *expr::MakeComparison(op, column(index), expr::MakeBigint(value));
  };
  const auto may_match = [&](std::vector<expr::ExprPtr> filters) {
    return (*file)->MayMatch(0, filters);
  };
  EXPECT_TRUE(may_match({compare(kEqual, 0, 5000)}));
  EXPECT_TRUE(may_match({compare(kLess, 0, 10000), compare(kGreaterEqual, 1, 1000000)}));
  // Each has its pages, but no row is in both.
  EXPECT_FALSE(may_match({compare(kLess, 0, 9000), compare(kLess, 1, 19000)}));
}

TEST(BloomPruningTest, EqualitiesThatTheFilterExcludesSkipTheRowGroup) {
  const Schema schema({{"s", SqlType::String()}, {"i", SqlType::Int()}});
  arrow::StringBuilder texts;
  arrow::Int32Builder numbers;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(texts.Append("key-" + std::to_string(i * 2)).ok());
    ASSERT_TRUE(numbers.Append((i * 7919) % 100000).ok());
  }
  const arrow::ArrayVector columns = {texts.Finish().ValueOrDie(), numbers.Finish().ValueOrDie()};
  const Batch batch(arrow::RecordBatch::Make(schema.ToArrow(), 1000, columns));
  const auto matching = [&](const OptionMap& options, const expr::ExprPtr& filter) {
    const auto file = OpenFile(*WriteFile(schema, {batch}, options), schema, {0});
    const std::vector<expr::ExprPtr> filters = {filter};
    return (*file)->MayMatch(0, filters);
  };
  const auto text_is = [&](const std::string& text) {
    return *expr::MakeComparison(
        expr::ComparisonOp::kEqual, expr::MakeColumn(0, SqlType::String()),
        std::make_shared<expr::LiteralExpr>(arrow::MakeScalar(text), SqlType::String()));
  };
  const auto number_is = [&](int32_t number) {
    return *expr::MakeComparison(expr::ComparisonOp::kEqual, expr::MakeColumn(1, SqlType::Int()),
                                 expr::MakeInt(number));
  };
  const OptionMap with = {{"bloom.filter.enabled", "true"},
                          {"bloom.filter.expected.ndv#s", "1000"},
                          {"bloom.filter.expected.ndv#i", "1000"},
                          {"bloom.filter.fpp#s", "0.001"},
                          {"bloom.filter.fpp#i", "0.001"}};
  EXPECT_TRUE(matching(with, text_is("key-10")));
  EXPECT_FALSE(matching(with, text_is("key-11")));
  EXPECT_TRUE(matching({}, text_is("key-11")));
  EXPECT_TRUE(matching(with, number_is(7919)));
  EXPECT_FALSE(matching(with, number_is(7920)));
  EXPECT_FALSE(matching(with, *expr::MakeIn(expr::MakeColumn(1, SqlType::Int()),
                                            {expr::MakeInt(7920), expr::MakeInt(7921)})));
}

TEST(BloomPruningTest, DecimalsAndTimes) {
  const Schema schema({{"small", SqlType::Decimal(9, 2)},
                       {"middle", SqlType::Decimal(18, 2)},
                       {"large", SqlType::Decimal(30, 2)},
                       {"t", SqlType::Timestamp(6)}});
  arrow::ArrayVector columns;
  for (int i = 0; i < 3; ++i) {
    arrow::Decimal128Builder builder(schema.column(i).type.ToArrow());
    for (int64_t row = 0; row < 1000; ++row)
      ASSERT_TRUE(builder.Append(arrow::Decimal128((row - 500) * 7)).ok());
    columns.push_back(builder.Finish().ValueOrDie());
  }
  arrow::TimestampBuilder times(schema.column(3).type.ToArrow(), arrow::default_memory_pool());
  for (int64_t row = 0; row < 1000; ++row) ASSERT_TRUE(times.Append((row - 500) * 7000).ok());
  columns.push_back(times.Finish().ValueOrDie());
  const Batch batch(arrow::RecordBatch::Make(schema.ToArrow(), 1000, columns));
  OptionMap options = {{"bloom.filter.enabled", "true"},
                       {"write.int64.timestamp", "true"},
                       {"timestamp.time.unit", "micros"}};
  for (const char* name : {"small", "middle", "large", "t"}) {
    options["bloom.filter.fpp#" + std::string(name)] = "0.001";
    options["bloom.filter.expected.ndv#" + std::string(name)] = "1000";
  }
  const std::string bytes = *WriteFile(schema, {batch}, options);
  const auto file = OpenFile(bytes, schema, {0});
  const auto may_hold = [&](int column, const std::shared_ptr<arrow::Scalar>& value) {
    const SqlType& type = schema.column(column).type;
    const std::vector<expr::ExprPtr> filters = {
        *expr::MakeComparison(expr::ComparisonOp::kEqual, expr::MakeColumn(column, type),
                              std::make_shared<expr::LiteralExpr>(value, type))};
    return (*file)->MayMatch(0, filters);
  };
  int found = 0;
  for (int64_t row = 1; row < 999; ++row) {
    for (int column = 0; column < 4; ++column) {
      EXPECT_TRUE(may_hold(column, columns[column]->GetScalar(row).ValueOrDie())) << row;
      const auto type = schema.column(column).type.ToArrow();
      const std::shared_ptr<arrow::Scalar> other =
          column == 3 ? arrow::MakeScalar(type, (row - 500) * 7000 + 1000).ValueOrDie()
                      : std::make_shared<arrow::Decimal128Scalar>(
                            arrow::Decimal128((row - 500) * 7 + 1), type);
      found += may_hold(column, other) ? 1 : 0;
    }
  }
  EXPECT_LT(found, 100);
}

TEST(Int96PruningTest, OurBoundsPruneInUtcAndInAZone) {
  using enum expr::ComparisonOp;
  const Schema schema({{"t", SqlType::Timestamp(3)}, {"l", SqlType::TimestampLtz(3)}});
  const Batch batch = BatchFromJson(schema, {"[-62135596800000, null, 5]", "[10, 20, null]"});
  for (const char* zone : {"UTC", "Asia/Shanghai"}) {
    ParquetOptions options;
    options.wall_clock_zone = *TimeZone::Find(zone);
    auto stream = arrow::io::BufferOutputStream::Create().ValueOrDie();
    auto writer = ParquetWriter::Make(options, schema, stream, FormatContext());
    ASSERT_TRUE((*writer)->Write(batch).ok());
    ASSERT_TRUE((*writer)->Finish().ok());
    const auto file = std::make_shared<arrow::io::BufferReader>(stream->Finish().ValueOrDie());
    const auto opened = ParquetFile::Open(options, {schema, {0}}, file, FormatContext());
    const auto may_match = [&](int column, expr::ComparisonOp op, const expr::ExprPtr& literal) {
      const std::vector<expr::ExprPtr> filters = {
          *expr::MakeComparison(op, expr::MakeColumn(column, schema.column(column).type), literal)};
      return (*opened)->MayMatch(0, filters);
    };
    const auto time = [](const char* text) { return *expr::MakeTimestamp(text); };
    EXPECT_TRUE(may_match(0, kGreaterEqual, time("1970-01-01 00:00:00.005"))) << zone;
    EXPECT_FALSE(may_match(0, kGreater, time("1970-01-04 00:00:00.000"))) << zone;
    EXPECT_TRUE(may_match(0, kLess, time("0001-01-02 00:00:00.000"))) << zone;
    const auto instant = [](const char* text) { return *expr::MakeTimestampLtz(text, TimeZone()); };
    EXPECT_TRUE(may_match(1, kEqual, instant("1970-01-01 00:00:00.015"))) << zone;
    EXPECT_FALSE(may_match(1, kGreater, instant("1970-01-01 00:00:00.020"))) << zone;
  }
}

TEST(ParquetReaderTest, NestedInt96ValuesAreExact) {
  const SqlType wall = SqlType::Timestamp(6);
  const Schema schema({{"a", SqlType::Array(wall)},
                       {"m", SqlType::Map(SqlType::String(), SqlType::TimestampLtz(6))},
                       {"r", SqlType::Row({{"i", SqlType::Int()},
                                           {"t", wall},
                                           {"l", SqlType::Array(SqlType::Row({{"u", wall}}))}})}});
  const Batch batch = BatchFromJson(
      schema, {"[[-62135596799999999, null, 253402300799999999], null, [], [-1]]",
               R"([[["k",-62135596800000000],["n",null]], [], null, [["x",1]]])",
               "[[1,-1,[[2],null,[null]]], null, [2,null,null], [3,253402300799999999,[]]]"});
  const std::string bytes = *WriteFile(schema, {batch, batch}, {{"page.size", "64"}});
  const auto read = ReadFile(bytes, schema, {{"batch-size", "3"}});
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  for (int i = 0; i < 3; ++i) {
    const auto once = Texts(schema, batch, i);
    std::vector<std::string> twice = once;
    twice.insert(twice.end(), once.begin(), once.end());
    EXPECT_EQ(Texts(schema, *read, i), twice);
  }
  // Nanoseconds that do not fit are errors, not other years.
  const Schema nanos({{"a", SqlType::Array(SqlType::Timestamp(9))}});
  const auto outside = ReadFile(bytes, nanos, {{"utc-timezone", "true"}});
  EXPECT_THAT(outside.status().ToString(), AllOf(HasSubstr("0001-01-01"), HasSubstr("column 'a'")));
  // Other fields and fewer of them are taken from the right leaves.
  const Schema fewer({{"r", SqlType::Row({{"l", SqlType::Array(SqlType::Row({{"u", wall}}))}})}});
  const auto part = ReadFile(bytes, fewer, {{"utc-timezone", "true"}});
  EXPECT_EQ(Texts(fewer, *part, 0)[0], "([(1970-01-01 00:00:00.000002), NULL, (NULL)])");
}

// Lists as writers before the three levels made them.
TEST(ParquetReaderTest, LegacyListsAndMaps) {
  using ::parquet::ConvertedType;
  using ::parquet::Int32Writer;
  using ::parquet::ParquetFileWriter;
  using ::parquet::Repetition;
  using ::parquet::Type;
  using ::parquet::schema::GroupNode;
  using ::parquet::schema::PrimitiveNode;
  const auto integer = [](const char* name, Repetition::type repetition) {
    return PrimitiveNode::Make(name, repetition, Type::INT32);
  };
  const auto two_levels = GroupNode::Make(
      "two", Repetition::OPTIONAL, {integer("array", Repetition::REPEATED)}, ConvertedType::LIST);
  const auto bag =
      GroupNode::Make("bag", Repetition::OPTIONAL,
                      {GroupNode::Make("bag", Repetition::REPEATED,
                                       {integer("array_element", Repetition::OPTIONAL)})},
                      ConvertedType::LIST);
  const auto map = GroupNode::Make("map", Repetition::OPTIONAL,
                                   {GroupNode::Make("map", Repetition::REPEATED,
                                                    {integer("key", Repetition::REQUIRED),
                                                     integer("value", Repetition::OPTIONAL)})},
                                   ConvertedType::MAP_KEY_VALUE);
  const auto root = std::static_pointer_cast<GroupNode>(
      GroupNode::Make("schema", Repetition::REQUIRED, {two_levels, bag, map}));
  auto stream = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto writer = ParquetFileWriter::Open(stream, root);
  auto* const row_group = writer->AppendRowGroup();
  const auto put = [&](std::vector<int16_t> definition, std::vector<int16_t> repetition,
                       std::vector<int32_t> values) {
    auto* const column = static_cast<Int32Writer*>(row_group->NextColumn());
    column->WriteBatch(static_cast<int64_t>(definition.size()), definition.data(),
                       repetition.data(), values.data());
    column->Close();
  };
  // Rows: a list of two, NULL, an empty list.
  put({2, 2, 0, 1}, {0, 1, 0, 0}, {1, 2});
  put({3, 2, 0, 1}, {0, 1, 0, 0}, {1});  // The second element is NULL.
  put({2, 2, 0, 1}, {0, 1, 0, 0}, {7, 8});
  put({3, 2, 0, 1}, {0, 1, 0, 0}, {70});
  writer->Close();
  const std::string bytes = stream->Finish().ValueOrDie()->ToString();
  const Schema table({{"two", SqlType::Array(SqlType::Int())},
                      {"bag", SqlType::Array(SqlType::Int())},
                      {"map", SqlType::Map(SqlType::Int(), SqlType::Int())}});
  const auto read = ReadFile(bytes, table);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_THAT(Texts(table, *read, 0), ElementsAre("[1, 2]", "NULL", "[]"));
  EXPECT_THAT(Texts(table, *read, 1), ElementsAre("[1, NULL]", "NULL", "[]"));
  EXPECT_THAT(Texts(table, *read, 2), ElementsAre("{7=70, 8=NULL}", "NULL", "{}"));
}

// Rule 10.4.
TEST(ParquetWriterTest, EachLevelCarriesItsOwnNullability) {
  const SqlType row = SqlType::Row({{"a", SqlType::Int().NotNull()}, {"b", SqlType::String()}});
  const Schema schema({{"v", SqlType::Array(row.NotNull()).NotNull()},
                       {"w", SqlType::Map(SqlType::String().NotNull(), SqlType::Int().NotNull())}});
  const std::string bytes = *WriteFile(
      schema, {BatchFromJson(schema, {R"([[[1,"x"],[2,null]], []])", R"([[["k",1]], null])"})});
  const auto file = ::parquet::ParquetFileReader::Open(
      std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(bytes)));
  const auto& root = *file->metadata()->schema()->group_node();
  const auto field = [](const ::parquet::schema::Node& node, int index) {
    return static_cast<const ::parquet::schema::GroupNode&>(node).field(index);
  };
  const auto list = root.field(0);
  const auto element = field(*field(*list, 0), 0);
  EXPECT_TRUE(list->is_required());
  EXPECT_TRUE(element->is_required());
  EXPECT_TRUE(field(*element, 0)->is_required());
  EXPECT_TRUE(field(*element, 1)->is_optional());
  const auto entry = field(*root.field(1), 0);
  EXPECT_TRUE(root.field(1)->is_optional());
  EXPECT_TRUE(field(*entry, 0)->is_required());
  EXPECT_TRUE(field(*entry, 1)->is_required());
  EXPECT_THAT(Texts(schema, *ReadFile(bytes, schema), 0), ElementsAre("[(1, x), (2, NULL)]", "[]"));
}

}  // namespace
}  // namespace sluice::formats::parquet_format
