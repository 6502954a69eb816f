#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/changelog/changelog_formats.h"
#include "formats/testing/render.h"

namespace sluice::formats {
namespace {

using ::testing::ElementsAre;
using testing::FirstBad;
using ::testing::HasSubstr;
using testing::Options;

const OptionMap kIgnore = {{"ignore-parse-errors", "true"}};

Schema TwoColumns() { return Schema({{"k", SqlType::String()}, {"v", SqlType::Int()}}); }

std::unique_ptr<RowDecoder> Decoder(const Format& format, const ReadSchema& schema,
                                    OptionMap options) {
  auto decoder = format.make_decoder(Options(format, std::move(options)), schema, {});
  EXPECT_TRUE(decoder.ok()) << decoder.status().ToString();
  return std::move(*decoder);
}

DecodedRows Decode(const Format& format, const ReadSchema& schema, OptionMap options,
                   std::string_view text) {
  auto rows = Decoder(format, schema, std::move(options))->DecodeChunk(text, true);
  EXPECT_TRUE(rows.ok()) << rows.status().ToString();
  EXPECT_TRUE(rows->rows.rows()->ValidateFull().ok());
  return std::move(*rows);
}

/// "+I a|1".
std::vector<std::string> Changes(const Batch& batch) {
  std::vector<std::string> rows;
  for (int64_t i = 0; i < batch.row_count(); ++i) {
    rows.push_back(std::string(RowKindText(batch.row_kind(i))) + " " +
                   testing::RenderRow(*batch.rows(), i));
  }
  return rows;
}

struct Case {
  const char* name;
  const Format* format;
  OptionMap options;
  std::string text;
  std::vector<std::string> rows;
  std::string bad = "";
  int64_t ignored = 0;
};

class Messages : public ::testing::TestWithParam<Case> {};

std::string NameOf(const ::testing::TestParamInfo<Case>& info) { return info.param.name; }

TEST_P(Messages, BecomeRows) {
  const Case& c = GetParam();
  const DecodedRows decoded = Decode(*c.format, testing::AllOf(TwoColumns()), c.options, c.text);
  EXPECT_EQ(Changes(decoded.rows), c.rows);
  EXPECT_EQ(decoded.ignored_count, c.ignored);
  if (c.bad.empty()) {
    EXPECT_EQ(FirstBad(decoded), "");
  } else {
    EXPECT_THAT(FirstBad(decoded), HasSubstr(c.bad));
    EXPECT_EQ(decoded.failed, c.options.find("ignore-parse-errors") == c.options.end());
  }
}

const Format* const kDebezium = &kDebeziumJsonFormat;
const Format* const kCanal = &kCanalJsonFormat;
const Format* const kMaxwell = &kMaxwellJsonFormat;
const Format* const kOgg = &kOggJsonFormat;

INSTANTIATE_TEST_SUITE_P(
    Debezium, Messages,
    ::testing::Values(
        Case{"every_op",
             kDebezium,
             {},
             R"({"before":null,"after":{"k":"x","v":1},"source":{"db":"d"},"op":"c","ts_ms":1})"
             "\n"
             R"({"before":{"k":"x","v":1},"after":{"k":"x","v":2},"op":"u"})"
             "\n"
             R"({"before":{"k":"x","v":2},"after":null,"op":"d"})"
             "\n"
             R"({"after":{"v":"5","k":"y"},"op":"r"})"
             "\n",
             {"+I x|1", "-U x|1", "+U x|2", "-D x|2", "+I y|5"}},
        Case{"op_first",
             kDebezium,
             {},
             R"({"op":"u","after":{"v":2},"before":{"v":1}})",
             {"-U NULL|1", "+U NULL|2"}},
        Case{"escaped_op", kDebezium, {}, R"({"op":"\u0063","after":{"v":2}})", {"+I NULL|2"}},
        Case{"update_without_before",
             kDebezium,
             {},
             R"({"op":"u","before":null,"after":{"v":2}})",
             {},
             "The \"before\" field of UPDATE message is null, if you are using Debezium"},
        Case{"delete_without_before",
             kDebezium,
             {},
             R"({"op":"d","after":{"v":2}})",
             {},
             "The \"before\" field of DELETE message is null"},
        Case{"insert_without_after",
             kDebezium,
             {},
             R"({"op":"c","before":{"v":2}})",
             {},
             "The \"after\" field"},
        Case{"truncate",
             kDebezium,
             {},
             R"({"op":"t"})",
             {},
             "Corrupt Debezium JSON message '{\"op\":\"t\"}'. Unknown \"op\" value \"t\"."},
        Case{"truncate_and_message_by_option",
             kDebezium,
             {{"skipped-operations", "t, m"}},
             "{\"op\":\"t\"}\n{\"op\":\"m\",\"message\":{}}\n{\"op\":\"c\",\"after\":{\"v\":1}}",
             {"+I NULL|1"},
             "",
             2},
        Case{"no_op_names_schema_include",
             kDebezium,
             {},
             R"({"schema":{},"payload":{"op":"c","after":{"v":1}}})",
             {},
             "Set 'debezium-json.schema-include' = 'true'"},
        Case{"schema_include",
             kDebezium,
             {{"schema-include", "true"}},
             R"({"schema":{"type":"struct"},"payload":{"op":"c","after":{"k":"x","v":1}}})",
             {"+I x|1"}},
        Case{"schema_include_without_payload",
             kDebezium,
             {{"schema-include", "true"}},
             R"({"op":"c","after":{"v":1}})",
             {},
             "It has no \"payload\"."},
        Case{"bad_messages_are_dropped",
             kDebezium,
             kIgnore,
             R"({"op":"c","after":{"k":"a","v":1}})"
             "\nno json\n"
             R"({"op":"u","before":{"v":1},"after":[2]})"
             "\n"
             R"({"op":"x","after":{"v":1}})"
             "\n"
             R"({"op":"d","before":{"k":"a","v":1}})",
             {"+I a|1", "-D a|1"},
             "Corrupt Debezium JSON message 'no json'. Expected an object"},
        Case{"a_bad_field_is_null",
             kDebezium,
             kIgnore,
             R"({"op":"u","before":{"k":"a","v":"one"},"after":{"k":"a","v":2}})",
             {"-U a|NULL", "+U a|2"},
             "Fail to deserialize at field: v"},
        Case{"a_bad_field_fails",
             kDebezium,
             {},
             R"({"op":"c","after":{"k":"a","v":"one"}})",
             {},
             "Fail to deserialize at field: v"},
        Case{"text_behind",
             kDebezium,
             {},
             R"({"op":"c","after":{"v":1}} x)",
             {},
             "Unexpected text behind the JSON value"},
        Case{"cut_off", kDebezium, {}, R"({"op":"c","after":{"v":1})", {}, "ends too early"},
        Case{"top_level_array",
             kDebezium,
             {},
             R"([{"op":"c","after":{"v":1}}])",
             {},
             "Expected an object"}),
    &NameOf);

INSTANTIATE_TEST_SUITE_P(
    Canal, Messages,
    ::testing::Values(
        Case{"insert_several",
             kCanal,
             {},
             R"({"data":[{"k":"a","v":"1"},{"k":"b","v":"2"}],"type":"INSERT"})",
             {"+I a|1", "+I b|2"}},
        Case{"delete_several",
             kCanal,
             {},
             R"({"data":[{"k":"a"},{"k":"b"}],"type":"DELETE"})",
             {"-D a|NULL", "-D b|NULL"}},
        // formats.md §7.2: completed row by row, at the top level; a null that is there stays.
        Case{"old_is_completed",
             kCanal,
             {},
             R"({"type":"UPDATE","data":[{"k":"a","v":"2"},{"k":null,"v":"3"},{"k":"c","v":"4"}],)"
             R"("old":[{"v":"1"},{"k":"b"},{"k":null,"v":null}]})",
             {"-U a|1", "+U a|2", "-U b|3", "+U NULL|3", "-U NULL|NULL", "+U c|4"}},
        Case{"old_is_empty",
             kCanal,
             {},
             R"({"type":"UPDATE","data":[{"k":"a"}],"old":[{}]})",
             {"-U a|NULL", "+U a|NULL"}},
        Case{"old_is_missing",
             kCanal,
             {},
             R"({"type":"UPDATE","data":[{"k":"a"}],"old":null})",
             {},
             "The \"old\" field of UPDATE message is no array of rows."},
        Case{"old_is_short",
             kCanal,
             {},
             R"({"type":"UPDATE","data":[{"k":"a"},{}],"old":[{}]})",
             {},
             "has 1 rows, \"data\" has 2"},
        Case{"data_is_null",
             kCanal,
             {},
             R"({"type":"INSERT","data":null})",
             {},
             "The \"data\" field of INSERT message is no array of rows."},
        Case{"ddl",
             kCanal,
             {},
             R"({"type":"CREATE","data":null})"
             "\n"
             R"({"isDdl":true,"type":"ALTER","data":null})",
             {},
             "",
             2},
        Case{"alter",
             kCanal,
             {},
             R"({"type":"ALTER","isDdl":false})",
             {},
             "Unknown \"type\" value \"ALTER\"."},
        Case{"filters",
             kCanal,
             {{"database.include", "shop|depot"}, {"table.include", "ord.*"}},
             R"({"database":"shop","table":"orders","data":[{"v":1}],"type":"INSERT"})"
             "\n"
             R"({"database":"shop2","table":"orders","data":[{"v":2}],"type":"INSERT"})"
             "\n"
             R"({"database":"depot","table":"words","data":[{"v":3}],"type":"BROKEN"})"
             "\n"
             R"({"database":"depot","table":"orders2","data":[{"v":4}],"type":"INSERT"})",
             {"+I NULL|1", "+I NULL|4"},
             "",
             2},
        Case{"filter_without_the_member",
             kCanal,
             {{"table.include", "a"}},
             R"({"data":[{"v":1}],"type":"INSERT"})",
             {},
             "It has no \"table\""}),
    &NameOf);

INSTANTIATE_TEST_SUITE_P(
    Maxwell, Messages,
    ::testing::Values(
        Case{"every_type",
             kMaxwell,
             {},
             R"({"type":"insert","data":{"k":"a","v":1}})"
             "\n"
             R"({"type":"update","data":{"k":"a","v":2},"old":{"v":1}})"
             "\n"
             R"({"type":"delete","data":{"k":"a","v":2}})",
             {"+I a|1", "-U a|1", "+U a|2", "-D a|2"}},
        Case{"bootstrap",
             kMaxwell,
             {},
             R"({"type":"bootstrap-start","data":{}})"
             "\n"
             R"({"type":"bootstrap-insert","data":{"v":1}})"
             "\n"
             R"({"type":"bootstrap-complete","data":{}})",
             {"+I NULL|1"},
             "",
             2},
        Case{"table_alter",
             kMaxwell,
             {},
             R"({"type":"table-alter","data":{}})",
             {},
             "Corrupt Maxwell JSON message '{\"type\":\"table-alter\",\"data\":{}}'. Unknown "
             "\"type\" value"},
        Case{"no_old",
             kMaxwell,
             {},
             R"({"type":"update","data":{"v":1}})",
             {},
             "The \"old\" field"}),
    &NameOf);

INSTANTIATE_TEST_SUITE_P(
    Ogg, Messages,
    ::testing::Values(
        Case{"every_op",
             kOgg,
             {},
             R"({"op_type":"I","after":{"k":"a","v":1}})"
             "\n"
             R"({"op_type":"U","before":{"k":"a","v":1},"after":{"k":"a","v":2}})"
             "\n"
             R"({"op_type":"D","before":{"k":"a","v":2}})",
             {"+I a|1", "-U a|1", "+U a|2", "-D a|2"}},
        Case{"no_before",
             kOgg,
             {},
             R"({"op_type":"U","after":{"v":2}})",
             {},
             "The \"before\" field of UPDATE message is null, if you are using Ogg Postgres"},
        Case{"truncate", kOgg, {}, R"({"op_type":"T"})", {}, "Unknown \"op_type\" value \"T\"."}),
    &NameOf);

TEST(Changelog, TombstonesAndEmptyMessagesGiveNoRow) {  // Known pitfall 14.2.
  for (const Format* format : {kDebezium, kCanal, kMaxwell, kOgg}) {
    const auto decoder = Decoder(*format, testing::AllOf(TwoColumns()), {});
    const std::vector<std::string_view> messages = {std::string_view(), "", "  "};
    const auto rows = decoder->DecodeMessages(messages);
    ASSERT_TRUE(rows.ok());
    EXPECT_EQ(rows->rows.row_count(), 0);
    EXPECT_EQ(rows->record_count, 3);
    EXPECT_EQ(rows->ignored_count, 2);
    EXPECT_FALSE(rows->failed);
  }
}

TEST(Changelog, RowsKnowTheirRecord) {
  const auto decoder = Decoder(*kDebezium, testing::AllOf(TwoColumns()), kIgnore);
  const std::vector<std::string_view> messages = {R"({"op":"u","before":{"v":1},"after":{"v":2}})",
                                                  std::string_view(), "broken",
                                                  R"({"op":"d","before":{"v":2}})"};
  const auto rows = decoder->DecodeMessages(messages);
  ASSERT_TRUE(rows.ok());
  EXPECT_THAT(Changes(rows->rows), ElementsAre("-U NULL|1", "+U NULL|2", "-D NULL|2"));
  EXPECT_THAT(rows->record_of_row, ElementsAre(0, 0, 3));
  ASSERT_EQ(rows->bad.size(), 1u);
  EXPECT_EQ(rows->bad[0].record, 2);
}

TEST(Changelog, BadRecordsCarryLineAndByte) {  // Known pitfall 17.6.
  const DecodedRows rows = Decode(*kOgg, testing::AllOf(TwoColumns()), {},
                                  R"({"op_type":"I","after":{"v":1}})"
                                  "\n"
                                  R"({"op_type":"I","after":{"v":"?"}})"
                                  "\n");
  ASSERT_TRUE(rows.failed);
  EXPECT_EQ(rows.bad[0].line, 1);
  EXPECT_EQ(rows.bad[0].byte_offset, 32);
  EXPECT_EQ(rows.bad[0].column, "v");
  EXPECT_THAT(rows.bad[0].reason, HasSubstr("Corrupt OGG JSON message"));
}

// formats.md §7.1: Debezium's own forms of time, and Flink's.
TEST(Changelog, TimesOfDebezium) {
  const Schema schema({{"d", SqlType::Date()},
                       {"t", SqlType::Time(3)},
                       {"ts0", SqlType::Timestamp(0)},
                       {"ts3", SqlType::Timestamp(3)},
                       {"ts6", SqlType::Timestamp(6)},
                       {"l6", SqlType::TimestampLtz(6)}});
  const DecodedRows rows = Decode(
      *kDebezium, testing::AllOf(schema), {},
      R"({"op":"c","after":{"d":18402,"t":45296789,"ts0":1589978096789,"ts3":-1,)"
      R"("ts6":1589978096789012,"l6":"2020-05-20T12:34:56.5Z"}})"
      "\n"
      R"({"op":"c","after":{"d":"2020-05-20","t":"12:34:56","ts0":"2020-05-20 12:34:56","ts3":null,)"
      R"("ts6":"2020-05-20T12:34:56Z","l6":"2020-05-20 12:34:56Z"}})");
  EXPECT_EQ(FirstBad(rows), "");
  EXPECT_THAT(testing::RenderRows(rows.rows),
              ElementsAre("2020-05-20|12:34:56.789|2020-05-20 12:34:56.000|1969-12-31 23:59:59.999|"
                          "2020-05-20 12:34:56.789012|2020-05-20 12:34:56.500000Z",
                          "2020-05-20|12:34:56.000|2020-05-20 12:34:56.000|NULL|"
                          "2020-05-20 12:34:56.000000|2020-05-20 12:34:56.000000Z"));
  const auto bad = [&](const Format& format, std::string_view after) {
    return Decode(format, testing::AllOf(schema), {}, after).failed;
  };
  EXPECT_TRUE(bad(*kDebezium, R"({"op":"c","after":{"d":2932897}})"));
  EXPECT_TRUE(bad(*kDebezium, R"({"op":"c","after":{"t":86400000}})"));
  EXPECT_TRUE(bad(*kDebezium, R"({"op":"c","after":{"ts3":1.5}})"));
  EXPECT_TRUE(bad(*kDebezium, R"({"op":"c","after":{"ts3":9223372036854775808}})"));
  EXPECT_TRUE(bad(*kOgg, R"({"op_type":"I","after":{"ts3":1}})"));
}

TEST(Changelog, ABatchOfInsertsHasNoKinds) {
  const DecodedRows rows =
      Decode(*kMaxwell, testing::AllOf(TwoColumns()), {}, R"({"type":"insert","data":{"v":1}})");
  EXPECT_EQ(rows.rows.row_kinds(), nullptr);
}

TEST(Changelog, ReadsOnlyTheProjectedColumns) {
  ReadSchema schema;
  schema.physical = TwoColumns();
  const std::string text = R"({"type":"UPDATE","data":[{"k":"a","v":"bad"}],"old":[{"k":"b"}]})";
  EXPECT_EQ(Decode(*kCanal, schema, {}, text).rows.row_count(), 2);
  schema.projection = {0};
  EXPECT_THAT(Changes(Decode(*kCanal, schema, {}, text).rows), ElementsAre("-U b", "+U a"));
}

/// All metadata columns behind column v.
std::vector<std::string> WithMetadata(const Format& format, OptionMap options,
                                      std::string_view text) {
  ReadSchema schema;
  schema.physical = TwoColumns();
  schema.projection = {1};
  schema.metadata = format.metadata();
  const DecodedRows rows = Decode(format, schema, std::move(options), text);
  EXPECT_EQ(FirstBad(rows), "");
  return Changes(rows.rows);
}

TEST(ChangelogMetadata, Debezium) {
  const std::string payload =
      R"({"before":{"v":1},"after":{"v":2},"source":{"version":"1","ts_ms":1589978096000,)"
      R"("db":"shop","schema":"s","table":"orders","snapshot":false,"gtid":null,"pos":[1, 2]},)"
      R"("op":"u","ts_ms":1589978097000})";
  const std::string tail =
      "|2020-05-20 12:34:57.000Z|2020-05-20 12:34:56.000Z|shop|s|orders|{version=1, "
      "ts_ms=1589978096000, db=shop, schema=s, table=orders, snapshot=false, gtid=NULL, pos=[1,2]}";
  EXPECT_THAT(WithMetadata(*kDebezium, {}, payload),
              ElementsAre("-U 1|NULL" + tail, "+U 2|NULL" + tail));
  EXPECT_THAT(WithMetadata(*kDebezium, {{"schema-include", "true"}},
                           R"({"payload":)" + payload + R"(,"schema":{"type": "struct"}})"),
              ElementsAre(R"(-U 1|{"type":"struct"})" + tail, R"(+U 2|{"type":"struct"})" + tail));
  EXPECT_THAT(WithMetadata(*kDebezium, {}, R"({"op":"c","after":{"v":1},"source":null})"),
              ElementsAre("+I 1|NULL|NULL|NULL|NULL|NULL|NULL|NULL"));
}

TEST(ChangelogMetadata, Canal) {
  EXPECT_THAT(
      WithMetadata(*kCanal, {},
                   R"({"data":[{"v":"1"},{"v":"2"}],"type":"INSERT","database":"d","table":"t",)"
                   R"("sqlType":{"v":4,"k":12},"pkNames":["k"],"ts":1589373560798,)"
                   R"("es":1589373560000})"),
      ElementsAre("+I 1|d|t|{v=4, k=12}|[k]|2020-05-13 12:39:20.798Z|2020-05-13 12:39:20.000Z",
                  "+I 2|d|t|{v=4, k=12}|[k]|2020-05-13 12:39:20.798Z|2020-05-13 12:39:20.000Z"));
}

TEST(ChangelogMetadata, Maxwell) {
  EXPECT_THAT(WithMetadata(*kMaxwell, {},
                           R"({"type":"insert","data":{"v":1},"database":"d","table":"t",)"
                           R"("ts":1589373560,"primary_key_columns":["k","v"]})"),
              ElementsAre("+I 1|d|t|[k, v]|2020-05-13 12:39:20.000Z"));
  ReadSchema schema;
  schema.physical = TwoColumns();
  schema.metadata = kMaxwell->metadata();
  EXPECT_THAT(FirstBad(Decode(*kMaxwell, schema, {},
                              R"({"type":"insert","data":{},"ts":9223372036854775807})")),
              HasSubstr("The seconds of 'ingestion-timestamp' are out of range."));
}

TEST(ChangelogMetadata, Ogg) {
  EXPECT_THAT(WithMetadata(*kOgg, {},
                           R"({"op_type":"I","after":{"v":1},"table":"T","primary_keys":["K"],)"
                           R"("current_ts":"2020-05-13T15:40:07.000001",)"
                           R"("op_ts":"2020-05-13 15:40:06.5"})"),
              ElementsAre("+I 1|T|[K]|2020-05-13 15:40:07.000001Z|2020-05-13 15:40:06.500000Z"));
}

TEST(ChangelogMetadata, ABadValueFailsOrIsNull) {
  ReadSchema schema;
  schema.physical = TwoColumns();
  schema.projection = {1};
  schema.metadata = Schema({{"ingestion-timestamp", SqlType::TimestampLtz(3)}});
  const std::string text = R"({"op":"c","after":{"v":1},"ts_ms":"soon"})";
  const DecodedRows strict = Decode(*kDebezium, schema, {}, text);
  EXPECT_TRUE(strict.failed);
  EXPECT_EQ(strict.bad[0].column, "ingestion-timestamp");
  EXPECT_THAT(Changes(Decode(*kDebezium, schema, kIgnore, text).rows), ElementsAre("+I 1|NULL"));
}

// 498, -498, 1 and 10^38 - 1 as Kafka Connect's converter writes their bytes.
constexpr char kBytes[] =
    R"({"op":"u","before":{"d":"AfI=","r":{"a":["/g4=",null]},"m":{"k":"AQ=="}},)"
    R"("after":{"d":"SztMqFqGxHoJiiI//////w==","r":null,"m":null}})";

Schema Decimals() {
  const SqlType d = SqlType::Decimal(38, 2);
  return Schema({{"d", SqlType::Decimal(38, 0)},
                 {"r", SqlType::Row({{"a", SqlType::Array(d)}})},
                 {"m", SqlType::Map(SqlType::String(), d)}});
}

TEST(DebeziumDecimals, BytesHaveTheScaleOfTheColumn) {
  const OptionMap precise = {{"decimal.handling.mode", "precise"}};
  EXPECT_THAT(Changes(Decode(*kDebezium, testing::AllOf(Decimals()), precise, kBytes).rows),
              ElementsAre("-U 498|([-4.98, NULL])|{k=0.01}",
                          "+U 99999999999999999999999999999999999999|NULL|NULL"));
  // Numbers stay numbers, and those that tell their scale are taken by it.
  EXPECT_THAT(Changes(Decode(*kDebezium, testing::AllOf(Decimals()), precise,
                             R"({"op":"c","after":{"d":7,"r":{"a":[0.5,)"
                             R"({"scale":3,"value":"AfI="},{"value":"AfI=","scale":-1}]},)"
                             R"("m":{"k":{"scale":0,"value":"AA=="}}}})")
                          .rows),
              ElementsAre("+I 7|([0.50, 0.50, 4980.00])|{k=0.00}"));
}

TEST(DebeziumDecimals, TheSchemaTellsWhatATextIs) {
  const auto message = [](std::string_view schema) {
    return R"({"schema":{"type":"struct","fields":[{"type":"struct","fields":[)" +
           std::string(schema) + R"(],"field":"before"},{"type":"string","field":"op"}]},)" +
           R"("payload":{"op":"c","after":{"d":"1234"}}})";
  };
  const auto bytes = [](std::string_view scale) {
    return R"({"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","version":1,)"
           R"("parameters":{"scale":")" +
           std::string(scale) + R"("},"field":"d"})";
  };
  ReadSchema schema = testing::AllOf(Schema({{"d", SqlType::Decimal(20, 4)}}));
  // The last one says nothing of the field: the option holds.
  const std::string text = message(R"({"type":"string","field":"d"})") + "\n" +
                           message(bytes("2")) + "\n" + message(bytes("0")) + "\n" +
                           message(bytes("-1")) + "\n" + message("");
  EXPECT_THAT(Changes(Decode(*kDebezium, schema, {{"schema-include", "true"}}, text).rows),
              ElementsAre("+I 1234.0000", "+I -26588.2400", "+I -2658824.0000", "+I -26588240.0000",
                          "+I 1234.0000"));
  const OptionMap both = {{"schema-include", "true"}, {"decimal.handling.mode", "precise"}};
  EXPECT_THAT(Changes(Decode(*kDebezium, schema, both, text).rows),
              ElementsAre("+I 1234.0000", "+I -26588.2400", "+I -2658824.0000", "+I -26588240.0000",
                          "+I -265.8824"));
}

