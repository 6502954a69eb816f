#include "formats/raw/raw_format.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/testing/render.h"

namespace sluice::formats {
namespace {

using testing::AllOf;
using ::testing::ElementsAre;
using testing::FirstBad;
using ::testing::HasSubstr;
using testing::Options;
using testing::RenderRows;

std::unique_ptr<RowDecoder> Decoder(const SqlType& type, OptionMap options) {
  auto decoder = kRawFormat.make_decoder(Options(kRawFormat, std::move(options)),
                                         AllOf(Schema({{"v", type}})), {});
  EXPECT_TRUE(decoder.ok()) << decoder.status().ToString();
  return std::move(*decoder);
}

Result<std::string> Encode(const SqlType& type, OptionMap options, Framing framing,
                           const Batch& batch) {
  auto encoder = kRawFormat.make_encoder(Options(kRawFormat, std::move(options)),
                                         Schema({{"v", type}}), framing, {});
  if (!encoder.ok()) return encoder.status();
  std::string out;
  SLUICE_RETURN_NOT_OK((*encoder)->Encode(batch, &out, nullptr));
  return out;
}

TEST(RawFormat, LinesOfFiles) {
  const auto rows = Decoder(SqlType::String(), {})->DecodeChunk("a\r\n\nb\rc\nlast", true);
  EXPECT_THAT(RenderRows(rows->rows), ElementsAre("a", "", "b\rc", "last"));
  EXPECT_EQ(rows->line_count, 3);
}

TEST(RawFormat, NullMessagesAreRows) {
  const std::vector<std::string_view> messages = {"a", std::string_view(), "", "a\nb"};
  const auto rows = Decoder(SqlType::String(), {})->DecodeMessages(messages);
  EXPECT_THAT(RenderRows(rows->rows), ElementsAre("a", "NULL", "", "a\nb"));
}

TEST(RawFormat, Endianness) {
  using namespace std::string_view_literals;
  const std::vector<std::string_view> messages = {"\0\0\1\2"sv, "\0\0\1"sv};
  const auto big = Decoder(SqlType::Int(), {})->DecodeMessages(messages);
  EXPECT_THAT(RenderRows(big->rows), ElementsAre("258"));
  EXPECT_THAT(FirstBad(*big),
              HasSubstr("Size of data received for deserializing INT type is not 4."));
  const auto little =
      Decoder(SqlType::Int(), {{"endianness", "LITTLE-endian"}, {"ignore-parse-errors", "true"}})
          ->DecodeMessages(messages);
  EXPECT_THAT(RenderRows(little->rows), ElementsAre("33619968"));
  EXPECT_EQ(little->bad_count, 1);
  EXPECT_EQ(
      *Encode(SqlType::Int(), {{"endianness", "little-endian"}}, Framing::kMessage, little->rows),
      messages[0]);
}

TEST(RawFormat, MalformedText) {
  const std::vector<std::string_view> messages = {"he\xFFlo", "x"};
  EXPECT_THAT(FirstBad(*Decoder(SqlType::String(), {})->DecodeMessages(messages)),
              HasSubstr("The bytes are not UTF-8"));
  EXPECT_THAT(RenderRows(Decoder(SqlType::String(), {{"malformed-text", "replace"}})
                             ->DecodeMessages(messages)
                             ->rows),
              ElementsAre("he\xEF\xBF\xBDlo", "x"));
  const auto ignored =
      Decoder(SqlType::String(), {{"ignore-parse-errors", "true"}})->DecodeMessages(messages);
  EXPECT_THAT(RenderRows(ignored->rows), ElementsAre("x"));
  EXPECT_THAT(ignored->record_of_row, ElementsAre(1));
}

TEST(RawFormat, CharacterSets) {
  using namespace std::string_view_literals;
  struct Case {
    const char* charset;
    std::string_view bytes;
  };
  for (const Case& c : {Case{"ISO-8859-1", "\xE9"sv}, Case{"UTF-16", "\xFE\xFF\x00\xE9"sv},
                        Case{"utf-16le", "\xE9\x00"sv}}) {
    const std::vector<std::string_view> messages = {c.bytes};
    const auto rows =
        Decoder(SqlType::String(), {{"charset", c.charset}})->DecodeMessages(messages);
    EXPECT_THAT(RenderRows(rows->rows), ElementsAre("é")) << c.charset << FirstBad(*rows);
    EXPECT_EQ(*Encode(SqlType::String(), {{"charset", c.charset}}, Framing::kMessage, rows->rows),
              c.bytes)
        << c.charset;
  }
  EXPECT_THAT(
      ValidateFormatOptions(kRawFormat, Options(kRawFormat, {{"charset", "FOO-8"}})).message(),
      HasSubstr("Unsupported 'raw.charset' name: FOO-8."));
  EXPECT_THAT(
      ValidateFormatOptions(kRawFormat, Options(kRawFormat, {{"endianness", "middle"}})).message(),
      HasSubstr("Unsupported endianness name: middle. Valid values of 'raw.endianness' option are "
                "'big-endian' and 'little-endian'."));
}

TEST(RawFormat, CharactersThatTheCharsetLacks) {
  const auto rows = Decoder(SqlType::String(), {})
                        ->DecodeMessages(std::vector<std::string_view>{"caf\u00E9", "5\u20AC"});
  const auto encode = [&](const OptionMap& options, int64_t row) {
    return Encode(SqlType::String(), options, Framing::kMessage, rows->rows.Slice(row, 1));
  };
  EXPECT_EQ(*encode({{"charset", "ISO-8859-1"}}, 0), "caf\xE9");
  EXPECT_THAT(encode({{"charset", "ISO-8859-1"}}, 1).status().message(),
              ::testing::AllOf(HasSubstr("a character that ISO-8859-1 does not have"),
                               HasSubstr("'raw.malformed-text' = 'replace'")));
  EXPECT_EQ(*encode({{"charset", "ISO-8859-1"}, {"malformed-text", "replace"}}, 1), "5?");
}

TEST(RawFormat, WhatFilesCannotHold) {
  const auto messages = std::vector<std::string_view>{"a\nb", std::string_view()};
  const auto rows = Decoder(SqlType::String(), {})->DecodeMessages(messages);
  EXPECT_THAT(
      Encode(SqlType::String(), {}, Framing::kFile, rows->rows.Slice(0, 1)).status().message(),
      HasSubstr("line feed"));
  EXPECT_THAT(
      Encode(SqlType::String(), {}, Framing::kFile, rows->rows.Slice(1, 1)).status().message(),
      HasSubstr("is NULL"));
  EXPECT_EQ(*Encode(SqlType::String(), {}, Framing::kMessage, rows->rows), "a\nb");
  // Of a line end 0D 0A nothing belongs to the value.
  for (const SqlType& type : {SqlType::String(), SqlType::Bytes()}) {
    const auto returns =
        Decoder(type, {})->DecodeMessages(std::vector<std::string_view>{"a\r", "\ra"});
    EXPECT_THAT(Encode(type, {}, Framing::kFile, returns->rows).status().message(),
                HasSubstr("ends with a carriage return (0D)"));
    EXPECT_EQ(*Encode(type, {}, Framing::kFile, returns->rows.Slice(1, 1)), "\ra\n");
    EXPECT_EQ(*Encode(type, {}, Framing::kMessage, returns->rows), "a\r\ra");
  }
  EXPECT_FALSE(Decoder(SqlType::Int(), {})->DecodeChunk("abcd\n", true).ok());
  EXPECT_FALSE(kRawFormat
                   .validate_files(Options(kRawFormat, {{"charset", "UTF-16"}}),
                                   Schema({{"v", SqlType::String()}}))
                   .ok());
  EXPECT_THAT(
      kRawFormat
          .validate(Options(kRawFormat, {}), Schema({{"a", SqlType::Int()}, {"b", SqlType::Int()}}),
                    Direction::kRead)
          .message(),
      HasSubstr("multiple physical columns: [`a` INT, `b` INT]"));
}

}  // namespace
}  // namespace sluice::formats
