#include "common/crc32.h"

#include <string>

#include <gtest/gtest.h>
#include <zlib.h>

#include "common/random.h"

namespace sluice {
namespace {

TEST(Crc32Test, TheCheckValueOfTheAlgorithm) { EXPECT_EQ(Crc32("123456789"), 0xCBF43926U); }

// Every length around the steps of 16 and 64 bytes, from every place in a word.
TEST(Crc32Test, IsZlibsAtAllLengthsAndPlaces) {
  Random random(7);
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes.push_back(static_cast<char>(random.Next()));
  for (size_t length = 0; length < 4900; length += length < 300 ? 1 : 97) {
    const std::string_view piece = std::string_view(bytes).substr(length % 17, length);
    EXPECT_EQ(Crc32(piece),
              crc32_z(0, reinterpret_cast<const unsigned char*>(piece.data()), piece.size()))
        << length;
  }
}

TEST(Crc32Test, AnyChangedBitShows) {
  std::string bytes(200, 'x');
  const uint32_t before = Crc32(bytes);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    EXPECT_NE(Crc32(bytes), before) << bit;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
  }
}

}  // namespace
}  // namespace sluice