// What a number counts is what the schema says, whatever precision the table has.
TEST(Changelog, TheSchemaTellsWhatATimeCounts) {
  const auto rows_of = [](const SqlType& type, std::string_view name, std::string_view value) {
    const std::string text =
        R"({"schema":{"fields":[{"fields":[{"type":"int64","name":")" + std::string(name) +
        R"(","field":"t"}],"field":"after"}]},"payload":{"op":"c","after":{"t":)" +
        std::string(value) + "}}}";
    const DecodedRows rows = Decode(*kDebezium, testing::AllOf(Schema({{"t", type}})),
                                    {{"schema-include", "true"}}, text);
    return rows.failed ? std::string("bad") : testing::RenderRows(rows.rows).at(0);
  };
  for (const int precision : {0, 3, 6, 9}) {
    const std::string whole =
        precision == 9 ? "2020-05-20 12:34:56.789012345" : "2020-05-20 12:34:56.789012";
    const std::string cut = precision == 0   ? "2020-05-20 12:34:56.000"
                            : precision == 3 ? "2020-05-20 12:34:56.789"
                                             : whole;
    const SqlType type = SqlType::Timestamp(precision);
    EXPECT_EQ(rows_of(type, "io.debezium.time.NanoTimestamp", "1589978096789012345"), cut);
    EXPECT_EQ(rows_of(type, "io.debezium.time.MicroTimestamp", "1589978096789012").substr(0, 23),
              cut.substr(0, 23));
    for (const char* millis :
         {"io.debezium.time.Timestamp", "org.apache.kafka.connect.data.Timestamp"}) {
      EXPECT_EQ(rows_of(type, millis, "1589978096789").substr(0, 23), cut.substr(0, 23));
      EXPECT_EQ(rows_of(type, millis, "-1").substr(0, 19), "1969-12-31 23:59:59");
    }
  }
  EXPECT_EQ(rows_of(SqlType::TimestampLtz(3), "io.debezium.time.MicroTimestamp", "-1"),
            "1969-12-31 23:59:59.999Z");
  EXPECT_EQ(rows_of(SqlType::Timestamp(9), "io.debezium.time.Timestamp", "9223372036854775"),
            "bad");
  for (const auto& [name, value] : {std::pair("io.debezium.time.Time", "45296789"),
                                    std::pair("io.debezium.time.MicroTime", "45296789012"),
                                    std::pair("io.debezium.time.NanoTime", "45296789012345"),
                                    std::pair("org.apache.kafka.connect.data.Time", "45296789")}) {
    EXPECT_EQ(rows_of(SqlType::Time(3), name, value), "12:34:56.789");
    EXPECT_EQ(rows_of(SqlType::Time(3), name, "86400000000000"), "bad");
  }
}

