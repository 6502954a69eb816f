#include "formats/orc/run_length.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/random.h"

namespace sluice::formats::orc_format {
namespace {

using ::testing::ElementsAre;

std::shared_ptr<const BlockCodec> NoCodec() {
  return BlockCodec::Make(Compression::kNone, 0).value();
}

std::vector<int64_t> Decode(const std::string& bytes, EncodingKind encoding, bool is_signed,
                            int64_t count) {
  StreamInput input(arrow::Buffer::FromString(bytes), NoCodec());
  std::vector<int64_t> values(static_cast<size_t>(count));
  MakeIntegerDecoder(&input, encoding, is_signed)->Read(values.data(), count);
  EXPECT_TRUE(input.status().ok()) << input.status().ToString();
  return values;
}

// The examples of the ORC specification.
TEST(RunLengthTest, ExamplesOfTheSpecification) {
  using namespace std::string_literals;  // NOLINT: zeros in literals.
  EXPECT_EQ(Decode("\x61\x00\x07"s, EncodingKind::kDirect, false, 100),
            std::vector<int64_t>(100, 7));
  const auto down = Decode("\x61\xff\x64"s, EncodingKind::kDirect, false, 100);
  EXPECT_EQ(down.front(), 100);
  EXPECT_EQ(down.back(), 1);
  EXPECT_THAT(Decode("\xfb\x02\x03\x04\x07\x0b"s, EncodingKind::kDirect, false, 5),
              ElementsAre(2, 3, 4, 7, 11));
  EXPECT_THAT(Decode("\x0a\x27\x10"s, EncodingKind::kDirectV2, false, 5),
              ElementsAre(10000, 10000, 10000, 10000, 10000));
  EXPECT_THAT(
      Decode("\x5e\x03\x5c\xa1\xab\x1e\xde\xad\xbe\xef"s, EncodingKind::kDirectV2, false, 4),
      ElementsAre(23713, 43806, 57005, 48879));
  EXPECT_THAT(Decode("\x8e\x09\x2b\x21\x07\xd0\x1e\x00\x14\x70\x28\x32\x3c\x46\x50\x5a\xfc\xe8"s,
                     EncodingKind::kDirectV2, false, 10),
              ElementsAre(2030, 2000, 2020, 1000000, 2040, 2050, 2060, 2070, 2080, 2090));
  EXPECT_THAT(Decode("\xc6\x09\x02\x02\x22\x42\x42\x46"s, EncodingKind::kDirectV2, false, 10),
              ElementsAre(2, 3, 5, 7, 11, 13, 17, 19, 23, 29));

  StreamInput input(arrow::Buffer::FromString("\x61\x00\xfe\x44\x45"s), NoCodec());
  ByteRunDecoder bytes(&input);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(bytes.Next(), 0);
  EXPECT_EQ(bytes.Next(), 0x44);
  EXPECT_EQ(bytes.Next(), 0x45);
}

std::vector<int64_t> RandomIntegers(sluice::Random& random, bool is_signed) {
  std::vector<int64_t> values;
  while (values.size() < 3000) {
    const uint64_t length = 1 + random.Below(random.OneIn(10) ? 700 : 20);
    int64_t value = static_cast<int64_t>(random.Next() >> random.Below(64));
    if (!is_signed && value < 0) value = INT64_MAX;
    const int64_t step = random.OneIn(2) ? 0 : static_cast<int64_t>(random.Below(5));
    const bool noise = random.OneIn(2);
    for (uint64_t i = 0; i < length; ++i) {
      values.push_back(noise ? static_cast<int64_t>(random.Next() >> (1 + random.Below(63)))
                             : value);
      if (is_signed && random.OneIn(3)) values.back() = -values.back();
      if (__builtin_add_overflow(value, step, &value)) value = 0;
    }
  }
  values.insert(values.end(), {INT64_MAX, 0, INT64_MAX});
  if (is_signed) values.insert(values.end(), {INT64_MIN, INT64_MAX, INT64_MIN, -1, INT64_MIN});
  return values;
}

TEST(RunLengthTest, IntegersComeBack) {
  sluice::Random random(7);
  for (int round = 0; round < 100; ++round) {
    const bool is_signed = round % 2 == 0;
    const std::vector<int64_t> values = RandomIntegers(random, is_signed);
    const auto codec = NoCodec();
    IntegerEncoder encoder(codec.get(), is_signed);
    std::vector<uint64_t> positions;
    for (const int64_t value : values) {
      if (random.OneIn(500)) {
        ASSERT_TRUE(encoder.AppendPosition(&positions).ok());
      }
      ASSERT_TRUE(encoder.Append(value).ok());
    }
    ASSERT_EQ(Decode(*encoder.Finish(), EncodingKind::kDirectV2, is_signed,
                     static_cast<int64_t>(values.size())),
              values)
        << round;
  }
}

TEST(RunLengthTest, BitsComeBack) {
  sluice::Random random(8);
  const auto codec = NoCodec();
  BitEncoder encoder(codec.get());
  std::vector<bool> bits;
  std::vector<uint64_t> positions;
  for (int i = 0; i < 2000; ++i) {
    const bool bit = random.OneIn(2);
    const auto count = static_cast<int64_t>(random.Below(random.OneIn(20) ? 3000 : 4));
    bits.insert(bits.end(), static_cast<size_t>(count), bit);
    ASSERT_TRUE(encoder.AppendRun(bit, count).ok());
    if (random.OneIn(50)) {
      ASSERT_TRUE(encoder.AppendPosition(&positions).ok());
    }
  }
  StreamInput input(arrow::Buffer::FromString(*encoder.Finish()), codec);
  BitDecoder decoder(&input);
  for (size_t i = 0; i < bits.size(); ++i) ASSERT_EQ(decoder.Next(), bits[i]) << i;
  EXPECT_TRUE(input.status().ok());
}

TEST(BlockStreamTest, EveryCodecComesBack) {
  sluice::Random random(9);
  std::string text;
  for (int i = 0; i < 20000; ++i) text.push_back(static_cast<char>('a' + random.Below(4)));
  for (int i = 0; i < 5000; ++i) text.push_back(static_cast<char>(random.Next()));
  for (const Compression compression :
       {Compression::kNone, Compression::kZlib, Compression::kSnappy, Compression::kLz4,
        Compression::kZstd}) {
    const auto codec = BlockCodec::Make(compression, 1024).value();
    const std::string encoded = *codec->EncodeAll(text);
    EXPECT_EQ(*codec->DecodeAll(encoded, 1 << 20), text);
    if (compression != Compression::kNone) {
      EXPECT_LT(encoded.size(), text.size());
    }
    StreamInput cut(arrow::Buffer::FromString(encoded.substr(0, encoded.size() - 1)), codec);
    std::string read;
    cut.AppendTo(&read, text.size());
    EXPECT_TRUE(cut.failed());
  }
  EXPECT_EQ(BlockCodec::Make(Compression::kLzo, 1024).status().code(), StatusCode::kDataError);
  EXPECT_EQ(BlockCodec::Make(Compression::kZlib, 1 << 30).status().code(), StatusCode::kDataError);
}

}  // namespace
}  // namespace sluice::formats::orc_format
