// Rows as Kafka values and keys, in binary and in JSON.
#include "formats/avro/message_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/avro/avro_test_support.h"

namespace sluice::formats::avro {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Result<std::vector<std::string>> EncodeMessages(const Schema& schema, const Batch& batch,
                                                const OptionMap& options) {
  SLUICE_ASSIGN_OR_RETURN(const auto encoder, kAvroFormat.make_encoder({options, "avro."}, schema,
                                                                       Framing::kMessage, {}));
  std::string bytes;
  std::vector<size_t> ends;
  SLUICE_RETURN_NOT_OK(encoder->Encode(batch, &bytes, &ends));
  std::vector<std::string> messages;
  size_t begin = 0;
  for (const size_t end : ends) {
    messages.push_back(bytes.substr(begin, end - begin));
    begin = end;
  }
  return messages;
}

DecodedRows Decode(const ReadSchema& schema, const std::vector<std::string>& messages,
                   const OptionMap& options = {}) {
  const auto decoder = kAvroFormat.make_decoder({options, "avro."}, schema, {});
  EXPECT_TRUE(decoder.ok()) << decoder.status().ToString();
  std::vector<std::string_view> views(messages.begin(), messages.end());
  auto decoded = (*decoder)->DecodeMessages(views);
  EXPECT_TRUE(decoded.ok()) << decoded.status().ToString();
  EXPECT_TRUE(decoded->rows.rows()->ValidateFull().ok());
  return std::move(*decoded);
}

Schema SomeTypes() {
  const SqlType row = SqlType::Row({{"x", SqlType::Int().NotNull()}, {"y", SqlType::String()}});
  return Schema({{"id", SqlType::Bigint().NotNull()},
                 {"b", SqlType::Boolean()},
                 {"f", SqlType::Float()},
                 {"d", SqlType::Double()},
                 {"dc", SqlType::Decimal(10, 2)},
                 {"s", SqlType::String()},
                 {"bs", SqlType::Bytes()},
                 {"ts", SqlType::Timestamp(3)},
                 {"a", SqlType::Array(row)},
                 {"m", SqlType::Map(SqlType::String(), SqlType::Array(SqlType::Int()))}});
}

Batch SomeRows() {
  return BatchFromJson(SomeTypes(), {"[1, -2]", "[true, null]", "[1.5, null]", "[-0.1, null]",
                                     R"(["-123.45", null])", R"(["a\"b é", null])",
                                     R"(["xyz", null])", "[1589978096789, null]",
                                     R"([[[1,"q"],null], null])", R"([[["k",[1,null]]], null])"});
}

TEST(AvroMessagesTest, BothEncodingsComeBack) {
  for (const char* encoding : {"binary", "json"}) {
    const OptionMap options = {{"encoding", encoding}};
    const auto messages = EncodeMessages(SomeTypes(), SomeRows(), options);
    ASSERT_TRUE(messages.ok()) << messages.status().ToString();
    const DecodedRows decoded = Decode(testing::AllOf(SomeTypes()), *messages, options);
    EXPECT_EQ(testing::FirstBad(decoded), "");
    EXPECT_EQ(testing::RenderRows(decoded.rows), testing::RenderRows(SomeRows()));
    const DecodedRows some = Decode({SomeTypes(), {7, 0}}, *messages, options);
    EXPECT_THAT(testing::RenderRows(some.rows),
                ElementsAre("2020-05-20 12:34:56.789|1", "NULL|-2"));
  }
}

TEST(AvroMessagesTest, JsonHasTaggedUnions) {
  const auto messages = EncodeMessages(SomeTypes(), SomeRows(), {{"encoding", "json"}});
  EXPECT_EQ((*messages)[0],
            R"({"id":1,"b":{"boolean":true},"f":{"float":1.5},"d":{"double":-0.1},)"
            R"("dc":{"bytes":"ÏÇ"},"s":{"string":"a\"b é"},"bs":{"bytes":"xyz"},)"
            R"("ts":{"long":1589978096789},"a":{"array":[)"
            R"({"org.apache.flink.avro.generated.record_a":{"x":1,"y":{"string":"q"}}},null]},)"
            R"("m":{"map":{"k":{"array":[{"int":1},null]}}}})");
}

TEST(AvroMessagesTest, JsonThatDoesNotFit) {
  const Schema schema({{"i", SqlType::Int().NotNull()},
                       {"f", SqlType::Float().NotNull()},
                       {"bs", SqlType::Bytes()}});
  const auto reason = [&](const std::string& message) {
    return testing::FirstBad(Decode(testing::AllOf(schema), {message}, {{"encoding", "json"}}));
  };
  EXPECT_EQ(reason(R"({"f":"NaN","i":1,"bs":null})"), "");
  EXPECT_EQ(reason(R"({"f":-1e3,"i":1,"bs":{"bytes":"\u00ff"}})"), "");
  EXPECT_THAT(reason("{"), HasSubstr("no JSON"));
  EXPECT_THAT(reason("[]"), HasSubstr("an array is no value of type record"));
  EXPECT_THAT(reason(R"({"f":1,"bs":null})"), HasSubstr("the field 'i'"));
  EXPECT_THAT(reason(R"({"f":1,"i":2147483648,"bs":null})"), HasSubstr("field 'i': 2147483648"));
  EXPECT_THAT(reason(R"({"f":1,"i":1.5,"bs":null})"), HasSubstr("1.5 is no value of type int"));
  EXPECT_THAT(reason(R"({"f":1e300,"i":1,"bs":null})"), HasSubstr("field 'f'"));
  EXPECT_THAT(reason(R"({"f":1,"i":1,"bs":"x"})"), HasSubstr("tagged with its branch"));
  EXPECT_THAT(reason(R"({"f":1,"i":1,"bs":{"string":"x"}})"), HasSubstr("names no branch"));
  EXPECT_THAT(reason(R"({"f":1,"i":1,"bs":{"bytes":"\u0100"}})"), HasSubstr("type bytes"));
  EXPECT_THAT(reason(R"({"f":1,"i":1,"bs":null,"zz":1})"), HasSubstr("fields that"));
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_THAT(reason(R"({"f":1,"i":)" + deep + R"(,"bs":null})"), HasSubstr("an array"));
}

