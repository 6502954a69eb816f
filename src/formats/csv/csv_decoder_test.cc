#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/csv/csv_format.h"
#include "formats/testing/render.h"

namespace sluice::formats {
namespace {

using testing::AllOf;
using ::testing::ElementsAre;
using testing::FirstBad;
using ::testing::HasSubstr;
using testing::Options;
using testing::RenderRows;

std::unique_ptr<RowDecoder> Decoder(Schema schema, OptionMap options) {
  auto decoder = kCsvFormat.make_decoder(Options(kCsvFormat, std::move(options)),
                                         AllOf(std::move(schema)), {});
  EXPECT_TRUE(decoder.ok()) << decoder.status().ToString();
  return std::move(*decoder);
}

DecodedRows Decode(Schema schema, OptionMap options, std::string_view text,
                   bool first_in_file = true) {
  auto rows = Decoder(std::move(schema), std::move(options))->DecodeChunk(text, first_in_file);
  EXPECT_TRUE(rows.ok()) << rows.status().ToString();
  EXPECT_TRUE(rows->rows.rows()->ValidateFull().ok());
  return std::move(*rows);
}

Schema TwoColumns() { return Schema({{"i", SqlType::Int()}, {"s", SqlType::String()}}); }
Schema ThreeColumns() {
  return Schema({{"i", SqlType::Int()}, {"s", SqlType::String()}, {"d", SqlType::Date()}});
}

struct Case {
  const char* name;
  OptionMap options;
  std::string text;
  std::vector<std::string> rows;
  std::string bad = "";
};

class CsvRecords : public ::testing::TestWithParam<Case> {};

TEST_P(CsvRecords, TwoColumnTable) {
  const Case& c = GetParam();
  const DecodedRows decoded = Decode(TwoColumns(), c.options, c.text);
  EXPECT_EQ(RenderRows(decoded.rows), c.rows);
  if (c.bad.empty()) {
    EXPECT_EQ(FirstBad(decoded), "");
  } else {
    EXPECT_THAT(FirstBad(decoded), HasSubstr(c.bad));
  }
}

const OptionMap kIgnore = {{"ignore-parse-errors", "true"}};

INSTANTIATE_TEST_SUITE_P(
    All, CsvRecords,
    ::testing::Values(
        Case{"plain", {}, "1,a\n2,b\n", {"1|a", "2|b"}},
        Case{"no_last_line_end", {}, "1,a\n2,b", {"1|a", "2|b"}},
        Case{"cr_lf_mixed", {}, "1,a\r\n2,b\r3,c\n4,d\r", {"1|a", "2|b", "3|c", "4|d"}},
        Case{"byte_order_mark",
             {},
             "\xEF\xBB\xBF"
             "1,a\n",
             {"1|a"}},
        Case{"byte_order_mark_before_quotes",
             {},
             "\xEF\xBB\xBF\"1\",\"a\nb\"\n2,c\n",
             {"1|a\nb", "2|c"}},
        Case{"byte_order_mark_once", {}, "1,a\n2,\xEF\xBB\xBF\n", {"1|a", "2|\xEF\xBB\xBF"}},
        Case{"utf16_mark",
             {},
             "\xFF\xFE"
             "1,a\n",
             {},
             "begins with the byte order mark of UTF-16LE"},
        Case{"utf16_mark_with_errors_ignored",
             kIgnore,
             "\xFE\xFF"
             "1,a\n",
             {},
             "begins with the byte order mark of UTF-16BE"},
        Case{"quoted", {}, "1,\"a,b\"\n2,\"c \"\"q\"\"\"\n", {"1|a,b", "2|c \"q\""}},
        Case{"line_break_in_quotes", {}, "1,\"l1\nl2\n\"\n2,x\n", {"1|l1\nl2\n", "2|x"}},
        Case{"quote_inside_is_data", {}, "1,5\" disk\n2, \"e\"\n", {"1|5\" disk", "2| \"e\""}},
        Case{"blank_lines_skipped", {}, "\n1,a\n\n\r\n2,b\n\n", {"1|a", "2|b"}},
        Case{"empty_number_is_null", {}, ",a\n2,\n", {"NULL|a", "2|"}},
        Case{"trailing_comma", {}, "1,a,\n", {"1|a"}},
        Case{"trailing_comma_refused",
             {{"allow-trailing-comma", "false"}},
             "1,a,\n",
             {},
             "Too many entries: expected at most 2"},
        Case{"too_many",
             {},
             "1,a\n2,b,e\n",
             {"1|a"},
             "1:: Too many entries: expected at most 2 (value #2 (1 chars) \"e\")"},
        Case{"too_many_ignored", kIgnore, "1,a\n2,b,e\n3,c\n", {"1|a", "3|c"}, "Too many entries"},
        Case{"too_many_unmappable", {{"ignore-trailing-unmappable", "true"}}, "1,a,b,c\n", {"1|a"}},
        Case{"too_few",
             {},
             "1,a\n2\n",
             {"1|a"},
             "1:: Row length mismatch. 2 fields expected but was 1."},
        Case{"too_few_ignored", kIgnore, "2\n3,c\n", {"2|NULL", "3|c"}, "Row length mismatch"},
        Case{"too_few_dropped",
             {{"ignore-parse-errors", "true"}, {"fail-on-missing-columns", "true"}},
             "2\n3,c\n",
             {"3|c"},
             "Not enough column values: expected 2, found 1"},
        Case{"bad_number",
             {},
             "1,a\nx,b\n3,c\n",
             {"1|a"},
             "1:i: Fail to deserialize at field: i. For input string: \"x\""},
        Case{"bad_number_ignored",
             kIgnore,
             "x,b\n3,c\n",
             {"NULL|b", "3|c"},
             "For input string: \"x\"."},
        Case{"junk_behind_quote",
             {},
             "1,\"a\"x\n2,b\n",
             {},
             "Unexpected character ('x' (code 120)): Expected column separator character"},
        Case{"junk_behind_quote_ignored",
             kIgnore,
             "1,\"a\"x\n2,b\n",
             {"2|b"},
             "Unexpected character"},
        Case{"open_quote",
             {},
             "1,a\n2,\"b\n3,c\n",
             {"1|a"},
             "1:: The quote that opens field 2 is never closed"},
        Case{"open_quote_ignored", kIgnore, "1,a\n2,\"b\n3,c\n", {"1|a", "3|c"}, "never closed"},
        Case{"not_utf8", {}, "1,a\n2,\xFF\n", {"1|a"}, "not UTF-8"},
        Case{"not_utf8_ignored", kIgnore, "1,\xFF\n2,ü\n", {"2|ü"}, "not UTF-8"},
        Case{"comments",
             {{"allow-comments", "true"}},
             "# x\"y\n1,a\n  #z\n\"2\",#c\n#last",
             {"1|a", "2|#c"}},
        Case{"first_line", {{"ignore-first-line", "true"}}, "\"id\nx\",name\n1,a\n", {"1|a"}},
        Case{"first_line_behind_comments",
             {{"ignore-first-line", "true"}, {"allow-comments", "true"}},
             "# x\n\n  #y\n\"id\nx\",name\n#z\n1,a\n",
             {"1|a"}},
        Case{"first_line_behind_blank_lines",
             {{"ignore-first-line", "true"}},
             "\n\r\nid,name\n\n1,a\n",
             {"1|a"}},
        Case{"first_line_missing",
             {{"ignore-first-line", "true"}, {"allow-comments", "true"}},
             "# x\n\n",
             {}},
        Case{"trim", {{"trim-spaces", "true"}}, " 1 ,  \" a \"  \n2, b c \n", {"1| a ", "2|b c"}},
        Case{"escape",
             {{"escape-character", "\\"}},
             "1,a\\,b\\n\n2,\"x\\\"y\"\n",
             {"1|a,b\n", "2|x\"y"}},
        Case{"literal",
             {{"null-literal", "\\N"}, {"escape-character", "\\"}},
             "\\N,\\N\n1,\"\\\\N\"\n",
             {"NULL|NULL", "1|\\N"}},
        Case{"literal_only_unquoted",
             {{"null-literal", "nil"}},
             "nil,nil\n1,\"nil\"\n",
             {"NULL|NULL", "1|nil"}},
        Case{"empty_literal", {{"null-literal", ""}}, ",\n1,\"\"\n", {"NULL|NULL", "1|"}},
        Case{"empty_as_null",
             {{"empty-string-as-null", "true"}},
             "1,\n2,\"\"\n",
             {"1|NULL", "2|NULL"}},
        Case{"no_quotes",
             {{"disable-quote-character", "true"}},
             "1,5\" disk\n2,\"q\"\n",
             {"1|5\" disk", "2|\"q\""}},
        Case{"tab", {{"field-delimiter", "\\t"}}, "1\ta b\n", {"1|a b"}},
        Case{"control",
             {{"field-delimiter", "\x01"}},
             "1\x01"
             "a\n",
             {"1|a"}},
        Case{"wide_delimiter",
             {{"field-delimiter", "¦"}},
             "1¦a\xC2\xA7\n2¦\"b¦c\"\n",
             {"1|a§", "2|b¦c"}},
        Case{"other_quote", {{"quote-character", "'"}}, "1,'a''b,'\n", {"1|a'b,"}},
        Case{"numbers",
             {},
             "+7,\n-0,\n007,\n 12 ,\n2147483647,\n-2147483648,\n",
             {"7|", "0|", "7|", "12|", "2147483647|", "-2147483648|"}},
        Case{"overflow", {}, "2147483648,x\n", {}, "For input string: \"2147483648\""}),
    [](const auto& info) { return info.param.name; });

TEST(CsvDecoder, ReadsEveryType) {
  const Schema schema({{"b", SqlType::Boolean()},
                       {"i8", SqlType::Tinyint()},
                       {"i64", SqlType::Bigint()},
                       {"f", SqlType::Float()},
                       {"d", SqlType::Double()},
                       {"dc", SqlType::Decimal(10, 2)},
                       {"dt", SqlType::Date()},
                       {"t", SqlType::Time(3)},
                       {"ts", SqlType::Timestamp(3)},
                       {"l", SqlType::TimestampLtz(6)},
                       {"x", SqlType::Binary(4)},
                       {"a", SqlType::Array(SqlType::Int())},
                       {"r", SqlType::Row({{"p", SqlType::Int()}, {"q", SqlType::String()}})}});
  const DecodedRows decoded =
      Decode(schema, {},
             "TRUE,-128,9223372036854775807,1.5,-2.25E10,1e1,2021-1-5,12:34:56.7891,"
             "2020-02-30 24:00:00,1969-12-31 23:59:59.1234567Z,++8=,1;;3,1;q\n"
             ",,,,,,,,,,,,\n"
             "yes,1,1,NaN,Infinity,0.005,2021-12-31,01:02,2020-01-01 00:00:00.,1970-01-01 "
             "00:00:00.1234567891Z,\"\",\"\",;\n");
  EXPECT_EQ(FirstBad(decoded), "");
  EXPECT_THAT(
      RenderRows(decoded.rows),
      ElementsAre(
          "true|-128|9223372036854775807|1.5|-2.25e+10|10.00|2021-01-05|12:34:56.789|2020-03-01 "
          "00:00:00.000|1969-12-31 23:59:59.123456Z|x'fbef'|[1, NULL, 3]|(1, q)",
          "NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL|NULL",
          "false|1|1|nan|inf|0.01|2021-12-31|01:02:00.000|2020-01-01 00:00:00.000|1970-01-01 "
          "00:00:00.123456Z|x''|[]|(NULL, )"));
}

TEST(CsvDecoder, BadFieldsOfEachType) {
  struct Bad {
    SqlType type;
    const char* text;
    const char* reason;
  };
  const Bad cases[] = {
      {SqlType::Tinyint(), "128", "Value out of range. Value:\"128\""},
      {SqlType::Int(), "1.0", "For input string: \"1.0\""},
      {SqlType::Bigint(), "9223372036854775808", "For input string"},
      {SqlType::Double(), "1e", "For input string: \"1e\""},
      {SqlType::Double(), "inf", "For input string: \"inf\""},
      {SqlType::Decimal(5, 2), "1.5x", "no decimal number"},
      {SqlType::Date(), "2021-02-31", "there is no such day"},
      {SqlType::Date(), " 2020-01-07", "expected a date"},
      {SqlType::Time(3), "24:00:00", "last time of a day"},
      {SqlType::Time(3), "1:2:3", "expected a time"},
      {SqlType::Timestamp(3), "2021-09-10 14:00", "seconds are required"},
      {SqlType::Timestamp(3), "2020-01-01T10:00:00", "expected a timestamp"},
      {SqlType::Timestamp(3), "2020-01-01 10:00:00Z", "TIMESTAMP takes no Z"},
      {SqlType::Timestamp(9), "2500-01-01 10:00:00", "does not fit"},
      {SqlType::TimestampLtz(3), "2020-01-01 10:00:00", "needs a final Z"},
      {SqlType::Bytes(), "AAA", "not Base64"},
  };
  for (const Bad& c : cases) {
    const DecodedRows decoded = Decode(Schema({{"c", c.type}}), {}, std::string(c.text) + "\n");
    EXPECT_TRUE(decoded.failed) << c.text;
    EXPECT_THAT(FirstBad(decoded), HasSubstr(c.reason)) << c.text;
    const DecodedRows ignored =
        Decode(Schema({{"c", c.type}}), kIgnore, std::string(c.text) + "\n");
    EXPECT_THAT(RenderRows(ignored.rows), ElementsAre("NULL")) << c.text;
    EXPECT_EQ(ignored.bad_count, 1) << c.text;
  }
}

TEST(CsvDecoder, DecimalWithTooManyDigitsIsNull) {
  const DecodedRows decoded =
      Decode(Schema({{"c", SqlType::Decimal(4, 1)}}), {}, "99999.9\n999.94\n999.95\n-0.05\n");
  EXPECT_THAT(RenderRows(decoded.rows), ElementsAre("NULL", "999.9", "NULL", "-0.1"));
}

// Flink's own run of the same file (csv_options, table r1), apart from the blank line, which a
// table of several columns skips.
TEST(CsvDecoder, GoldenTolerantReading) {
  const std::string text =
      "1,a,2020-01-01\n2,\"b \"\"q\"\" c\",2020-01-02\r\n# "
      "comment,x,2020-01-03\n3,short\n4,long,2020-01-04,extra\nbad,x,2020-01-05\n"
      "5,\"multi\nline\",2020-01-06\n\n 6 , spaced , 2020-01-07\n7,,\n8,\"\",2020-13-45";
  const DecodedRows decoded =
      Decode(ThreeColumns(), {{"ignore-parse-errors", "true"}, {"allow-comments", "true"}}, text);
  EXPECT_THAT(
      RenderRows(decoded.rows),
      ElementsAre("1|a|2020-01-01", "2|b \"q\" c|2020-01-02", "3|short|NULL", "NULL|x|2020-01-05",
                  "5|multi\nline|2020-01-06", "6| spaced |NULL", "7||NULL", "8||NULL"));
  EXPECT_EQ(decoded.bad_count, 5);
  EXPECT_EQ(decoded.bad[0].line, 3);
  EXPECT_EQ(decoded.bad[1].line, 4);
  EXPECT_EQ(decoded.bad[4].column, "d");
  EXPECT_EQ(decoded.bad[4].line, 11);
  EXPECT_EQ(decoded.line_count, 11);
}

TEST(CsvDecoder, GoldenNumbers) {
  const Schema schema({{"i", SqlType::Int()},
                       {"d", SqlType::Double()},
                       {"b", SqlType::Boolean()},
                       {"t", SqlType::Timestamp(3)},
                       {"tm", SqlType::Time(0)}});
  const DecodedRows decoded =
      Decode(schema, kIgnore,
             "1,1.5,true,2020-01-01 10:00:00,10:00:00\n-0,1e3,FALSE,2020-01-01 "
             "10:00:00.123456,10:00:00.5\n"
             "+3,NaN,True,2020-01-01T10:00:00,10:00\n007,Infinity,1,2020-01-01 10:00,1:2:3\n");
  EXPECT_THAT(RenderRows(decoded.rows),
              ElementsAre("1|1.5|true|2020-01-01 10:00:00.000|10:00:00.000",
                          "0|1000|false|2020-01-01 10:00:00.123|10:00:00.000",
                          "3|nan|true|NULL|10:00:00.000", "7|inf|false|NULL|NULL"));
}

TEST(CsvDecoder, ConvertsOnlyProjectedColumns) {
  ReadSchema schema = AllOf(ThreeColumns());
  schema.projection = {2, 0};
  auto decoder = kCsvFormat.make_decoder(Options(kCsvFormat, {}), schema, {});
  const auto rows = (*decoder)->DecodeChunk("1,a,2020-01-01\n2,b,2020-01-02\n", true);
  EXPECT_THAT(RenderRows(rows->rows), ElementsAre("2020-01-01|1", "2020-01-02|2"));
  schema.projection = {};
  decoder = kCsvFormat.make_decoder(Options(kCsvFormat, {}), schema, {});
  const auto counted = (*decoder)->DecodeChunk("x,a,y\n2,b,z\n", true);
  EXPECT_EQ(counted->rows.row_count(), 2);
  EXPECT_EQ(counted->bad_count, 0);
}

TEST(CsvDecoder, ArityDoesNotDependOnProjection) {
  ReadSchema schema = AllOf(ThreeColumns());
  schema.projection = {0};
  auto decoder = kCsvFormat.make_decoder(Options(kCsvFormat, {}), schema, {});
  const auto rows = (*decoder)->DecodeChunk("1,a\n", true);
  EXPECT_THAT(FirstBad(*rows), HasSubstr("Row length mismatch. 3 fields expected but was 2."));
}

TEST(CsvDecoder, MapsRowsToRecords) {
  const DecodedRows decoded = Decode(TwoColumns(), kIgnore, "1,a\n2,b,c\n3,d\n");
  EXPECT_THAT(decoded.record_of_row, ElementsAre(0, 2));
  EXPECT_EQ(decoded.record_count, 3);
  EXPECT_THAT(Decode(TwoColumns(), {}, "1,a\n2,b\n").record_of_row, ElementsAre());
}

TEST(CsvDecoder, FirstErrorByRecordThenColumn) {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += std::to_string(i) + ",a,2020-01-01\n";
  text += "3000,a,bad\nbad,a,2020-01-01\n1\n";
  const DecodedRows decoded = Decode(ThreeColumns(), {}, text);
  EXPECT_EQ(decoded.rows.row_count(), 3000);
  EXPECT_EQ(decoded.bad[0].column, "d");
  EXPECT_EQ(decoded.bad[0].line, 3000);
  EXPECT_EQ(decoded.bad[0].record, 3000);
  EXPECT_EQ(decoded.bad_count, 1);
}

TEST(CsvDecoder, CountsEveryBadRecordAndKeepsSome) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "x,a\n";
  const DecodedRows decoded = Decode(TwoColumns(), kIgnore, text);
  EXPECT_EQ(decoded.rows.row_count(), 5000);
  EXPECT_EQ(decoded.bad_count, 5000);
  EXPECT_LE(decoded.bad.size(), 1000u);
}

TEST(CsvDecoder, MessagesHoldOneRecordEach) {
  const std::vector<std::string_view> messages = {
      "1,a", std::string_view(), "2,b\n3,c", "4,\"x\ny\"\n", "", "bad,z"};
  const auto rows = Decoder(TwoColumns(), kIgnore)->DecodeMessages(messages);
  EXPECT_THAT(RenderRows(rows->rows), ElementsAre("1|a", "2|b", "4|x\ny", "NULL|z"));
  EXPECT_THAT(rows->record_of_row, ElementsAre(0, 2, 3, 5));
  EXPECT_EQ(rows->bad_count, 2);
  EXPECT_EQ(rows->bad[1].record, 5);
  EXPECT_EQ(rows->bad[1].byte_offset, 0);
  const auto failed = Decoder(TwoColumns(), {})->DecodeMessages(messages);
  EXPECT_TRUE(failed->failed);
  EXPECT_THAT(failed->bad[0].reason, HasSubstr("The message is empty"));
  EXPECT_EQ(failed->rows.row_count(), 3);
}

// Whatever way a file is cut into chunks, the rows are the same.
TEST(CsvFramer, CutsBetweenRecords) {
  const std::string text = "1,\"a\n\"\"b\"\"\"\r\n2,c\" d\r3,\"\"\n\"4\",\"x,\ry\"\n5,e";
  for (const OptionMap& options : {OptionMap{}, OptionMap{{"trim-spaces", "true"}}}) {
    const std::vector<std::string> expected = RenderRows(Decode(TwoColumns(), options, text).rows);
    ASSERT_EQ(expected.size(), 5u);
    auto framer = kCsvFormat.make_framer(Options(kCsvFormat, options));
    for (size_t piece = 1; piece <= text.size(); ++piece) {
      std::vector<std::string> rows;
      std::string buffer;
      for (size_t at = 0; at < text.size(); at += piece) {
        buffer += text.substr(at, piece);
        const bool end = at + piece >= text.size();
        const size_t complete = (*framer)->CompletePrefix(buffer, end);
        const DecodedRows decoded =
            Decode(TwoColumns(), options, buffer.substr(0, complete), at == 0);
        for (std::string& row : RenderRows(decoded.rows)) rows.push_back(std::move(row));
        buffer.erase(0, complete);
      }
      EXPECT_EQ(rows, expected) << "pieces of " << piece;
      EXPECT_EQ(buffer, "");
    }
  }
}

// The mark is cut off before framing, at a file's start only: a record that begins with these bytes
// begins with text, and a quote behind text opens nothing.
TEST(KnownPitfalls, Rule7_2_AMarkInTheMiddleIsText) {
  const std::string text = "\xEF\xBB\xBF\"a\nb\",1\n";
  for (const OptionMap& options : {OptionMap{}, OptionMap{{"trim-spaces", "true"}}}) {
    auto framer = kCsvFormat.make_framer(Options(kCsvFormat, options));
    EXPECT_EQ((*framer)->CompletePrefix(std::string_view(text).substr(0, 6), false), 6u);
    EXPECT_EQ((*framer)->CompletePrefix(std::string_view(text).substr(3, 5), false), 0u);
    EXPECT_EQ((*framer)->CompletePrefix(std::string_view(text).substr(3), false), 8u);
  }
}

TEST(CsvFramer, SplittableOnlyWithoutQuotes) {
  EXPECT_FALSE((*kCsvFormat.make_framer(Options(kCsvFormat, {})))->splittable());
  EXPECT_TRUE((*kCsvFormat.make_framer(Options(kCsvFormat, {{"disable-quote-character", "true"}})))
                  ->splittable());
}

}  // namespace
}  // namespace sluice::formats