TEST(DebeziumDecimals, WhatIsNoneIsBad) {
  ReadSchema schema = testing::AllOf(Schema({{"d", SqlType::Decimal(4, 2)}}));
  EXPECT_THAT(FirstBad(Decode(*kDebezium, schema, {}, R"({"op":"c","after":{"d":"AfI="}})")),
              HasSubstr("If it is Base64, set 'debezium-json.decimal.handling.mode' = 'precise'"));
  const OptionMap precise = {{"decimal.handling.mode", "precise"}, {"ignore-parse-errors", "true"}};
  for (const char* value : {R"("")", R"("4.98")", R"({"scale":1})", R"({"value":"AfI="})", R"([1])",
                            R"({"scale":"1","value":"AfI="})", R"({"scale":1,"value":""})",
                            R"("AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyAh")"}) {
    const DecodedRows rows = Decode(*kDebezium, schema, precise,
                                    R"({"op":"c","after":{"d":)" + std::string(value) + "}}");
    EXPECT_THAT(Changes(rows.rows), ElementsAre("+I NULL")) << value;
    EXPECT_NE(FirstBad(rows), "") << value;
  }
  // Too many digits are NULL, as in a text; digits behind the scale are rounded.
  EXPECT_THAT(Changes(Decode(*kDebezium, schema, precise,
                             R"({"op":"c","after":{"d":"J3E="}})"
                             "\n"
                             R"({"op":"c","after":{"d":{"scale":3,"value":"AWU="}}})")
                          .rows),
              ElementsAre("+I NULL", "+I 0.36"));
}

