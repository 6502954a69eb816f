// Files that are cut, flipped or lie about their lengths: an error that says where, never a crash,
// a hang or a wrong count of rows.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/avro/avro_test_support.h"

namespace sluice::formats::avro {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const Schema& Table() {
  static const Schema schema({{"i", SqlType::Int()}, {"s", SqlType::String()}});
  return schema;
}

std::string TwoBlocks(const char* codec) {
  const Batch batch = BatchFromJson(Table(), {"[1, 2, 3]", R"(["one", "two", null])"});
  return *WriteFile(Table(), {batch, batch}, {{"codec", codec}}, true);
}

// Rule 17.6.
TEST(KnownPitfalls, Rule17_6_ErrorsCarryBlockOffsetColumnAndReason) {
  const std::string record = Long(1) + Long(1) + Long(1) + Sized("ok");
  const std::string bad = Long(1) + Long(2) + Long(1) + Sized("he\xFFlo");
  const std::string schema =
      R"({"type":"record","name":"r","fields":[{"name":"i","type":["null","int"]},)"
      R"({"name":"s","type":["null","string"]}]})";
  std::string file = FileOf(schema, 2, record + record);
  const std::string second = Long(2) + Sized(record + bad) + "0123456789abcdef";
  const size_t offset = file.size();
  file += second;
  const std::string message = ReadRows(file, Table()).status().message();
  EXPECT_THAT(message,
              AllOf(HasSubstr("column 's' of record 2 in block 2 (at byte " +
                              std::to_string(offset) + " of the file), at byte 15 of the block"),
                    HasSubstr("the text is not UTF-8: 'he\\xFFlo'")));
}

// Rule 10.6.
TEST(KnownPitfalls, Rule10_6_TextIsCheckedToBeUtf8) {
  const std::string text = Sized("he\xFFlo");
  EXPECT_THAT(ReadOne("\"string\"", text, SqlType::String()),
              AllOf(HasSubstr("column 'v' of record 1"), HasSubstr("not UTF-8")));
  EXPECT_THAT(ReadOne("\"bytes\"", text, SqlType::String()), HasSubstr("not UTF-8"));
  EXPECT_EQ(ReadOne("\"string\"", text, SqlType::Bytes()), "x'6865ff6c6f'");
  EXPECT_THAT(ReadOne(R"({"type":"map","values":"int"})", Long(1) + text + Long(1) + Long(0),
                      SqlType::Map(SqlType::String(), SqlType::Int())),
              HasSubstr("the key of a map is not UTF-8"));
}

TEST(AvroDamageTest, NotAnAvroFile) {
  EXPECT_THAT(ReadRows("this is text", Table()).status().message(),
              HasSubstr("Not an Avro data file"));
  EXPECT_THAT(ReadRows("Obj", Table()).status().message(), HasSubstr("Not an Avro data file"));
  const std::string no_schema = std::string("Obj\x01\0", 5) + "0123456789abcdef";
  EXPECT_THAT(ReadRows(no_schema, Table()).status().message(), HasSubstr("no 'avro.schema'"));
  ContainerHeader header;
  header.schema_json = RecordOf("\"int\"");
  header.sync = "0123456789abcdef";
  std::string bytes = EncodeHeader(header);
  bytes.replace(bytes.find("null"), 4, "lzo9");
  EXPECT_THAT(ReadRows(bytes, Table()).status().message(), HasSubstr("Unrecognized codec: lzo9"));
}

TEST(AvroDamageTest, CountsThatCannotBeRight) {
  const auto read = [](const std::string& type, const std::string& data, const SqlType& column) {
    return ReadOne(type, data, column);
  };
  const std::string ints = R"({"type":"array","items":"int"})";
  const std::string nulls = R"({"type":"array","items":"null"})";
  const SqlType array = SqlType::Array(SqlType::Int());
  EXPECT_THAT(read(ints, Long(INT64_MAX) + Long(1), array),
              HasSubstr("claims 9223372036854775807"));
  EXPECT_THAT(read(ints, Long(INT64_MIN) + Long(1), array), HasSubstr("no usable size"));
  EXPECT_THAT(read(ints, Long(-1) + Long(100) + Long(1), array), HasSubstr("no usable size"));
  EXPECT_THAT(read(nulls, Long(INT64_MAX) + Long(0), array), HasSubstr("take no bytes"));
  EXPECT_EQ(read(nulls, Long(2) + Long(0), array), "[NULL, NULL]");
  EXPECT_THAT(read("\"string\"", Long(INT64_MAX), SqlType::String()), HasSubstr("bytes end"));
  EXPECT_THAT(read("\"string\"", Long(-1), SqlType::String()), HasSubstr("bytes end"));
  EXPECT_THAT(read("\"int\"", Long(int64_t{1} << 40), SqlType::Int()), HasSubstr("no value of"));
  EXPECT_THAT(read("\"long\"", std::string(11, '\xFF'), SqlType::Bigint()), HasSubstr("no value"));
  EXPECT_THAT(read("\"boolean\"", "\x02", SqlType::Boolean()), HasSubstr("is the byte 2"));
  // Rows without bytes.
  const std::string empty = R"({"type":"record","name":"r","fields":[]})";
  EXPECT_EQ(ReadRows(FileOf(empty, 3, ""), Schema({{"v", SqlType::Int()}}))->size(), 3u);
  EXPECT_THAT(
      ReadRows(FileOf(empty, INT64_MAX, ""), Schema({{"v", SqlType::Int()}})).status().message(),
      HasSubstr("claims 9223372036854775807 records in 0 bytes"));
}

TEST(AvroDamageTest, CountsOfBlocksAreChecked) {
  const std::string schema = RecordOf("\"int\"");
  const Schema table({{"v", SqlType::Int()}});
  const ReadSchema count_only{table, {}};
  const std::string data = Long(1) + Long(2) + Long(3);
  EXPECT_EQ(ReadRows(FileOf(schema, 3, data), count_only)->size(), 3u);
  EXPECT_THAT(ReadRows(FileOf(schema, 2, data), count_only).status().message(),
              HasSubstr("1 bytes behind its 2 records"));
  EXPECT_THAT(ReadRows(FileOf(schema, 4, data), count_only).status().message(),
              HasSubstr("claims 4 records in 3 bytes"));
  EXPECT_THAT(ReadRows(FileOf(schema, -3, data), count_only).status().message(),
              HasSubstr("claims -3 records"));
  // A block without records holds no bytes either.
  EXPECT_THAT(ReadRows(FileOf(schema, 0, data), count_only).status().message(),
              HasSubstr("3 bytes behind its 0 records"));
}

TEST(AvroDamageTest, EveryPrefixIsAnErrorOrWholeBlocks) {
  for (const char* codec : {"null", "snappy", "deflate", "bzip2", "xz", "zstandard"}) {
    const std::string bytes = TwoBlocks(codec);
    ASSERT_EQ(ReadRows(bytes, Table())->size(), 6u);
    int good = 0;
    for (size_t size = 0; size < bytes.size(); ++size) {
      const auto rows = ReadRows(bytes.substr(0, size), Table());
      if (!rows.ok()) continue;
      ++good;  // A file has no footer: whole blocks are a whole file.
      EXPECT_TRUE(rows->size() == 0 || rows->size() == 3) << codec << " " << size;
    }
    EXPECT_EQ(good, 2) << codec;
  }
}

TEST(AvroDamageTest, FlippedBitsNeverChangeTheCount) {
  std::mt19937_64 random(7);
  for (const char* codec : {"null", "snappy", "deflate", "bzip2", "xz", "zstandard"}) {
    const std::string bytes = TwoBlocks(codec);
    for (size_t at = 0; at < bytes.size(); ++at) {
      std::string flipped = bytes;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << (random() % 8)));
      const auto rows = ReadRows(flipped, Table());
      if (!rows.ok()) continue;
      EXPECT_EQ(rows->size(), 6u) << codec << " byte " << at;
    }
  }
}

