#include "connectors/kafka/fetch/record_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "connectors/kafka/fetch/aborted_transactions.h"
#include "connectors/kafka/fetch/batch_builder.h"

namespace sluice::connectors::kafka::fetch {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<RawBatch> Split(std::string_view records) {
  std::vector<RawBatch> batches;
  const Status status = SplitBatches(records, &batches);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return batches;
}

Status Read(std::string_view records, Messages* out, const OffsetRange& range = {},
            const MessageParts& parts = {.keys = true, .details = true}) {
  std::vector<RawBatch> batches;
  SLUICE_RETURN_NOT_OK(SplitBatches(records, &batches));
  for (const RawBatch& batch : batches)
    SLUICE_RETURN_NOT_OK(ReadRecords(batch, range, parts, true, arrow::default_memory_pool(), out));
  return {};
}

std::vector<TestRecord> Numbered(int count) {
  std::vector<TestRecord> records;
  for (int i = 0; i < count; ++i)
    records.push_back({.offset_delta = i, .key = {}, .value = "value " + std::to_string(i)});
  return records;
}

// Counted by hand from the specification: the builder is no judge of itself.
TEST(RecordBatch, BytesAsTheSpecificationLaysThemOut) {
  const std::string bytes = BuildBatch(
      {.base_offset = 0x0102,
       .records = {{.key = "k", .value = "hello", .timestamp_delta = 1, .headers = {{"a", "b"}}}},
       .leader_epoch = 7});
  // Base offset, length, leader epoch, magic.
  EXPECT_EQ(bytes.substr(0, 17), std::string("\0\0\0\0\0\0\1\2"
                                             "\0\0\0\x42"
                                             "\0\0\0\7"
                                             "\2",
                                             17));
  // Length 16, attributes, timestamp +1, offset +0, key, value, one header.
  EXPECT_EQ(bytes.substr(61), std::string("\x20\0\2\0\2k\x0ahello\2\2a\2b", 17));
}

TEST(RecordBatch, ReadsEveryPart) {
  const std::string bytes =
      BuildBatch({.base_offset = 40,
                  .records = {{.offset_delta = 0,
                               .key = "k",
                               .value = "v",
                               .timestamp_delta = 3,
                               .headers = {{"h", "1"}, {"n", std::nullopt}}},
                              {.offset_delta = 2, .key = {}, .value = {}, .timestamp_delta = -1},
                              {.offset_delta = 5, .key = "", .value = ""}}});
  Messages messages;
  ASSERT_TRUE(Read(bytes, &messages).ok());
  EXPECT_THAT(messages.offsets, ElementsAre(40, 42, 45));
  EXPECT_THAT(messages.values, ElementsAre("v", "", ""));
  EXPECT_EQ(messages.values[1].data(), nullptr);
  EXPECT_NE(messages.values[2].data(), nullptr);
  EXPECT_EQ(messages.keys[1].data(), nullptr);
  EXPECT_NE(messages.keys[2].data(), nullptr);
  EXPECT_EQ(messages.byte_size, 2);
  ASSERT_EQ(messages.details.size(), 3u);
  EXPECT_EQ(messages.details[0].timestamp_ms, 1003);
  EXPECT_EQ(messages.details[0].timestamp_type, TimestampType::kCreateTime);
  EXPECT_EQ(messages.details[0].leader_epoch, 5);
  EXPECT_EQ(messages.details[0].header_count, 2u);
  EXPECT_EQ(messages.details[1].timestamp_ms, 999);
  EXPECT_EQ(messages.headers[0].name, "h");
  EXPECT_EQ(messages.headers[0].value, "1");
  EXPECT_EQ(messages.headers[1].value, std::nullopt);
}

TEST(RecordBatch, LogAppendTimeIsTheBatchs) {
  Messages messages;
  ASSERT_TRUE(Read(BuildBatch({.records = Numbered(2), .flags = 8}), &messages).ok());
  EXPECT_EQ(messages.details[1].timestamp_ms, 2000);
  EXPECT_EQ(messages.details[1].timestamp_type, TimestampType::kLogAppendTime);
}

TEST(RecordBatch, EveryCompression) {
  for (const auto& [compression, java] : {std::pair{Compression::kNone, false},
                                          {Compression::kGzip, false},
                                          {Compression::kSnappy, false},
                                          {Compression::kSnappy, true},
                                          {Compression::kLz4, false},
                                          {Compression::kZstd, false}}) {
    const std::string bytes =
        BuildBatch({.records = Numbered(3000), .compression = compression, .java_snappy = java});
    Messages messages;
    const Status status = Read(bytes, &messages);
    ASSERT_TRUE(status.ok()) << status.ToString();
    ASSERT_EQ(messages.count(), 3000u);
    EXPECT_EQ(messages.values[2999], "value 2999");
    EXPECT_EQ(messages.kept.size(), compression == Compression::kNone ? 0u : 1u);

    // Cut in the compressed data, with a checksum that fits: an error, in bounded room.
    if (compression == Compression::kNone) continue;
    std::string packed = PackForTest(compression, java, std::string(100'000, 'x'));
    packed.resize(packed.size() / 2);
    EXPECT_FALSE(Unpack(compression, packed, arrow::default_memory_pool()).ok());
    EXPECT_FALSE(Unpack(compression, "", arrow::default_memory_pool()).ok());
    EXPECT_FALSE(Unpack(compression, "nonsense", arrow::default_memory_pool()).ok());
  }
}

TEST(RecordBatch, BombsAreRefused) {
  constexpr int64_t kLimit = 1 << 20;
  for (const Compression compression :
       {Compression::kGzip, Compression::kSnappy, Compression::kLz4, Compression::kZstd}) {
    for (const int64_t more : {0, 1}) {
      const std::string zeros(static_cast<size_t>(kLimit + more), '\0');
      const auto unpacked = Unpack(compression, PackForTest(compression, false, zeros),
                                   arrow::default_memory_pool(), kLimit);
      EXPECT_EQ(unpacked.ok(), more == 0) << static_cast<int>(compression);
      if (more == 0) continue;
      EXPECT_THAT(unpacked.status().ToString(), HasSubstr("more than 1048576 bytes"));
    }
  }
  // A length that the data cannot have, in five bytes.
  const auto lie =
      Unpack(Compression::kSnappy, "\xff\xff\xff\xff\x0f", arrow::default_memory_pool());
  EXPECT_THAT(lie.status().ToString(), HasSubstr("its length cannot be"));
}

TEST(RecordBatch, RangeLeavesOutWhatIsNotWanted) {
  const std::string bytes = BuildBatch({.base_offset = 10, .records = Numbered(10)});
  Messages messages;
  ASSERT_TRUE(Read(bytes, &messages, {.from = 13, .stop = 15}, {}).ok());
  EXPECT_THAT(messages.offsets, ElementsAre(13, 14));
  EXPECT_THAT(messages.keys, IsEmpty());
  EXPECT_THAT(messages.details, IsEmpty());
}

TEST(RecordBatch, ALastBatchCutByTheBrokerIsLeftOut) {
  const std::string first = BuildBatch({.records = Numbered(3)});
  const std::string second = BuildBatch({.base_offset = 3, .records = Numbered(3)});
  for (size_t cut = 0; cut < second.size(); ++cut) {
    const std::string records = first + second.substr(0, cut);
    EXPECT_EQ(Split(records).size(), 1u) << cut;
  }
  EXPECT_EQ(Split(first + second).size(), 2u);
}

TEST(RecordBatch, DamageIsNoticed) {
  const std::string good = BuildBatch({.base_offset = 9, .records = Numbered(4)});
  for (size_t i = 0; i < good.size(); ++i) {
    if (i < 16 && i != 11) continue;  // Offset, epoch: not covered; lengths: another batch.
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 1);
    Messages messages;
    EXPECT_FALSE(Read(bad, &messages).ok() && messages.count() == 4) << i;
  }
  std::string crc = good;
  crc.back() ^= 1;
  Messages messages;
  EXPECT_THAT(Read(crc, &messages).ToString(),
              HasSubstr("offset 9 is damaged: its checksum does not fit"));
}

TEST(RecordBatch, RecordsOutOfOrderAreDamage) {
  for (const std::vector<TestRecord>& records :
       {std::vector<TestRecord>{{.offset_delta = 1, .key = {}, .value = "a"},
                                {.offset_delta = 1, .key = {}, .value = "b"}},
        std::vector<TestRecord>{{.offset_delta = -1, .key = {}, .value = "a"},
                                {.offset_delta = 1, .key = {}, .value = "b"}}}) {
    Messages messages;
    EXPECT_THAT(Read(BuildBatch({.records = records}), &messages).ToString(),
                HasSubstr("out of order"));
  }
}

TEST(RecordBatch, OldFormatsAreRefusedByName) {
  std::string old(40, '\0');
  old[11] = 28;
  old[16] = 1;
  std::vector<RawBatch> batches;
  const Status status = SplitBatches(old, &batches);
  EXPECT_EQ(status.code(), StatusCode::kUnsupported);
  EXPECT_THAT(status.ToString(), HasSubstr("format 1"));
  EXPECT_THAT(status.ToString(), HasSubstr("'scan.fetch.implementation' = 'librdkafka'"));
}

std::vector<int64_t> VisibleOffsets(const std::string& records,
                                    std::vector<AbortedTransaction> aborted, bool committed) {
  const auto visible = VisibleBatches(Split(records), std::move(aborted), committed);
  EXPECT_TRUE(visible.ok());
  std::vector<int64_t> offsets;
  for (const RawBatch& batch : *visible) offsets.push_back(batch.base_offset);
  return offsets;
}

std::string OfTransaction(int64_t offset, int64_t producer) {
  return BuildBatch({.base_offset = offset,
                     .records = Numbered(1),
                     .flags = kTransactionalFlag,
                     .producer_id = producer});
}

TEST(AbortedTransactions, AreSkippedUntilTheirControlRecord) {
  // Producer 7 aborts, then commits; producer 8 commits meanwhile; 9 has no transaction.
  const std::string records =
      OfTransaction(0, 7) + OfTransaction(1, 8) + OfTransaction(2, 7) +
      BuildControlBatch(3, 7, false) + OfTransaction(4, 7) +
      BuildBatch({.base_offset = 5, .records = Numbered(1), .producer_id = 9}) +
      BuildControlBatch(6, 8, true) + BuildControlBatch(7, 7, true);
  EXPECT_THAT(VisibleOffsets(records, {{7, 0}}, true), ElementsAre(1, 4, 5));
  EXPECT_THAT(VisibleOffsets(records, {}, false), ElementsAre(0, 1, 2, 4, 5));
  // Aborted twice: the second begins at offset 4.
  EXPECT_THAT(VisibleOffsets(records, {{7, 4}, {7, 0}}, true), ElementsAre(1, 5));
}

TEST(AbortedTransactions, MayHaveBegunBeforeTheAnswer) {
  const std::string records =
      OfTransaction(10, 7) + BuildControlBatch(11, 7, false) + OfTransaction(12, 7);
  EXPECT_THAT(VisibleOffsets(records, {{7, 2}}, true), ElementsAre(12));
}

}  // namespace
}  // namespace sluice::connectors::kafka::fetch