/// All four kinds, each with the row (kind text, number).
Batch FourKinds() {
  const Schema schema({{"k", SqlType::String()}, {"v", SqlType::Int()}});
  const DecodedRows rows = Decode(*kDebezium, testing::AllOf(schema), {},
                                  R"({"op":"c","after":{"k":"i","v":1}})"
                                  "\n"
                                  R"({"op":"u","before":{"k":"ub","v":2},"after":{"k":"ua"}})"
                                  "\n"
                                  R"({"op":"d","before":{"k":"d","v":4}})");
  return rows.rows;
}

std::string Encode(const Format& format, OptionMap options) {
  auto encoder =
      format.make_encoder(Options(format, std::move(options)), TwoColumns(), Framing::kFile, {});
  EXPECT_TRUE(encoder.ok()) << encoder.status().ToString();
  std::string text;
  EXPECT_TRUE((*encoder)->Encode(FourKinds(), &text, nullptr).ok());
  return text;
}

TEST(ChangelogEncoder, WritesAsFlinkDoes) {
  EXPECT_EQ(Encode(*kDebezium, {}), R"({"before":null,"after":{"k":"i","v":1},"op":"c"})"
                                    "\n"
                                    R"({"before":{"k":"ub","v":2},"after":null,"op":"d"})"
                                    "\n"
                                    R"({"before":null,"after":{"k":"ua","v":null},"op":"c"})"
                                    "\n"
                                    R"({"before":{"k":"d","v":4},"after":null,"op":"d"})"
                                    "\n");
  EXPECT_EQ(Encode(*kDebezium, {{"encode.ignore-null-fields", "true"}}),
            R"({"after":{"k":"i","v":1},"op":"c"})"
            "\n"
            R"({"before":{"k":"ub","v":2},"op":"d"})"
            "\n"
            R"({"after":{"k":"ua"},"op":"c"})"
            "\n"
            R"({"before":{"k":"d","v":4},"op":"d"})"
            "\n");
  EXPECT_EQ(Encode(*kCanal, {}), R"({"data":[{"k":"i","v":1}],"type":"INSERT"})"
                                 "\n"
                                 R"({"data":[{"k":"ub","v":2}],"type":"DELETE"})"
                                 "\n"
                                 R"({"data":[{"k":"ua","v":null}],"type":"INSERT"})"
                                 "\n"
                                 R"({"data":[{"k":"d","v":4}],"type":"DELETE"})"
                                 "\n");
  EXPECT_EQ(Encode(*kMaxwell, {{"encode.ignore-null-fields", "true"}}),
            R"({"data":{"k":"i","v":1},"type":"insert"})"
            "\n"
            R"({"data":{"k":"ub","v":2},"type":"delete"})"
            "\n"
            R"({"data":{"k":"ua"},"type":"insert"})"
            "\n"
            R"({"data":{"k":"d","v":4},"type":"delete"})"
            "\n");
  EXPECT_EQ(Encode(*kOgg, {}), R"({"before":null,"after":{"k":"i","v":1},"op_type":"I"})"
                               "\n"
                               R"({"before":{"k":"ub","v":2},"after":null,"op_type":"D"})"
                               "\n"
                               R"({"before":null,"after":{"k":"ua","v":null},"op_type":"I"})"
                               "\n"
                               R"({"before":{"k":"d","v":4},"after":null,"op_type":"D"})"
                               "\n");
}