TEST(AvroDamageTest, BombsStopAtTheLimit) {
  const auto codec = BlockCodec::Make(CodecKind::kZstandard);
  std::string packed;
  ASSERT_TRUE(codec->Compress(std::string(3 << 20, '\0'), &packed).ok());
  std::string plain;
  EXPECT_TRUE(codec->Decompress(packed, &plain).ok());
  EXPECT_EQ(plain.size(), size_t{3 << 20});
  const auto snappy = BlockCodec::Make(CodecKind::kSnappy);
  EXPECT_THAT(snappy
                  ->Decompress("\xFF\xFF\xFF\xFF\x0F"
                               "aaaa",
                               &plain)
                  .message(),
              HasSubstr("damaged"));
}

TEST(AvroDamageTest, DeflateMayEndWithAPartOfAChecksum) {
  const auto codec = BlockCodec::Make(CodecKind::kDeflate);
  std::string packed;
  ASSERT_TRUE(codec->Compress("some text", &packed).ok());
  std::string plain;
  ASSERT_TRUE(codec->Decompress(packed + "abc", &plain).ok());
  EXPECT_EQ(plain, "some text");
  EXPECT_FALSE(codec->Decompress(packed + "abcde", &plain).ok());
}

TEST(AvroDamageTest, BlocksOfAnotherFileAreNoticed) {
  const std::string one = TwoBlocks("null");
  const std::string other = TwoBlocks("null");
  const size_t header = one.find("fields");
  const size_t block = one.size() - (one.size() - header) / 4;
  EXPECT_FALSE(ReadRows(one + other.substr(block), Table()).ok());
}

}  // namespace
}  // namespace sluice::formats::avro
