#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/json/json_format.h"
#include "formats/testing/render.h"

namespace sluice::formats {
namespace {

using testing::AllOf;
using ::testing::ElementsAre;
using testing::FirstBad;
using ::testing::HasSubstr;
using testing::Options;
using testing::RenderRows;

std::unique_ptr<RowDecoder> Decoder(const ReadSchema& schema, OptionMap options) {
  auto decoder = kJsonFormat.make_decoder(Options(kJsonFormat, std::move(options)), schema, {});
  EXPECT_TRUE(decoder.ok()) << decoder.status().ToString();
  return std::move(*decoder);
}

DecodedRows Decode(Schema schema, OptionMap options, std::string_view text) {
  auto rows = Decoder(AllOf(std::move(schema)), std::move(options))->DecodeChunk(text, true);
  EXPECT_TRUE(rows.ok()) << rows.status().ToString();
  EXPECT_TRUE(rows->rows.rows()->ValidateFull().ok());
  return std::move(*rows);
}

const OptionMap kIgnore = {{"ignore-parse-errors", "true"}};

struct Case {
  const char* name;
  OptionMap options;
  std::string text;
  std::vector<std::string> rows;
  std::string bad = "";
};

class JsonRecords : public ::testing::TestWithParam<Case> {};

TEST_P(JsonRecords, TwoColumnTable) {
  const Case& c = GetParam();
  const DecodedRows decoded =
      Decode(Schema({{"a", SqlType::Int()}, {"b", SqlType::String()}}), c.options, c.text);
  EXPECT_EQ(RenderRows(decoded.rows), c.rows);
  if (c.bad.empty()) {
    EXPECT_EQ(FirstBad(decoded), "");
  } else {
    EXPECT_THAT(FirstBad(decoded), HasSubstr(c.bad));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, JsonRecords,
    ::testing::Values(
        Case{"plain", {}, "{\"a\":1,\"b\":\"x\"}\n{\"a\":2,\"b\":\"y\"}\n", {"1|x", "2|y"}},
        Case{"last_line_open", {}, "{\"a\":1}\n{\"a\":2}", {"1|NULL", "2|NULL"}},
        Case{"spaces", {}, " { \"a\" : 1 , \"b\" : \"x\" } \r\n{}\n", {"1|x", "NULL|NULL"}},
        Case{"blank_lines", {}, "\n  \n{\"a\":1}\r\n\n", {"1|NULL"}},
        Case{"byte_order_mark", {}, "\xEF\xBB\xBF{\"a\":1}", {"1|NULL"}},
        Case{"byte_order_mark_once",
             kIgnore,
             "{\"a\":1}\n\xEF\xBB\xBF{\"a\":2}\n",
             {"1|NULL"},
             "1:"},
        Case{"utf16_mark", kIgnore, "\xFF\xFE{\"a\":1}", {}, "the byte order mark of UTF-16LE"},
        Case{"utf32_mark",
             {},
             std::string("\xFF\xFE\0\0{\0\0\0", 8),
             {},
             "the byte order mark of UTF-32LE"},
        Case{"order_and_unknown",
             {},
             "{\"z\":{\"a\":5,\"y\":[1,{}]},\"b\":\"x\",\"a\":1}\n{\"b\":\"y\",\"a\":2}\n{\"a\":3}"
             "\n",
             {"1|x", "2|y", "3|NULL"}},
        Case{"last_of_repeated_wins", {}, "{\"a\":1,\"a\":2,\"b\":\"x\",\"b\":null}", {"2|NULL"}},
        Case{"escaped_name", {}, "{\"\\u0061\":1}", {"1|NULL"}},
        Case{"names_are_case_sensitive", {}, "{\"A\":1}", {"NULL|NULL"}},
        Case{"escapes",
             {},
             "{\"b\":\"q\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00\"}",
             {"NULL|q\"\\/\b\f\n\r\té😀"}},
        Case{"half_surrogates",
             {},
             "{\"b\":\"\\ud83dx\\ude00\"}",
             {"NULL|\xEF\xBF\xBDx\xEF\xBF\xBD"}},
        Case{"control_characters", {}, "{\"b\":\"tab\tand\x01\"}", {"NULL|tab\tand\x01"}},
        Case{"array_of_objects",
             {},
             "[{\"a\":1},{\"a\":2}]\n[]\n{\"a\":3}",
             {"1|NULL", "2|NULL", "3|NULL"}},
        Case{"source_text",
             {},
             "{\"b\":1.50}\n{\"b\":1e3}\n{\"b\":true}\n{\"b\": [1, {\"x\" : \" y\"}]}",
             {"NULL|1.50", "NULL|1e3", "NULL|true", "NULL|[1,{\"x\":\" y\"}]"}},
        Case{"int_from",
             {},
             "{\"a\":\" 5 \"}\n{\"a\":112.9}\n{\"a\":-0.5}\n{\"a\":1e3}\n{\"a\":-2147483648}",
             {"5|NULL", "112|NULL", "0|NULL", "1000|NULL", "-2147483648|NULL"}},
        Case{"int_too_large",
             {},
             "{\"a\":1}\n{\"a\":2147483648}",
             {"1|NULL"},
             "1:a: Failed to deserialize JSON '{\"a\":2147483648}'. Fail to deserialize at field: "
             "a. Value out of range"},
        Case{"int_from_words",
             kIgnore,
             "{\"a\":true}\n{\"a\":\"x\"}\n{\"a\":[1]}\n{\"a\":{}}",
             {"NULL|NULL", "NULL|NULL", "NULL|NULL", "NULL|NULL"},
             "A boolean is not accepted"},
        Case{"object_for_scalar_is_skipped_whole",
             kIgnore,
             "{\"a\":{\"b\":\"inner\"},\"b\":\"outer\"}",
             {"NULL|outer"},
             "An object is not accepted"},
        Case{"garbage_behind",
             {},
             "{\"a\":1}garbage\n",
             {},
             "Unexpected text behind the JSON value: \"garbage\""},
        Case{"garbage_behind_dropped",
             kIgnore,
             "{\"a\":1} x\n{\"a\":2}\n",
             {"2|NULL"},
             "Unexpected text"},
        Case{"cut",
             {},
             "{\"a\":1}\n{\"a\":2,\"b\":\"x",
             {"1|NULL"},
             "1:: Failed to deserialize JSON '{\"a\":2,\"b\":\"x'. A string is not closed: the "
             "record ends too early, at byte"},
        Case{"cut_is_dropped",
             kIgnore,
             "{\"a\":2,\"b\":\"x\n{\"a\":3}",
             {"3|NULL"},
             "A string is not closed"},
        Case{"top_level_null", {}, "null", {}, "Expected an object or an array of objects"},
        Case{"top_level_number", kIgnore, "12\n{\"a\":3}", {"3|NULL"}, "Expected an object"},
        Case{"top_level_array_of_numbers",
             kIgnore,
             "[1,{\"a\":3}]",
             {"3|NULL"},
             "Expected an object"},
        Case{"single_quotes", {}, "{'a':1}", {}, "Unexpected character (''' (code 39)) at byte 1"},
        Case{"trailing_comma",
             {},
             "{\"a\":1,}",
             {},
             "Unexpected character ('}' (code 125)) at byte 7"},
        Case{"leading_zero", {}, "{\"a\":01}", {}, "A number is not written as JSON asks"},
        Case{"bare_nan", {}, "{\"a\":NaN}", {}, "Unexpected character ('N' (code 78))"},
        Case{"comment", {}, "{\"a\":1/*x*/}", {}, "Unexpected character ('/'"},
        Case{"bad_escape", {}, "{\"b\":\"\\x\"}", {}, "an escape that JSON does not know"},
        Case{"not_utf8",
             {},
             "{\"a\":1}\n{\"b\":\"\xFF\"}",
             {"1|NULL"},
             "not UTF-8. Set 'json.ignore-parse-errors'"},
        Case{"not_utf8_dropped",
             kIgnore,
             "{\"b\":\"\xFF\"}\n{\"b\":\"ü\"}",
             {"NULL|ü"},
             "not UTF-8"},
        Case{"missing_field",
             {{"fail-on-missing-field", "true"}},
             "{\"a\":1,\"b\":null}\n{\"a\":1}",
             {"1|NULL"},
             "Some field is missing in the JSON data. Could not find field with name 'b'"},
        Case{"too_deep",
             {{"decode.max-depth", "3"}},
             "{\"z\":[[1]]}\n{\"z\":[[[1]]]}",
             {"NULL|NULL"},
             "'json.decode.max-depth' is 3"},
        Case{"too_large",
             {{"decode.max-record-size", "20 b"}},
             "{\"a\":1}\n{\"b\":\"xxxxxxxxxxxxxxxxxx\"}",
             {"1|NULL"},
             "json.decode.max-record-size"}),
    [](const auto& info) { return info.param.name; });

TEST(JsonDecoder, ScalarsOfEachType) {
  struct Scalar {
    SqlType type;
    const char* json;
    const char* expected;  // "bad: …" for a reason.
  };
  const Scalar cases[] = {
      {SqlType::Boolean(), "\" TRUE \"", "true"},
      {SqlType::Boolean(), "\"yes\"", "false"},
      {SqlType::Boolean(), "1", "false"},
      {SqlType::Tinyint(), "-128", "-128"},
      {SqlType::Tinyint(), "128", "bad: Value out of range"},
      {SqlType::Smallint(), "\"5\"", "5"},
      {SqlType::Smallint(), "12.0", "bad: For input string"},
      {SqlType::Bigint(), "9223372036854775807", "9223372036854775807"},
      {SqlType::Bigint(), "9007199254740993.5", "9007199254740993"},
      {SqlType::Bigint(), "9223372036854775808", "bad: Value out of range"},
      {SqlType::Double(), "\"NaN\"", "nan"},
      {SqlType::Double(), "\"-Infinity\"", "-inf"},
      {SqlType::Double(), "1e400", "bad: too large"},
      {SqlType::Double(), "0.1", "0.1"},
      {SqlType::Double(), "123456789012345678901234567890", "1.2345678901234568e+29"},
      {SqlType::Float(), "1e39", "bad: too large"},
      {SqlType::Float(), "16777217", "16777216"},
      {SqlType::Decimal(38, 18), "799.929496989092949698", "799.929496989092949698"},
      {SqlType::Decimal(10, 1), "\" 1 \"", "1.0"},
      {SqlType::Decimal(4, 1), "99999.9", "NULL"},
      {SqlType::Decimal(10, 2), "-1.005", "-1.01"},
      {SqlType::Decimal(10, 2), "1e3", "1000.00"},
      {SqlType::Decimal(10, 2), "\"x\"", "bad: no decimal number"},
      {SqlType::Bytes(), "\"++8=\"", "x'fbef'"},
      {SqlType::Bytes(), "\"\"", "x''"},
      {SqlType::Bytes(), "\"AA\"", "bad: not Base64"},
      {SqlType::Bytes(), "5", "bad: A number is not accepted"},
      {SqlType::Date(), "\"2020-02-29\"", "2020-02-29"},
      {SqlType::Date(), "\"2021-02-30\"", "bad: there is no such day"},
      {SqlType::Date(), "\"2021-2-3\"", "bad: expected a date"},
      {SqlType::Date(), "18262", "bad: A number is not accepted"},
      {SqlType::Time(3), "\"10:00:00.1239\"", "10:00:00.123"},
      {SqlType::Time(0), "\"10:00:00.9\"", "10:00:00.000"},
      {SqlType::Time(3), "\"24:00:00\"", "00:00:00.000"},
      {SqlType::Time(3), "\"10:00\"", "bad: seconds are required"},
      {SqlType::Timestamp(3), "\"2021-02-30 13:27:27.3850848\"", "2021-02-28 13:27:27.385"},
      {SqlType::Timestamp(9), "\"1969-12-31 23:59:59.1234567899\"",
       "1969-12-31 23:59:59.123456789"},
      {SqlType::Timestamp(6), "\"0001-01-01 00:00:00.000001\"", "0001-01-01 00:00:00.000001"},
      {SqlType::Timestamp(3), "\"+12021-01-01 00:00:00\"", "12021-01-01 00:00:00.000"},
      {SqlType::Timestamp(3), "\"0000-00-00 00:00:00\"", "bad: there is no such day"},
      {SqlType::Timestamp(3), "1577872800000",
       "bad: Declare the column as BIGINT and use TO_TIMESTAMP_LTZ"},
      {SqlType::TimestampLtz(3), "\"2020-01-01 10:00:00.5Z\"", "2020-01-01 10:00:00.500Z"},
      {SqlType::TimestampLtz(3), "\"2020-01-01 10:00:00+01:00\"", "bad: needs a final Z"},
      {SqlType::Array(SqlType::Int()), "[1,\"2\",null]", "[1, 2, NULL]"},
      {SqlType::Array(SqlType::Int()), "{}", "bad: An object is not accepted"},
      {SqlType::Map(SqlType::String(), SqlType::Int()), "{\"a\":1,\"b\":null}", "{a=1, b=NULL}"},
      {SqlType::Map(SqlType::String(), SqlType::Int()), "{\"a\":1,\"b\":2,\"a\":3}", "{b=2, a=3}"},
      {SqlType::Map(SqlType::String(), SqlType::Int()), "[]", "bad: An array is not accepted"},
      {SqlType::Multiset(SqlType::String()), "{\"a\":2}", "{a=2}"},
      {SqlType::Row({{"x", SqlType::Int()}, {"y", SqlType::Array(SqlType::String())}}),
       "{\"y\":[\"q\"],\"x\":7,\"x\":8}", "(8, [q])"},
      {SqlType::Row({{"x", SqlType::Int()}}), "{}", "(NULL)"},
      {SqlType::Row({{"x", SqlType::Int()}}), "\"\"", "bad: not usable"},
  };
  for (const Scalar& c : cases) {
    const std::string text = std::string("{\"c\":") + c.json + "}";
    const DecodedRows decoded = Decode(Schema({{"c", c.type}}), {}, text);
    const std::string expected = c.expected;
    if (!expected.starts_with("bad: ")) {
      EXPECT_THAT(RenderRows(decoded.rows), ElementsAre(expected))
          << text << " " << FirstBad(decoded);
      continue;
    }
    EXPECT_TRUE(decoded.failed) << text;
    EXPECT_THAT(FirstBad(decoded), HasSubstr(expected.substr(5))) << text;
    const DecodedRows ignored = Decode(Schema({{"c", c.type}}), kIgnore, text);
    EXPECT_THAT(RenderRows(ignored.rows), ElementsAre("NULL")) << text;
    EXPECT_EQ(ignored.bad_count, 1) << text;
    EXPECT_TRUE(ignored.bad[0].field_only) << text;
  }
}

TEST(JsonDecoder, IsoTimestamps) {
  const Schema schema({{"t", SqlType::Timestamp(3)}, {"l", SqlType::TimestampLtz(3)}});
  for (const char* standard : {"ISO-8601", "ISO-8601-WITH-OFFSET"}) {
    const DecodedRows decoded =
        Decode(schema, {{"timestamp-format.standard", standard}},
               "{\"t\":\"2026-06-25T09:15\",\"l\":\"2026-06-25T09:15:00+02:00\"}\n"
               "{\"t\":\"2026-06-25T09:15:00.5\",\"l\":\"2026-06-25T07:15Z\"}\n"
               "{\"l\":\"2026-06-25T07:15:00.25-0130\"}\n");
    EXPECT_EQ(FirstBad(decoded), "");
    EXPECT_THAT(RenderRows(decoded.rows),
                ElementsAre("2026-06-25 09:15:00.000|2026-06-25 07:15:00.000Z",
                            "2026-06-25 09:15:00.500|2026-06-25 07:15:00.000Z",
                            "NULL|2026-06-25 08:45:00.250Z"));
  }
  const OptionMap iso = {{"timestamp-format.standard", "ISO-8601"}};
  EXPECT_THAT(FirstBad(Decode(schema, iso, "{\"t\":\"2026-06-25T09:15:00Z\"}")),
              HasSubstr("TIMESTAMP takes no Z and no offset"));
  EXPECT_THAT(FirstBad(Decode(schema, iso, "{\"t\":\"2026-02-30T09:15:00\"}")),
              HasSubstr("there is no such day"));
  EXPECT_THAT(FirstBad(Decode(schema, iso, "{\"l\":\"2026-06-25T09:15:00\"}")),
              HasSubstr("needs a final Z or an offset"));
}

TEST(JsonDecoder, NestedErrorsBecomeNullOneByOne) {
  const Schema schema(
      {{"a", SqlType::Array(SqlType::Int())},
       {"m", SqlType::Map(SqlType::String(), SqlType::Double())},
       {"r",
        SqlType::Row({{"x", SqlType::Row({{"y", SqlType::Int()}, {"z", SqlType::String()}})}})}});
  const DecodedRows decoded = Decode(
      schema, kIgnore,
      "{\"a\":[1,\"z\",3],\"m\":{\"k\":\"v\",\"l\":2},\"r\":{\"x\":{\"y\":[],\"z\":\"s\"}}}");
  EXPECT_THAT(RenderRows(decoded.rows), ElementsAre("[1, NULL, 3]|{k=NULL, l=2}|((NULL, s))"));
  EXPECT_EQ(decoded.bad_count, 3);
  EXPECT_EQ(decoded.bad[2].column, "r.x.y");
}

// A record that breaks late leaves nothing behind in any column, however deep.
TEST(JsonDecoder, BadRecordsAreRolledBack) {
  const SqlType inner =
      SqlType::Row({{"p", SqlType::Int()}, {"q", SqlType::Array(SqlType::String())}});
  const Schema schema({{"a", SqlType::Array(inner)},
                       {"m", SqlType::Map(SqlType::String(), inner)},
                       {"s", SqlType::String()}});
  const std::string good =
      "{\"a\":[{\"p\":1,\"q\":[\"x\",\"y\"]}],\"m\":{\"k\":{\"p\":2,\"q\":null}},\"s\":\"t\"}";
  std::string text = good + "\n";
  for (size_t cut = 1; cut < good.size(); ++cut) text += good.substr(0, cut) + "\n";
  text += good + "\n";
  const DecodedRows decoded = Decode(schema, kIgnore, text);
  const std::string row = "[(1, [x, y])]|{k=(2, NULL)}|t";
  EXPECT_THAT(RenderRows(decoded.rows), ElementsAre(row, row));
  EXPECT_EQ(decoded.bad_count, static_cast<int64_t>(good.size()) - 1);
  EXPECT_THAT(decoded.record_of_row, ElementsAre(0, static_cast<int32_t>(good.size())));
}

TEST(JsonDecoder, ReadsRecordsOfManyMegabytes) {
  const std::string big(10 << 20, 'x');
  const DecodedRows decoded = Decode(Schema({{"b", SqlType::String()}}), {},
                                     "{\"b\":\"1\"}\n{\"b\":\"" + big + "\"}\n{\"b\":\"3\"}\n");
  ASSERT_EQ(decoded.rows.row_count(), 3);
  EXPECT_EQ(testing::RenderRow(*decoded.rows.rows(), 1), big);
}

TEST(JsonDecoder, DeepNestingIsAnErrorNotACrash) {
  const std::string open(500'000, '[');
  const DecodedRows decoded =
      Decode(Schema({{"b", SqlType::String()}}), {}, "{\"b\":" + open + "}");
  EXPECT_THAT(FirstBad(decoded), HasSubstr("nested too deeply"));
}

TEST(JsonDecoder, MessagesKeepTheirNumbers) {
  const std::vector<std::string_view> messages = {"{\"id\":1}", std::string_view(),
                                                  "[{\"id\":2},{\"id\":3}]", "", "{\"id\":\n4}"};
  const auto rows =
      Decoder(AllOf(Schema({{"id", SqlType::Int()}})), kIgnore)->DecodeMessages(messages);
  EXPECT_THAT(RenderRows(rows->rows), ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(rows->record_of_row, ElementsAre(0, 2, 2, 4));
  EXPECT_EQ(rows->record_count, 5);
  EXPECT_EQ(rows->bad_count, 1);
  EXPECT_EQ(rows->bad[0].record, 3);
}

TEST(JsonDecoder, ProjectionAndCounting) {
  ReadSchema schema =
      AllOf(Schema({{"a", SqlType::Int()}, {"b", SqlType::String()}, {"c", SqlType::Int()}}));
  schema.projection = {2, 0};
  const std::string text = "{\"a\":1,\"b\":[],\"c\":3}\n{\"a\":4}\n";
  EXPECT_THAT(RenderRows(Decoder(schema, {})->DecodeChunk(text, true)->rows),
              ElementsAre("3|1", "NULL|4"));
  schema.projection = {};
  EXPECT_EQ(Decoder(schema, {})->DecodeChunk(text, true)->rows.row_count(), 2);
  const auto missing =
      Decoder(schema, {{"fail-on-missing-field", "true"}})->DecodeChunk(text, true);
  EXPECT_EQ(missing->rows.row_count(), 1);
  EXPECT_THAT(FirstBad(*missing), HasSubstr("Could not find field with name 'b'"));
}

TEST(JsonOptions, AreChecked) {
  struct Bad {
    OptionMap options;
    const char* message;
  };
  const Bad cases[] = {
      {{{"timestamp-format.standard", "sql"}},
       "Unsupported value 'sql' for timestamp-format.standard. Supported values are [SQL, "
       "ISO-8601]."},
      {{{"decode.max-record-size", "0"}},
       "Option 'json.decode.max-record-size' must be at least 1 byte, but was: 0"},
      {{{"map-null-key.mode", "foo"}},
       "Unsupported value 'foo' for option map-null-key.mode. Supported values are [LITERAL, FAIL, "
       "DROP]."},
      {{{"fail-on-missing-field", "true"}, {"ignore-parse-errors", "true"}},
       "fail-on-missing-field and ignore-parse-errors shouldn't both be true."},
      {{{"ignore-parse-errors", "maybe"}},
       "Could not parse value 'maybe' for key 'json.ignore-parse-errors'"},
      {{{"ignore-parse-error", "true"}}, "Did you mean 'json.ignore-parse-errors'"},
  };
  for (const Bad& c : cases) {
    EXPECT_THAT(ValidateFormatOptions(kJsonFormat, Options(kJsonFormat, c.options)).ToString(),
                HasSubstr(c.message));
  }
  EXPECT_TRUE(
      ValidateFormatOptions(kJsonFormat, Options(kJsonFormat, {{"map-null-key.mode", "drop"}}))
          .ok());
}

}  // namespace
}  // namespace sluice::formats
