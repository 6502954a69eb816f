#include "formats/orc/orc_format.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/log.h"
#include "common/random.h"
#include "expr/builder.h"
#include "formats/orc/block_stream.h"
#include "formats/orc/metadata.h"
#include "formats/orc/orc_times.h"
#include "formats/testing/bulk_files.h"
#include "types/calendar.h"

namespace sluice::formats::orc_format {
namespace {

using testing::AllColumns;
using ::testing::AllOf;
using testing::BatchFromJson;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::NumberedSchema;
using testing::Texts;

Result<std::string> WriteFile(const Schema& schema, const std::vector<Batch>& batches,
                              const OptionMap& options = {}, bool flush_each = false) {
  return testing::WriteBulk(kOrcFormat, schema, batches, options, flush_each);
}

Result<Batch> ReadFile(const std::string& bytes, const Schema& schema,
                       const OptionMap& options = {}, const FormatContext& context = {}) {
  return testing::ReadBulk(kOrcFormat, bytes, schema, options, context);
}

Result<std::unique_ptr<BulkFile>> OpenFile(const std::string& bytes, const Schema& schema,
                                           std::vector<int> projection) {
  return testing::OpenBulk(kOrcFormat, bytes, schema, std::move(projection));
}

// The tail of an uncompressed file taken apart, changed and put together again.
struct Tail {
  Footer footer;
  StripeFooter last_stripe;
};
std::string Changed(const std::string& bytes, const std::function<void(Tail*)>& change) {
  const size_t ps_bytes = static_cast<uint8_t>(bytes.back());
  PostScript postscript =
      *ParsePostScript(std::string_view(bytes).substr(bytes.size() - 1 - ps_bytes, ps_bytes));
  const size_t footer_start = bytes.size() - 1 - ps_bytes - postscript.footer_bytes;
  Tail tail;
  tail.footer = *ParseFooter(std::string_view(bytes).substr(footer_start, postscript.footer_bytes));
  StripeInfo& stripe = tail.footer.stripes.back();
  const uint64_t stripe_footer = stripe.offset + stripe.index_bytes + stripe.data_bytes;
  tail.last_stripe = *ParseStripeFooter(
      std::string_view(bytes).substr(stripe_footer, stripe.footer_bytes), tail.footer.types.size());
  change(&tail);
  const std::string new_stripe_footer = SerializeStripeFooter(tail.last_stripe);
  stripe.footer_bytes = new_stripe_footer.size();
  const std::string metadata =
      bytes.substr(footer_start - postscript.metadata_bytes, postscript.metadata_bytes);
  const std::string footer = SerializeFooter(tail.footer);
  postscript.footer_bytes = footer.size();
  const std::string ps = SerializePostScript(postscript);
  return bytes.substr(0, stripe_footer) + new_stripe_footer + metadata + footer + ps +
         static_cast<char>(ps.size());
}

Footer FooterOf(const std::string& bytes) {
  Footer footer;
  Changed(bytes, [&](Tail* tail) { footer = tail->footer; });
  return footer;
}

const OptionMap kPlain = {{"compress", "none"}};

TEST(OrcOptionsTest, WrongValuesAreRefused) {
  const struct {
    OptionMap options;
    std::string message;
  } cases[] = {
      {{{"compress", "FOO"}}, "NONE, ZLIB, SNAPPY, LZ4, ZSTD"},
      {{{"compress", "lzo"}}, "not available"},
      {{{"stripe.size", "0"}}, "orc.stripe.size"},
      {{{"row.index.stride", "10"}}, "orc.row.index.stride"},
      {{{"create.index", "maybe"}}, "orc.create.index"},
      {{{"compres", "zlib"}}, "orc.compress"},
      {{{"dictionary.key.threshold", "2"}}, "from 0 to 1"},
      {{{"write.format", "0.11"}}, "0.12"},
      {{{"compress.size", "99999999"}}, "orc.compress.size"},
  };
  for (const auto& test : cases) {
    const Status status = kOrcFormat.validate({test.options, "orc."}, Schema(), Direction::kWrite);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << test.message;
    EXPECT_THAT(status.message(), HasSubstr(test.message));
  }
  const Schema schema({{"order_id", SqlType::Bigint()}, {"d", SqlType::Decimal(10, 0)}});
  const auto refused = [&](const OptionMap& options) {
    return kOrcFormat.validate({options, "orc."}, schema, Direction::kWrite).message();
  };
  EXPECT_THAT(refused({{"bloom.filter.columns", "order_id, orderid"}}),
              HasSubstr("Did you mean 'order_id'?"));
  EXPECT_THAT(refused({{"bloom.filter.columns", "d"}}), HasSubstr("is of type DECIMAL(10, 0)"));
  EXPECT_THAT(refused({{"bloom.filter.columns", "order_id"}, {"create.index", "false"}}),
              HasSubstr("there is no row index"));
  EXPECT_THAT(refused({{"bloom.filter.fpp", "0"}}), HasSubstr("a share above 0 and below 1"));
}

TEST(OrcOptionsTest, TypesThatOrcCannotHoldAreRefusedInFlinksWords) {
  const SqlType refused[] = {SqlType::Time(0), SqlType::Multiset(SqlType::Int()),
                             SqlType::IntervalDayTime(),
                             SqlType::Array(SqlType::Row({{"t", SqlType::Time(0)}}))};
  for (const SqlType& type : refused) {
    const Status status =
        kOrcFormat.validate({{}, "orc."}, Schema({{"v", type}}), Direction::kWrite);
    EXPECT_EQ(status.code(), StatusCode::kUnsupported);
    EXPECT_THAT(status.message(), AllOf(HasSubstr("Unsupported type: "), HasSubstr("'v'")));
  }
}

TEST(OrcRoundTripTest, EveryTypeWithEveryOption) {
  const SqlType row = SqlType::Row({{"x", SqlType::Int()}, {"t", SqlType::Timestamp(6)}});
  const Schema schema = NumberedSchema({
      SqlType::Boolean(),
      SqlType::Tinyint(),
      SqlType::Smallint(),
      SqlType::Int(),
      SqlType::Bigint(),
      SqlType::Float(),
      SqlType::Double(),
      SqlType::Decimal(3, 1),
      SqlType::Decimal(38, 10),
      SqlType::String(),
      SqlType::Varchar(10),
      SqlType::Bytes(),
      SqlType::Date(),
      SqlType::Timestamp(3),
      SqlType::Timestamp(9),
      SqlType::TimestampLtz(6),
      SqlType::Array(SqlType::Array(SqlType::Int().NotNull())),
      SqlType::Map(SqlType::String().NotNull(), SqlType::Timestamp(6)),
      row,
      SqlType::Array(row.NotNull()),
      SqlType::Row({{"a", SqlType::Row({{"b", SqlType::Array(SqlType::String())}})}}),
  });
  const Batch batch = BatchFromJson(
      schema, {
                  "[true, null, false]",
                  "[-128, null, 127]",
                  "[-32768, null, 32767]",
                  "[-2147483648, null, 2147483647]",
                  "[9223372036854775807, null, -9223372036854775808]",
                  "[1.5, null, -3.4028235e38]",
                  "[-0.0, null, -1e300]",
                  R"(["-99.9", null, "0.1"])",
                  R"(["-9999999999999999999999999999.9999999999", null, "0.0000000001"])",
                  R"(["", null, "한😀"])",
                  R"(["abc", null, "trailing  "])",
                  R"(["", null, "bytes"])",
                  "[-719162, null, 2932896]",
                  "[-62135596800000, null, -1]",
                  "[-1000000100, null, -1]",
                  "[-62135596799999999, null, 1]",
                  "[[[1,2],[],null,[3]], null, []]",
                  R"([[["a",-1],["b",null]], null, []])",
                  "[[1,-1], null, [null,null]]",
                  "[[[1,5],[null,null]], null, [[7,-62135596800000000]]]",
                  R"([[[["x",null]]], null, [[[]]]])",
              });
  // The one time that ORC has no form for: nine digits in the last second before 1970.
  const Batch good =
      Batch(batch.rows()
                ->SetColumn(14, schema.ToArrow()->field(14),
                            BatchFromJson(NumberedSchema({SqlType::Timestamp(9)}),
                                          {"[-1000000100, null, 9223372036854775807]"})
                                .column(0))
                .ValueOrDie());
  const OptionMap variants[] = {
      {},
      {{"compress", "none"}},
      {{"compress", "snappy"}, {"dictionary.key.threshold", "0"}},
      {{"compress", "LZ4"}, {"dictionary.key.threshold", "1"}},
      {{"compress", "zstd"}, {"create.index", "false"}, {"compression.strategy", "COMPRESSION"}},
      {{"compress.size", "1024"}, {"row.index.stride", "1000"}},
  };
  for (const OptionMap& options : variants) {
    for (const bool flush : {false, true}) {
      const auto bytes = WriteFile(schema, {good, good.Slice(1, 2)}, options, flush);
      ASSERT_TRUE(bytes.ok()) << bytes.status().ToString();
      const auto read = ReadFile(*bytes, schema, options);
      ASSERT_TRUE(read.ok()) << read.status().ToString();
      ASSERT_EQ(read->row_count(), 5);
      for (int i = 0; i < schema.column_count(); ++i) {
        const auto expected = Texts(schema, good, i);
        EXPECT_THAT(Texts(schema, *read, i),
                    ElementsAre(expected[0], expected[1], expected[2], expected[1], expected[2]))
            << i;
      }
    }
  }
  const auto refused = WriteFile(schema, {batch});
  EXPECT_THAT(refused.status().ToString(), AllOf(HasSubstr("'c14'"), HasSubstr("TIMESTAMP(7)")));
}

TEST(OrcRoundTripTest, ManyRowsStripesAndStrides) {
  const Schema schema = NumberedSchema({SqlType::Bigint(), SqlType::String(), SqlType::String(),
                                        SqlType::Array(SqlType::Int()), SqlType::Boolean()});
  sluice::Random random(3);
  arrow::RecordBatchVector batches;
  std::vector<Batch> written;
  for (int b = 0; b < 8; ++b) {
    arrow::Int64Builder numbers;
    arrow::StringBuilder few;
    arrow::StringBuilder many;
    auto elements = std::make_shared<arrow::Int32Builder>();
    arrow::ListBuilder lists(arrow::default_memory_pool(), elements);
    arrow::BooleanBuilder booleans;
    for (int i = 0; i < 5000; ++i) {
      ASSERT_TRUE(numbers.Append(static_cast<int64_t>(random.Next() >> random.Below(64))).ok());
      ASSERT_TRUE((random.OneIn(9) ? few.AppendNull() : few.Append(std::to_string(i % 7))).ok());
      ASSERT_TRUE(many.Append(random.Uuid()).ok());
      ASSERT_TRUE((random.OneIn(9) ? lists.AppendNull() : lists.Append()).ok());
      if (random.OneIn(2)) {
        ASSERT_TRUE(elements->Append(i).ok());
      }
      ASSERT_TRUE(booleans.Append(random.OneIn(3)).ok());
    }
    const arrow::ArrayVector columns = {numbers.Finish().ValueOrDie(), few.Finish().ValueOrDie(),
                                        many.Finish().ValueOrDie(), lists.Finish().ValueOrDie(),
                                        booleans.Finish().ValueOrDie()};
    batches.push_back(arrow::RecordBatch::Make(schema.ToArrow(), 5000, columns));
    written.emplace_back(batches.back());
  }
  const auto table = arrow::Table::FromRecordBatches(schema.ToArrow(), batches).ValueOrDie();
  const auto all = table->CombineChunksToBatch().ValueOrDie();
  for (const char* stripe_size : {"300000", "100000000"}) {
    const std::string bytes =
        *WriteFile(schema, written, {{"stripe.size", stripe_size}, {"row.index.stride", "1000"}});
    const auto file = OpenFile(bytes, schema, {0});
    EXPECT_EQ((*file)->part_count() > 2, std::string(stripe_size) == "300000");
    const auto read = ReadFile(bytes, schema);
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_TRUE(read->rows()->Equals(*all));
    // A projection reads the same values, in its own order.
    const auto projected = OpenFile(bytes, schema, {4, 1});
    const auto rows = (*projected)->ReadPart(0);
    const auto batch = *(*rows)->Next();
    EXPECT_TRUE(batch->column(0)->Equals(all->column(4)->Slice(0, batch->row_count())));
    EXPECT_TRUE(batch->column(1)->Equals(all->column(1)->Slice(0, batch->row_count())));
  }
}

TEST(OrcRoundTripTest, CharIsStoredWithItsBlanksAndReadWithout) {
  const Schema schema({{"c", SqlType::Char(5)}});
  const std::string bytes =
      *WriteFile(schema, {BatchFromJson(schema, {R"(["abc", "한", "fives", null])"})}, kPlain);
  EXPECT_THAT(Texts(schema, *ReadFile(bytes, schema), 0),
              ElementsAre("abc", "한", "fives", "NULL"));
  const Footer footer = FooterOf(bytes);
  EXPECT_EQ(footer.types[1].kind, OrcKind::kChar);
  EXPECT_EQ(footer.types[1].length, 5u);
  EXPECT_THAT(bytes, HasSubstr("abc  "));
}

// Rule 10.4 for ORC, whose files know no NOT NULL: the levels are those of the table when it is
// read.
TEST(OrcRoundTripTest, EachLevelHasItsOwnNullability) {
  const SqlType loose = SqlType::Array(SqlType::Row({{"a", SqlType::Int()}}));
  const SqlType strict =
      SqlType::Array(SqlType::Row({{"a", SqlType::Int().NotNull()}}).NotNull()).NotNull();
  const Schema file({{"v", loose}});
  const Schema table({{"v", strict}});
  const auto read = [&](const std::string& json) {
    return ReadFile(*WriteFile(file, {BatchFromJson(file, {json})}), table);
  };
  EXPECT_THAT(Texts(table, *read("[[[1],[2]], []]"), 0), ElementsAre("[(1), (2)]", "[]"));
  for (const char* json : {"[[[1]], null]", "[[[1], null]]", "[[[1], [null]]]"}) {
    const Status status = read(json).status();
    EXPECT_EQ(status.code(), StatusCode::kDataError) << json;
    EXPECT_THAT(status.ToString(), AllOf(HasSubstr("NOT NULL"), HasSubstr("column 'v'")));
  }
}

// Rule 11.1.
TEST(OrcCalendarTest, FilesAreReadByTheirFlagAndOursIsProleptic) {
  EXPECT_EQ(HybridToProlepticDays(-719164), -719162);
  EXPECT_EQ(HybridToProlepticDays(DaysFromCivil(1582, 10, 15)), DaysFromCivil(1582, 10, 15));
  EXPECT_EQ(HybridToProlepticDays(DaysFromCivil(1582, 10, 15) - 1), DaysFromCivil(1582, 10, 4));
  EXPECT_EQ(HybridToProlepticDays(0), 0);
  const Schema schema({{"d", SqlType::Date()}, {"t", SqlType::Timestamp(6)}});
  // 0001-01-01 in the proleptic calendar and two days earlier.
  const std::string bytes = *WriteFile(
      schema,
      {BatchFromJson(schema, {"[-719162, -719164]", "[-62135596800000000, -62135769600000000]"})},
      kPlain);
  EXPECT_EQ(FooterOf(bytes).calendar, Calendar::kProleptic);
  EXPECT_EQ(Texts(schema, *ReadFile(bytes, schema), 0)[0], "0001-01-01");
  EXPECT_EQ(Texts(schema, *ReadFile(bytes, schema), 1)[0], "0001-01-01 00:00:00.000000");
  for (const Calendar calendar : {Calendar::kHybrid, Calendar::kUnknown}) {
    const std::string foreign = Changed(bytes, [&](Tail* tail) {
      tail->footer.calendar = calendar;
      tail->footer.writer = kJavaWriter;
    });
    const auto read = ReadFile(foreign, schema);
    EXPECT_EQ(Texts(schema, *read, 0)[1], "0001-01-01");
    EXPECT_EQ(Texts(schema, *read, 1)[1], "0001-01-01 00:00:00.000000");
  }
  const std::string unmarked = Changed(bytes, [&](Tail* tail) {
    tail->footer.calendar = Calendar::kUnknown;
    tail->footer.writer = kJavaWriter;
  });
  const auto read = ReadFile(unmarked, schema, {{"proleptic.gregorian.default", "true"}});
  EXPECT_EQ(Texts(schema, *read, 0)[0], "0001-01-01");
  // C++, Presto, Go, Trino, CUDF.
  for (const uint64_t writer : {uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{4}, uint64_t{5}}) {
    const std::string foreign = Changed(bytes, [&](Tail* tail) {
      tail->footer.calendar = Calendar::kUnknown;
      tail->footer.writer = writer;
    });
    EXPECT_EQ(Texts(schema, *ReadFile(foreign, schema), 0)[0], "0001-01-01") << writer;
    EXPECT_EQ(Texts(schema, *ReadFile(foreign, schema), 1)[0], "0001-01-01 00:00:00.000000");
  }
}

std::vector<std::string> LoggedBy(const std::function<void()>& action) {
  std::vector<std::string> lines;
  SetLogSink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  action();
  SetLogSink(nullptr);
  return lines;
}

// A file of Flink 2.3 with DATE in the proleptic calendar, TIMESTAMP in the hybrid one, and no word
// of either.
TEST(OrcTimesTest, OldDaysOfFlink) {
  const Schema schema({{"id", SqlType::Int()},
                       {"d", SqlType::Date()},
                       {"t", SqlType::Timestamp(3)},
                       {"a", SqlType::Array(SqlType::Date())}});
  std::ifstream file("tests/data/golden/orc_old_days/files/old_days/part-0", std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  ASSERT_GT(bytes.size(), 0u);
  const auto texts = [&](int column, const OptionMap& options = {}) {
    std::vector<std::string> found = Texts(schema, *ReadFile(bytes, schema, options), column);
    std::sort(found.begin(), found.end());
    return found;
  };
  std::vector<std::string> assumed;
  const auto told = LoggedBy([&] {
    assumed = texts(1);
    EXPECT_EQ(texts(1), assumed);  // Told once.
  });
  EXPECT_THAT(assumed, ElementsAre("0001-01-03", "1582-09-24", "1582-10-15", "2020-02-29", "NULL"));
  EXPECT_THAT(told,
              ElementsAre(AllOf(HasSubstr("`d` DATE"),
                                HasSubstr("'orc.proleptic.gregorian.default.dates' = 'true'"))));
  const std::vector<std::string> days = {"0001-01-01", "1582-10-04", "1582-10-15", "2020-02-29",
                                         "NULL"};
  EXPECT_TRUE(LoggedBy([&] {
                EXPECT_EQ(texts(1, {{"proleptic.gregorian.default.dates", "true"}}), days);
                EXPECT_EQ(texts(1, {{"proleptic.gregorian.default", "true"}}), days);
                EXPECT_EQ(texts(1, {{"proleptic.gregorian.default.dates", "false"},
                                    {"proleptic.gregorian.default", "true"}}),
                          assumed);
              }).empty());
  EXPECT_THAT(texts(2, {{"proleptic.gregorian.default.dates", "true"}}),
              ElementsAre("0001-01-01 00:00:00.500", "1582-10-04 12:00:00.000",
                          "1582-10-15 00:00:00.000", "2020-02-29 23:59:59.999", "NULL"));
}

// Rule 11.2.
TEST(OrcTimesTest, TimestampsNeverPassThroughNanoseconds) {
  const Schema schema({{"t", SqlType::Timestamp(6)}});
  const Batch batch = BatchFromJson(
      schema, {"[-62135596799999999, 124627334400123456, 253402300799999999, -1, -100000]"});
  EXPECT_THAT(Texts(schema, *ReadFile(*WriteFile(schema, {batch}), schema), 0),
              ElementsAre("0001-01-01 00:00:00.000001", "5919-04-15 00:00:00.123456",
                          Texts(schema, batch, 0)[2], "1969-12-31 23:59:59.999999",
                          "1969-12-31 23:59:59.900000"));
  const Schema nanos({{"t", SqlType::Timestamp(9)}});
  const auto outside = ReadFile(*WriteFile(schema, {batch}), nanos);
  EXPECT_THAT(outside.status().ToString(), AllOf(HasSubstr("TIMESTAMP(9)"), HasSubstr("column 't'"),
                                                 HasSubstr("row 1"), HasSubstr("1677")));
}

TEST(OrcTimesTest, StoredFormsOfOthers) {
  const auto moment = [](int64_t seconds, int32_t nanos) { return Moment{seconds, nanos}; };
  for (const Moment& time : {moment(0, 0), moment(1, 100), moment(-1, 0), moment(-1, 999'999),
                             moment(-2, 999'000'000), moment(-1, 1'000'000), moment(0, 1'000'000),
                             moment(-62135596800, 1000), moment(kBaseSeconds, 123'456'789)}) {
    const auto stored = ToStored(time);
    ASSERT_TRUE(stored.ok());
    EXPECT_EQ(FromStored(*stored, kBaseSeconds), time);
  }
  EXPECT_FALSE(ToStored({-1, 123'456'789}).ok());
  // Java and C++ store -0.9 s as +0.1 s; Arrow leaves the fraction negative.
  EXPECT_EQ(FromStored({-kBaseSeconds, 1 << 3 | 7}, kBaseSeconds), moment(0, 100'000'000));
  EXPECT_EQ(FromStored({-kBaseSeconds - 1, 1 << 3 | 7}, kBaseSeconds), moment(-2, 100'000'000));
  EXPECT_EQ(
      FromStored({-kBaseSeconds - 1, static_cast<uint64_t>(int64_t{-5} * 8 + 7)}, kBaseSeconds),
      moment(-2, 500'000'000));
}

// Rule 11.3.
TEST(OrcTimesTest, WallTimesStayAndInstantsMoveWithTheZone) {
  const Schema schema({{"t", SqlType::Timestamp(3)}, {"l", SqlType::TimestampLtz(3)}});
  const std::string bytes = *WriteFile(schema, {BatchFromJson(schema, {"[0]", "[0]"})}, kPlain);
  const Footer footer = FooterOf(bytes);
  EXPECT_EQ(footer.types[1].kind, OrcKind::kTimestamp);
  EXPECT_EQ(footer.types[2].kind, OrcKind::kTimestampInstant);
  // A writer in Tokyo counts from 2015 in Tokyo: the wall time is the same, the instant too.
  const std::string tokyo =
      Changed(bytes, [](Tail* tail) { tail->last_stripe.writer_zone = "Asia/Tokyo"; });
  EXPECT_EQ(Texts(schema, *ReadFile(tokyo, schema), 0)[0], "1970-01-01 00:00:00.000");
  EXPECT_EQ(Texts(schema, *ReadFile(tokyo, schema), 1)[0], "1970-01-01 00:00:00.000");
  // Declared the other way round they go through the zone of the session.
  const Schema other({{"t", SqlType::TimestampLtz(3)}, {"l", SqlType::Timestamp(3)}});
  FormatContext context;
  context.session_zone = *TimeZone::Find("Asia/Tokyo");
  const auto read = ReadFile(bytes, other, {}, context);
  EXPECT_EQ(Texts(other, *read, 0)[0], "1969-12-31 15:00:00.000");
  EXPECT_EQ(Texts(other, *read, 1)[0], "1970-01-01 09:00:00.000");
}

// Rule 11.4.
TEST(OrcReaderTest, ColumnsByNameOrAllByPosition) {
  const Schema hive({{"_col0", SqlType::Int()}, {"_col1", SqlType::String()}});
  const std::string bytes = *WriteFile(hive, {BatchFromJson(hive, {"[1]", R"(["x"])"})});
  const Schema table(
      {{"id", SqlType::Int()}, {"name", SqlType::String()}, {"more", SqlType::Int()}});
  const auto read = ReadFile(bytes, table);
  EXPECT_THAT(Texts(table, *read, 0), ElementsAre("1"));
  EXPECT_THAT(Texts(table, *read, 1), ElementsAre("x"));
  EXPECT_THAT(Texts(table, *read, 2), ElementsAre("NULL"));

  const Schema file({{"b", SqlType::String()},
                     {"r", SqlType::Row({{"y", SqlType::Int()}, {"x", SqlType::Int()}})},
                     {"id", SqlType::Int()}});
  const std::string named = *WriteFile(file, {BatchFromJson(file, {R"(["b"])", "[[1,2]]", "[7]"})});
  const Schema wanted({{"id", SqlType::Bigint()},
                       {"r", SqlType::Row({{"x", SqlType::Int()}, {"z", SqlType::String()}})},
                       {"gone", SqlType::Int()}});
  const auto by_name = ReadFile(named, wanted);
  ASSERT_TRUE(by_name.ok()) << by_name.status().ToString();
  EXPECT_THAT(Texts(wanted, *by_name, 0), ElementsAre("7"));
  EXPECT_THAT(Texts(wanted, *by_name, 1), ElementsAre("(2, NULL)"));
  EXPECT_THAT(Texts(wanted, *by_name, 2), ElementsAre("NULL"));
  const Schema strict({{"gone", SqlType::Int().NotNull()}});
  EXPECT_THAT(ReadFile(named, strict).status().message(), HasSubstr("'gone'"));
}

TEST(OrcReaderTest, CompatibleTypesAreConvertedOthersNamed) {
  const struct {
    SqlType file;
    std::string values;
    SqlType table;
    std::string text;   // Empty: an error
    std::string error;  // with this text.
  } cases[] = {
      {SqlType::Tinyint(), "[5]", SqlType::Bigint(), "5", ""},
      {SqlType::Bigint(), "[5]", SqlType::Tinyint(), "5", ""},
      {SqlType::Bigint(), "[500]", SqlType::Tinyint(), "", "500 does not fit TINYINT"},
      {SqlType::Int(), "[5]", SqlType::Double(), "5.0", ""},
      {SqlType::Float(), "[1.5]", SqlType::Double(), "1.5", ""},
      {SqlType::Int(), "[5]", SqlType::Decimal(10, 2), "5.00", ""},
      {SqlType::Decimal(10, 2), R"(["1.50"])", SqlType::Decimal(38, 4), "1.5000", ""},
      {SqlType::Decimal(10, 2), R"(["1.50"])", SqlType::Decimal(10, 1), "1.5", ""},
      {SqlType::Decimal(10, 2), R"(["1.55"])", SqlType::Decimal(10, 1), "", "1.55 does not fit"},
      {SqlType::Bytes(), R"(["abc"])", SqlType::String(), "abc", ""},
      {SqlType::String(), R"(["abc"])", SqlType::Bytes(), "abc", ""},
      {SqlType::Varchar(9), R"(["abc"])", SqlType::String(), "abc", ""},
      {SqlType::Timestamp(6), "[-1]", SqlType::Timestamp(3), "1969-12-31 23:59:59.999", ""},
      {SqlType::String(), R"(["5"])", SqlType::Int(), "", "the file has string"},
      {SqlType::Double(), "[5]", SqlType::Float(), "", "the file has double"},
      {SqlType::Date(), "[5]", SqlType::Int(), "", "the file has date"},
      {SqlType::Int(), "[5]", SqlType::Array(SqlType::Int()), "", "the file has int"},
      {SqlType::Array(SqlType::Int()), "[[5]]", SqlType::Array(SqlType::String()), "",
       "the file has array<int>"},
  };
  for (const auto& test : cases) {
    const Schema file({{"a", test.file}});
    const Schema table({{"a", test.table}});
    const auto read = ReadFile(*WriteFile(file, {BatchFromJson(file, {test.values})}), table);
    if (test.text.empty()) {
      EXPECT_EQ(read.status().code(), StatusCode::kDataError);
      EXPECT_THAT(read.status().ToString(), AllOf(HasSubstr("'a'"), HasSubstr(test.error)));
      continue;
    }
    ASSERT_TRUE(read.ok()) << read.status().ToString();
    EXPECT_THAT(Texts(table, *read, 0), ElementsAre(test.text));
  }
}

TEST(OrcReaderTest, TextThatIsNotUtf8NamesColumnStripeAndRow) {
  const Schema bytes_file({{"s", SqlType::Bytes()}});
  arrow::BinaryBuilder builder;
  ASSERT_TRUE(builder.Append("good").ok());
  ASSERT_TRUE(builder
                  .Append("he\xff"
                          "lo")
                  .ok());
  const Batch rows(arrow::RecordBatch::Make(bytes_file.ToArrow(), 2,
                                            arrow::ArrayVector{builder.Finish().ValueOrDie()}));
  const auto text = ReadFile(*WriteFile(bytes_file, {rows}), Schema({{"s", SqlType::String()}}));
  EXPECT_THAT(text.status().ToString(), AllOf(HasSubstr("column 's'"), HasSubstr("stripe 0"),
                                              HasSubstr("row 2"), HasSubstr("UTF-8")));
}

TEST(OrcReaderTest, NoRowsNoStripesAndEmptyProjections) {
  const Schema schema({{"a", SqlType::Int()}});
  const Batch two = BatchFromJson(schema, {"[1, 2]"});
  EXPECT_EQ(ReadFile(*WriteFile(schema, {}), schema)->row_count(), 0);
  const std::string bytes = *WriteFile(schema, {two.Slice(0, 0), two, two.Slice(0, 0)}, {}, true);
  EXPECT_EQ(ReadFile(bytes, schema)->row_count(), 2);
  const auto file = OpenFile(bytes, schema, {});
  ASSERT_EQ((*file)->part_count(), 1);
  EXPECT_EQ((*file)->row_count(0), 2);
  const auto rows = (*file)->ReadPart(0);
  EXPECT_EQ((*(*rows)->Next())->row_count(), 2);
  EXPECT_THAT(OpenFile("", schema, {0}).status().message(), HasSubstr("length is too low: 0"));
  EXPECT_THAT(OpenFile("no ORC file at all", schema, {0}).status().message(),
              HasSubstr("ORC file"));
}

TEST(OrcGoldenTest, FlinksFileIsReadAsFlinkReadsIt) {
  std::string bytes;
  for (const auto& entry :
       std::filesystem::directory_iterator("tests/data/golden/types_orc/files/t")) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::stringstream content;
    content << file.rdbuf();
    bytes = content.str();
  }
  const Schema schema({{"c", SqlType::Char(5)},
                       {"dc38", SqlType::Decimal(38, 18)},
                       {"dt", SqlType::Date()},
                       {"ts6", SqlType::Timestamp(6)},
                       {"ts9", SqlType::Timestamp(9)},
                       {"ma", SqlType::Map(SqlType::String(), SqlType::Array(SqlType::Int()))}});
  const auto read = ReadFile(bytes, schema);
  ASSERT_TRUE(read.ok()) << read.status().ToString();
  EXPECT_THAT(Texts(schema, *read, 0), ElementsAre("abc", "fives", "NULL"));
  EXPECT_THAT(Texts(schema, *read, 1), ElementsAre("12345678901234567890.123456789012345678",
                                                   "0.000000000000000000", "NULL"));
  EXPECT_THAT(Texts(schema, *read, 2), ElementsAre("2020-05-20", "1969-12-31", "NULL"));
  EXPECT_THAT(Texts(schema, *read, 3),
              ElementsAre("2020-05-20 12:34:56.789012", "0001-01-01 00:00:00.000001", "NULL"));
  EXPECT_THAT(Texts(schema, *read, 4), ElementsAre("2020-05-20 12:34:56.789012345",
                                                   "2020-01-01 00:00:00.000000001", "NULL"));
  EXPECT_THAT(Texts(schema, *read, 5), ElementsAre("{k=[1, 2]}", "NULL", "NULL"));
}

class PruningTest : public ::testing::Test {
 protected:
  PruningTest()
      : schema_({{"a", SqlType::Int()},
                 {"s", SqlType::String()},
                 {"n", SqlType::Int()},
                 {"d", SqlType::Double()},
                 {"t", SqlType::Timestamp(3)},
                 {"p", SqlType::Decimal(5, 2)}}) {
    const Batch low = BatchFromJson(schema_, {"[1, 5]", R"(["b", "d"])", "[null, null]",
                                              "[1.5, 2.5]", "[-5000, -1]", R"(["1.00", "2.00"])"});
    const Batch high = BatchFromJson(schema_, {"[10, 20]", R"(["m", "z"])", "[1, null]",
                                               "[3.5, 4.5]", "[0, 9]", R"(["3.00", "4.00"])"});
    bytes_ = *WriteFile(schema_, {low, high}, {}, true);
  }
  /// Which of the two stripes may match.
  std::string Matching(const expr::ExprPtr& filter) {
    const auto file = OpenFile(bytes_, schema_, {0});
    std::string parts;
    for (int part = 0; part < (*file)->part_count(); ++part) {
      const std::vector<expr::ExprPtr> filters = {filter};
      if ((*file)->MayMatch(part, filters)) parts += std::to_string(part);
    }
    return parts;
  }
  expr::ExprPtr Column(int index) { return expr::MakeColumn(index, schema_.column(index).type); }
  static expr::ExprPtr Compare(expr::ComparisonOp op, expr::ExprPtr left, expr::ExprPtr right) {
    return *expr::MakeComparison(op, std::move(left), std::move(right));
  }

  Schema schema_;
  std::string bytes_;
};

TEST_F(PruningTest, ByStatisticsOfStripes) {
  using enum expr::ComparisonOp;
  EXPECT_EQ(Matching(Compare(kLess, Column(0), expr::MakeInt(1))), "");
  EXPECT_EQ(Matching(Compare(kLessEqual, Column(0), expr::MakeInt(1))), "0");
  EXPECT_EQ(Matching(Compare(kGreater, Column(0), expr::MakeInt(5))), "1");
  EXPECT_EQ(Matching(Compare(kEqual, Column(0), expr::MakeBigint(20))), "1");
  EXPECT_EQ(Matching(Compare(kNotEqual, Column(0), expr::MakeInt(7))), "01");
  EXPECT_EQ(Matching(*expr::MakeIs(expr::IsTest::kNull, Column(0))), "");
  EXPECT_EQ(Matching(*expr::MakeIs(expr::IsTest::kNull, Column(2), true)), "1");
  EXPECT_EQ(Matching(Compare(kLess, Column(3), expr::MakeDouble(3.0))), "0");
  EXPECT_EQ(Matching(Compare(kGreater, Column(3), expr::MakeDouble(3.0))), "01")
      << "NaN is greater and in no bounds";
  EXPECT_EQ(Matching(Compare(kLess, Column(4), *expr::MakeTimestamp("1970-01-01 00:00:00.000"))),
            "0");
  EXPECT_EQ(
      Matching(Compare(kGreaterEqual, Column(4), *expr::MakeTimestamp("1970-01-01 00:00:01.000"))),
      "");
  EXPECT_EQ(Matching(Compare(kGreater, Column(5), *expr::MakeDecimal("100.00"))), "");
  EXPECT_EQ(Matching(Compare(
                kEqual, Column(1),
                std::make_shared<expr::LiteralExpr>(arrow::MakeScalar("n"), SqlType::String()))),
            "1");
}

}  // namespace
}  // namespace sluice::formats::orc_format
