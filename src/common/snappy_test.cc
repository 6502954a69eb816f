#include "common/snappy.h"

#include <memory>
#include <string>
#include <vector>

#include <arrow/result.h>
#include <arrow/util/compression.h>
#include <gtest/gtest.h>

#include "common/random.h"

namespace sluice {
namespace {

std::string Compress(const std::string& plain) {
  const auto codec = arrow::util::Codec::Create(arrow::Compression::SNAPPY).ValueOrDie();
  const auto* const in = reinterpret_cast<const uint8_t*>(plain.data());
  const auto size = static_cast<int64_t>(plain.size());
  std::string out(static_cast<size_t>(codec->MaxCompressedLen(size, in)), '\0');
  const int64_t length = codec
                             ->Compress(size, in, static_cast<int64_t>(out.size()),
                                        reinterpret_cast<uint8_t*>(out.data()))
                             .ValueOrDie();
  out.resize(static_cast<size_t>(length));
  return out;
}

/// Buffers of exactly that size, so that a sanitizer sees every byte that is too far.
bool Decompress(std::string_view compressed, size_t size, std::string* plain) {
  const auto in = std::make_unique<char[]>(compressed.size());
  std::copy(compressed.begin(), compressed.end(), in.get());
  const auto out = std::make_unique<uint8_t[]>(size + 1);
  out[size] = 0xA5;
  if (!DecompressSnappy({{in.get(), compressed.size()}, out.get(), size})) return false;
  EXPECT_EQ(out[size], 0xA5);
  plain->assign(reinterpret_cast<const char*>(out.get()), size);
  return true;
}

/// Texts of all kinds: incompressible, repeating after every distance, long runs, numbers.
std::vector<std::string> Texts() {
  Random random(11);
  std::vector<std::string> texts = {"", "a", std::string(100'000, 'z')};
  for (size_t period = 1; period < 70; ++period) {
    std::string text;
    for (size_t i = 0; i < period; ++i) text.push_back(static_cast<char>(random.Next()));
    while (text.size() < 3000) text += text;
    texts.push_back(text.substr(0, 2000 + period));
  }
  for (size_t size = 1; size < 100'000; size = size * 3 / 2 + 1) {
    std::string noise;
    std::string doubles;
    while (noise.size() < size) noise.push_back(static_cast<char>(random.Next()));
    while (doubles.size() < size) {
      const double value = static_cast<double>(random.Below(100'000)) / 100;
      doubles.append(reinterpret_cast<const char*>(&value), sizeof(value));
    }
    texts.push_back(std::move(noise));
    texts.push_back(std::move(doubles));
  }
  return texts;
}

TEST(SnappyTest, GivesBackWhatArrowsCodecCompressed) {
  for (const std::string& text : Texts()) {
    std::string plain;
    ASSERT_TRUE(Decompress(Compress(text), text.size(), &plain)) << text.size();
    EXPECT_EQ(plain, text);
  }
}

TEST(SnappyTest, ElementsThatTheCompressorNeverMakes) {
  const std::string literal(300, 'q');
  std::string plain;
  // A literal whose length takes four bytes, then a copy with an offset of four bytes.
  const std::string wide = std::string("\xB6\x02", 2) + std::string("\xFC\x2B\x01\x00\x00", 5) +
                           literal + std::string("\x27\x2C\x01\x00\x00", 5);
  ASSERT_TRUE(Decompress(wide, 310, &plain));
  EXPECT_EQ(plain, std::string(310, 'q'));
  // A short literal, a copy with an offset of four bytes, and enough behind for large steps.
  const std::string short_one = std::string("\xB2\x02", 2) + std::string("\x04xy", 3) +
                                std::string("\x0F\x02\x00\x00\x00", 5) +
                                std::string("\xFC\x2B\x01\x00\x00", 5) + literal;
  ASSERT_TRUE(Decompress(short_one, 306, &plain));
  EXPECT_EQ(plain, "xyxyxy" + literal);
}

TEST(SnappyTest, RefusesWhatIsDamaged) {
  const std::string filler(400, 'f');
  const std::string tail = std::string("\xF4\x8F\x01", 3) + filler;  // A literal of 400.
  const struct {
    const char* what;
    std::string bytes;
    size_t size;
  } cases[] = {
      {"nothing", "", 0},
      {"a size without an end", "\xFF\xFF\xFF\xFF\xFF\xFF\x01", 1},
      {"another size", Compress(filler), 399},
      {"too few elements", std::string("\x05\x00x", 3), 5},
      {"a literal behind the end", std::string("\x05\x10xy", 4), 5},
      {"a literal that is too long", std::string("\x02\x08xyz", 5), 2},
      {"a length that is cut off", std::string("\x05\xFC\x01", 3), 5},
      {"an offset that is cut off", std::string("\x06\x00x\x0Ex", 5), 6},
      {"a copy of nothing", std::string("\x05\x00x\x01\x00", 5), 5},
      {"a copy from before the beginning", std::string("\x05\x00x\x01\x02", 5), 5},
      {"a copy that is too long", std::string("\x02\x00x\x11\x01", 5), 2},
      {"a copy of nothing, in large steps", std::string("\x95\x03\x00x\x01\x00", 6) + tail, 405},
      {"from before the beginning, in large steps", std::string("\x95\x03\x00x\x01\x02", 6) + tail,
       405},
      {"four bytes of offset, in large steps",
       std::string("\x92\x03\x00x\x03\x00\x00\x00\x80", 9) + tail, 402},
      {"a long literal behind the end, in large steps",
       std::string("\x90\x4E\xF4\xFF\xFF", 5) + filler, 10000},
  };
  for (const auto& test : cases) {
    std::string plain;
    EXPECT_FALSE(Decompress(test.bytes, test.size, &plain)) << test.what;
  }
}

// Two blocks of all sizes, one of which ends first.
TEST(SnappyTest, PairsAreWhatEachBlockIs) {
  const std::vector<std::string> texts = Texts();
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string& first = texts[i];
    const std::string& second = texts[(i * 37 + 5) % texts.size()];
    const std::string packed_first = Compress(first);
    const std::string packed_second = Compress(second);
    const auto one = std::make_unique<uint8_t[]>(first.size());
    const auto two = std::make_unique<uint8_t[]>(second.size());
    const SnappyBlock one_block{packed_first, one.get(), first.size()};
    const SnappyBlock two_block{packed_second, two.get(), second.size()};
    ASSERT_TRUE(DecompressSnappyPair(one_block, two_block)) << i;
    EXPECT_EQ(std::string(one.get(), one.get() + first.size()), first);
    EXPECT_EQ(std::string(two.get(), two.get() + second.size()), second);
    const SnappyBlock cut{std::string_view(packed_first).substr(0, packed_first.size() - 1),
                          one.get(), first.size()};
    EXPECT_FALSE(DecompressSnappyPair(cut, two_block)) << i;
    EXPECT_FALSE(DecompressSnappyPair(two_block, cut)) << i;
  }
}

// Cut off anywhere or with any byte changed: refused or other bytes, never out of bounds.
TEST(SnappyTest, DamagedBlocksStayWithinBounds) {
  Random random(3);
  for (const std::string& text : Texts()) {
    if (text.empty() || text.size() > 20'000) continue;
    const std::string whole = Compress(text);
    for (int turn = 0; turn < 60; ++turn) {
      std::string plain;
      EXPECT_FALSE(Decompress(whole.substr(0, random.Below(whole.size())), text.size(), &plain));
      std::string changed = whole;
      for (uint64_t i = 0; i <= random.Below(4); ++i)
        changed[random.Below(changed.size())] = static_cast<char>(random.Next());
      Decompress(changed, text.size(), &plain);
    }
  }
}

}  // namespace
}  // namespace sluice