// Rule 14.3.
TEST(KnownPitfalls, Rule14_3_BadMessagesAreReportedOrIgnored) {
  const Schema schema({{"id", SqlType::Bigint()}, {"s", SqlType::String()}});
  const std::string good = Long(1) + Long(5) + Long(0);
  const std::vector<std::string> messages = {good, "\x30\x31\x32", good, good + "x", ""};
  const DecodedRows strict = Decode(testing::AllOf(schema), messages);
  EXPECT_TRUE(strict.failed);
  EXPECT_THAT(testing::RenderRows(strict.rows), ElementsAre("5|NULL"));
  ASSERT_EQ(strict.bad.size(), 1u);
  EXPECT_EQ(strict.bad[0].record, 1);
  EXPECT_EQ(strict.bad[0].column, "id");
  EXPECT_THAT(strict.bad[0].reason, HasSubstr("no such branch (byte 48)"));
  EXPECT_THAT(strict.bad[0].reason, HasSubstr("'avro.ignore-parse-errors' = 'true'"));
  EXPECT_EQ(strict.bad[0].text, "012");

  const DecodedRows tolerant =
      Decode(testing::AllOf(schema), messages, {{"ignore-parse-errors", "true"}});
  EXPECT_FALSE(tolerant.failed);
  EXPECT_EQ(tolerant.bad_count, 3);
  EXPECT_THAT(testing::RenderRows(tolerant.rows), ElementsAre("5|NULL", "5|NULL"));
  EXPECT_THAT(tolerant.record_of_row, ElementsAre(0, 2));
  EXPECT_EQ(tolerant.record_count, 5);
  EXPECT_THAT(tolerant.bad[1].reason, HasSubstr("1 bytes are left behind the record of 3 bytes"));
}

TEST(AvroMessagesTest, EveryBadMessageIsHandedOutToBePutAside) {
  const Schema schema({{"id", SqlType::Bigint()}});
  FormatContext context;
  context.keep_bad_records = true;
  const auto decoder = kAvroFormat.make_decoder({{}, "avro."}, testing::AllOf(schema), context);
  const std::vector<std::string_view> messages(1'500, "\x30\x31");
  const auto decoded = (*decoder)->DecodeMessages(messages);
  EXPECT_FALSE(decoded->failed);
  ASSERT_EQ(decoded->bad.size(), 1'500u);
  EXPECT_EQ(decoded->bad[7].byte_length, 2);
}

TEST(AvroMessagesTest, NullMessagesAreNoRows) {
  const Schema schema({{"id", SqlType::Bigint()}});
  const auto decoder = kAvroFormat.make_decoder({{}, "avro."}, testing::AllOf(schema), {});
  const std::string good = Long(1) + Long(5);
  const std::vector<std::string_view> views = {std::string_view(), good};
  const auto decoded = (*decoder)->DecodeMessages(views);
  EXPECT_THAT(testing::RenderRows(decoded->rows), ElementsAre("5"));
  EXPECT_THAT(decoded->record_of_row, ElementsAre(1));
}

TEST(AvroMessagesTest, ABadRowLeavesNothingBehind) {
  const SqlType row = SqlType::Row({{"x", SqlType::Int()}, {"y", SqlType::String()}});
  const Schema schema({{"a", SqlType::Array(row)},
                       {"m", SqlType::Map(SqlType::String(), row)},
                       {"i", SqlType::Tinyint()}});
  const std::string item = Long(1) + Long(1) + Long(7) + Long(1) + Sized("t");
  const auto message = [&](int tiny) {
    return Long(1) + Long(2) + item + item + Long(0) + Long(1) + Long(1) + Sized("k") + item +
           Long(0) + Long(1) + Long(tiny);
  };
  std::vector<std::string> messages = {message(1), message(300), message(2)};
  const std::string whole = message(3);
  for (size_t i = 0; i < whole.size(); ++i) messages.push_back(whole.substr(0, i));
  messages.push_back(whole);
  const DecodedRows decoded =
      Decode(testing::AllOf(schema), messages, {{"ignore-parse-errors", "true"}});
  EXPECT_THAT(testing::RenderRows(decoded.rows),
              ElementsAre("[(7, t), (7, t)]|{k=(7, t)}|1", "[(7, t), (7, t)]|{k=(7, t)}|2",
                          "[(7, t), (7, t)]|{k=(7, t)}|3"));
  EXPECT_EQ(decoded.bad_count, 1 + static_cast<int64_t>(whole.size()));
}

}  // namespace
}  // namespace sluice::formats::avro