TEST(ChangelogEncoder, MessagesHaveNoLineEnds) {
  auto encoder = kOgg->make_encoder(Options(*kOgg, {}), TwoColumns(), Framing::kMessage, {});
  std::string text;
  std::vector<size_t> ends;
  ASSERT_TRUE((*encoder)->Encode(FourKinds(), &text, &ends).ok());
  EXPECT_EQ(ends.size(), 4u);
  EXPECT_EQ(ends.back(), text.size());
  EXPECT_EQ(text.find('\n'), std::string::npos);
}

Status Validate(const Format& format, OptionMap options, Direction direction = Direction::kRead,
                const Schema& schema = TwoColumns()) {
  const FormatOptions prefixed = Options(format, std::move(options));
  SLUICE_RETURN_NOT_OK(ValidateFormatOptions(format, prefixed));
  return format.validate(prefixed, schema, direction);
}

TEST(ChangelogOptions, AreChecked) {
  EXPECT_TRUE(Validate(*kDebezium, {{"schema-include", "TRUE"},
                                    {"ignore-parse-errors", "true"},
                                    {"timestamp-format.standard", "ISO-8601"},
                                    {"map-null-key.mode", "literal"},
                                    {"map-null-key.literal", "nil"},
                                    {"encode.decimal-as-plain-number", "true"},
                                    {"encode.ignore-null-fields", "true"}})
                  .ok());
  const auto refused = [](const Format& format, OptionMap options, std::string_view words,
                          Direction direction = Direction::kRead) {
    EXPECT_THAT(Validate(format, std::move(options), direction).message(),
                HasSubstr(std::string(words)));
  };
  refused(*kDebezium, {{"schema-include", "true"}},
          "Debezium JSON serialization doesn't support 'debezium-json.schema-include' option been "
          "set to true.",
          Direction::kWrite);
  refused(*kDebezium, {{"schema-include", "maybe"}}, "debezium-json.schema-include");
  refused(*kDebezium, {{"skipped-operations", "t,u"}},
          "'debezium-json.skipped-operations' = 't,u' must be t, m or both");
  refused(*kDebezium, {{"decimal.handling.mode", "exact"}}, "debezium-json.decimal.handling.mode");
  refused(*kCanal, {{"table.includes", "x"}}, "canal-json.table.include");
  refused(*kCanal, {{"schema-include", "true"}}, "canal-json.schema-include");
  refused(*kCanal, {{"table.include", "(x"}},
          "Option 'canal-json.table.include' = '(x' is no regular expression: ");
  refused(*kMaxwell, {{"fail-on-missing-field", "true"}}, "maxwell-json.fail-on-missing-field");
  refused(*kOgg, {{"timestamp-format.standard", "sql"}},
          "Unsupported value 'sql' for timestamp-format.standard. Supported values are [SQL, "
          "ISO-8601].");
  refused(*kOgg, {{"map-null-key.mode", "keep"}},
          "Unsupported value 'keep' for option map-null-key.mode. Supported values are [LITERAL, "
          "FAIL, DROP].");
}

TEST(ChangelogOptions, RefuseTypesThatJsonCannotHold) {
  const Schema schema({{"m", SqlType::Map(SqlType::Int(), SqlType::Int())}});
  EXPECT_THAT(Validate(*kOgg, {}, Direction::kRead, schema).message(),
              HasSubstr("JSON format doesn't support non-string as key type of map."));
}

}  // namespace
}  // namespace sluice::formats
