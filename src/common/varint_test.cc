#include "common/varint.h"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

template <typename Number>
std::string Written(Number number) {
  std::string bytes;
  AppendVarint(number, &bytes);
  return bytes;
}

/// Numbers of every length, with the least and the greatest of each.
std::vector<uint64_t> Numbers() {
  std::vector<uint64_t> numbers = {0, std::numeric_limits<uint64_t>::max()};
  for (int bits = 0; bits < 64; ++bits) {
    numbers.push_back(uint64_t{1} << bits);
    numbers.push_back((uint64_t{1} << bits) - 1);
  }
  return numbers;
}

TEST(VarintTest, BytesAreThoseOfTheFormats) {
  EXPECT_EQ(Written(uint64_t{0}), std::string(1, '\0'));
  EXPECT_EQ(Written(uint64_t{127}), "\x7F");
  EXPECT_EQ(Written(uint64_t{300}), "\xAC\x02");
  EXPECT_EQ(Written(std::numeric_limits<uint32_t>::max()), "\xFF\xFF\xFF\xFF\x0F");
  EXPECT_EQ(Written(std::numeric_limits<uint64_t>::max()).size(), kMaxVarintBytes<uint64_t>);
}

TEST(VarintTest, GivesBackEveryLengthAndStopsBehindIt) {
  for (const uint64_t number : Numbers()) {
    const std::string bytes = Written(number);
    const std::string with_more = bytes + "\x81";
    std::string_view rest = with_more;
    uint64_t read = 0;
    ASSERT_EQ(ReadVarint(&rest, &read), VarintRead::kWhole) << number;
    EXPECT_EQ(read, number);
    EXPECT_EQ(rest, "\x81");
  }
}

TEST(VarintTest, SaysWhereBytesEndWithinANumberAndMovesNowhere) {
  for (const uint64_t number : Numbers()) {
    const std::string bytes = Written(number);
    for (size_t size = 0; size < bytes.size(); ++size) {
      const std::string cut = bytes.substr(0, size);
      std::string_view rest = cut;
      uint64_t read = 7;
      ASSERT_EQ(ReadVarint(&rest, &read), VarintRead::kCut) << number << " of " << size;
      EXPECT_EQ(read, 7U);
      EXPECT_EQ(rest.size(), size);
    }
  }
}

TEST(VarintTest, ANumberThatDoesNotFitIntoTheTypeIsRefused) {
  for (const uint64_t number : Numbers()) {
    const std::string bytes = Written(number);
    std::string_view rest = bytes;
    uint32_t read = 7;
    const bool fits = number <= std::numeric_limits<uint32_t>::max();
    ASSERT_EQ(ReadVarint(&rest, &read), fits ? VarintRead::kWhole : VarintRead::kTooLarge);
    EXPECT_EQ(read, fits ? number : 7);
    EXPECT_EQ(rest.size(), fits ? 0 : bytes.size());
  }
}

TEST(VarintTest, ANumberThatNeverEndsIsRefusedAtTheBytesOfTheType) {
  const std::string nine(9, '\x80');
  uint64_t read = 0;
  std::string_view cut = nine;
  EXPECT_EQ(ReadVarint(&cut, &read), VarintRead::kCut);
  for (const char* tenth : {"\x02", "\x80", "\x81", "\x7F"}) {
    const std::string bytes = nine + tenth;
    std::string_view rest = bytes;
    EXPECT_EQ(ReadVarint(&rest, &read), VarintRead::kTooLarge);
  }
  const std::string padded = nine + std::string(1, '\0');  // Zero in ten bytes.
  std::string_view rest = padded;
  EXPECT_EQ(ReadVarint(&rest, &read), VarintRead::kWhole);
  EXPECT_EQ(read, 0U);
}

TEST(VarintTest, WideNumbers) {
  using Wide = unsigned __int128;
  const Wide greatest = ~Wide{0};
  for (const Wide number : {Wide{0}, Wide{1} << 64, greatest >> 1, greatest}) {
    const std::string bytes = Written(number);
    std::string_view rest = bytes;
    Wide read = 0;
    ASSERT_EQ(ReadVarint(&rest, &read), VarintRead::kWhole);
    EXPECT_TRUE(read == number);
  }
  std::string bytes = Written(greatest);
  ASSERT_EQ(bytes.size(), kMaxVarintBytes<Wide>);
  ++bytes.back();
  std::string_view rest = bytes;
  Wide read = 0;
  EXPECT_EQ(ReadVarint(&rest, &read), VarintRead::kTooLarge);
}

TEST(VarintTest, ZigzagAndBack) {
  EXPECT_EQ(Zigzag(0), 0U);
  EXPECT_EQ(Zigzag(-1), 1U);
  EXPECT_EQ(Zigzag(1), 2U);
  for (const uint64_t number : Numbers()) EXPECT_EQ(Zigzag(FromZigzag(number)), number);
}

}  // namespace
}  // namespace sluice
