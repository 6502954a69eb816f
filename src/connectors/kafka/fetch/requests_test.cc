#include "connectors/kafka/fetch/requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connectors/kafka/fetch/wire.h"

namespace sluice::connectors::kafka::fetch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Wire, VarintsAreZigzag) {
  for (const int64_t value : {int64_t{0}, int64_t{-1}, int64_t{1}, int64_t{-64}, int64_t{64},
                              int64_t{300}, INT64_MAX, INT64_MIN}) {
    WireWriter writer;
    writer.Varint(value);
    WireReader reader(writer.bytes());
    EXPECT_EQ(reader.Varint(), value);
    EXPECT_TRUE(reader.ok());
    EXPECT_EQ(reader.left(), 0u);
  }
  WireReader endless(std::string_view("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 11));
  endless.Varint();
  EXPECT_FALSE(endless.ok());
}

TEST(Wire, ReadsPastTheEndGiveNothing) {
  WireReader reader("abc");
  EXPECT_EQ(reader.I32(), 0);
  EXPECT_FALSE(reader.ok());
  EXPECT_EQ(reader.I8(), 0);
  WireReader counts(std::string_view("\x7f\xff\xff\xff----", 8));
  EXPECT_EQ(counts.Count(1), 0);
  EXPECT_FALSE(counts.ok());
  WireReader negative(std::string_view("\xff\xff\xff\xfe", 4));
  EXPECT_EQ(negative.LongBytes().data(), nullptr);
  EXPECT_FALSE(negative.ok());
}

TEST(Requests, HeaderIsVersionOne) {
  EXPECT_EQ(EncodeRequest(ApiKey::kApiVersions, 0, 0x01020304, "me", "body"),
            std::string("\0\x12\0\0\1\2\3\4\0\2mebody", 16));
}

TEST(Requests, FetchOfTheNewestVersion) {
  const std::string body = EncodeFetch(11, {.max_wait_ms = 20,
                                            .min_bytes = 1,
                                            .max_bytes = 0x100,
                                            .partition_max_bytes = 0x80,
                                            .read_committed = true,
                                            .partitions = {{"t", 3, 42}}});
  EXPECT_EQ(body, std::string("\xff\xff\xff\xff"
                              "\0\0\0\x14"
                              "\0\0\0\1"
                              "\0\0\1\0"
                              "\1"
                              "\0\0\0\0"
                              "\xff\xff\xff\xff"
                              "\0\0\0\1"
                              "\0\1t"
                              "\0\0\0\1"
                              "\0\0\0\3"
                              "\xff\xff\xff\xff"
                              "\0\0\0\0\0\0\0\x2a"
                              "\xff\xff\xff\xff\xff\xff\xff\xff"
                              "\0\0\0\x80"
                              "\0\0\0\0"
                              "\0\0",
                              70));
  // Oldest: no session, epoch, log start and rack.
  EXPECT_EQ(EncodeFetch(4, {.partitions = {{"t", 3, 42}}}).size(), 44u);
}

std::string FetchAnswerBytes(int16_t version) {
  WireWriter writer;
  writer.I32(250);
  if (version >= 7) {
    writer.I16(0);
    writer.I32(0);
  }
  writer.I32(1);
  writer.Text("t");
  writer.I32(2);
  for (int32_t partition = 0; partition < 2; ++partition) {
    writer.I32(partition);
    writer.I16(partition == 0 ? 0 : 6);
    writer.I64(99);
    writer.I64(98);
    if (version >= 5) writer.I64(10);
    writer.I32(partition == 0 ? 1 : -1);
    if (partition == 0) {
      writer.I64(7);
      writer.I64(50);
    }
    if (version >= 11) writer.I32(-1);
    writer.LongBytes(partition == 0 ? "records" : "");
  }
  return std::move(writer).Take();
}

TEST(Requests, FetchAnswersOfAllVersions) {
  for (int16_t version = 4; version <= 11; ++version) {
    const std::string bytes = FetchAnswerBytes(version);
    const auto answer = DecodeFetch(version, bytes);
    ASSERT_TRUE(answer.ok()) << version;
    EXPECT_EQ(answer->throttle_ms, 250);
    ASSERT_EQ(answer->partitions.size(), 2u);
    EXPECT_EQ(answer->partitions[0].topic, "t");
    EXPECT_EQ(answer->partitions[0].high_watermark, 99);
    EXPECT_EQ(answer->partitions[0].records, "records");
    ASSERT_EQ(answer->partitions[0].aborted.size(), 1u);
    EXPECT_EQ(answer->partitions[0].aborted[0].first_offset, 50);
    EXPECT_EQ(answer->partitions[1].error, ErrorCode::kNotLeaderOrFollower);
    for (size_t cut = 0; cut < bytes.size(); ++cut)
      EXPECT_FALSE(DecodeFetch(version, std::string_view(bytes).substr(0, cut)).ok()) << cut;
  }
}

TEST(Requests, MetadataAnswersOfAllVersions) {
  for (int16_t version = 1; version <= 7; ++version) {
    WireWriter writer;
    if (version >= 3) writer.I32(0);
    writer.I32(1);
    writer.I32(4);
    writer.Text("host");
    writer.I32(9092);
    writer.I16(-1);
    if (version >= 2) writer.Text("cluster");
    writer.I32(4);
    writer.I32(2);
    for (const bool absent : {false, true}) {
      writer.I16(absent ? 3 : 0);
      writer.Text(absent ? "gone" : "t");
      writer.I8(0);
      writer.I32(absent ? 0 : 1);
      if (absent) continue;
      writer.I16(0);
      writer.I32(5);
      writer.I32(4);
      if (version >= 7) writer.I32(9);
      writer.I32(1);
      writer.I32(4);
      writer.I32(0);
      if (version >= 5) writer.I32(0);
    }
    const auto answer = DecodeMetadata(version, writer.bytes());
    ASSERT_TRUE(answer.ok()) << version;
    ASSERT_EQ(answer->brokers.size(), 1u);
    EXPECT_EQ(answer->brokers[0].host, "host");
    EXPECT_EQ(answer->brokers[0].port, 9092);
    ASSERT_EQ(answer->partitions.size(), 1u);
    EXPECT_EQ(answer->partitions[0].partition, 5);
    EXPECT_EQ(answer->partitions[0].leader, 4);
    EXPECT_EQ(answer->topic_errors.at("gone"), ErrorCode::kUnknownTopicOrPartition);
  }
}

TEST(Requests, VersionsAreTheNewestThatBothSpeak) {
  const ApiVersions broker = {{1, {6, 13}}, {3, {0, 5}}, {2, {7, 9}}};
  EXPECT_EQ(*ChooseVersion(broker, ApiKey::kFetch), 11);
  EXPECT_EQ(*ChooseVersion(broker, ApiKey::kMetadata), 5);
  const auto newer = ChooseVersion(broker, ApiKey::kListOffsets);
  EXPECT_THAT(newer.status().ToString(), HasSubstr("versions 7 to 9 of ListOffsets"));
  const auto none = ChooseVersion(broker, ApiKey::kSaslHandshake);
  EXPECT_THAT(none.status().ToString(), HasSubstr("no version of SaslHandshake"));
}

}  // namespace
}  // namespace sluice::connectors::kafka::fetch
