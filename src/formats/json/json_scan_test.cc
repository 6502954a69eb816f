// Every variant of the scan that this machine can run finds what a plain loop finds.
#include "formats/json/json_scan.h"

#include <string>

#include <gtest/gtest.h>

#include "common/random.h"

namespace sluice::formats::json {
namespace {

std::vector<uint32_t> Expected(const std::string& text, size_t begin) {
  std::vector<uint32_t> positions;
  bool in_string = false;
  for (size_t at = begin; at < text.size(); ++at) {
    if (text[at] == '\n') in_string = false;
    if (text[at] == '"') in_string = !in_string;
    if (text[at] == '\n' || (text[at] == ',' && !in_string))
      positions.push_back(static_cast<uint32_t>(at));
  }
  return positions;
}

// `step`: how many positions are asked for at a time.
std::vector<uint32_t> Found(const std::string& text, size_t begin, text::VectorLevel level,
                            size_t step) {
  // Not a byte behind the text may be read: under ASan this tells.
  const std::vector<char> exact(text.begin(), text.end());
  StructureScan scan(level);
  scan.Start(exact.data(), begin, exact.size());
  std::vector<uint32_t> positions;
  while (const uint32_t* at = scan.Peek(step)) {
    positions.insert(positions.end(), at, at + step);
    scan.Take(step);
  }
  while (const uint32_t* at = scan.Peek(1)) {
    positions.push_back(*at);
    scan.Take(1);
  }
  return positions;
}

std::string RandomText(Random& random) {
  // Of some texts nearly every byte is of interest, of others hardly one.
  static constexpr char kBytes[] = {'"', ',', '\n', '\\', '{', 'a', '\xE9', '\0'};
  const uint64_t plain = random.Below(40);
  std::string text;
  for (uint64_t n = random.Below(3000); n > 0; --n)
    text += random.Below(plain + 1) == 0 ? kBytes[random.Below(std::size(kBytes))] : 'x';
  return text;
}

TEST(StructureScanTest, AllVariantsFindTheSame) {
  Random random(5);
  for (int i = 0; i < 400; ++i) {
    const std::string text = RandomText(random);
    const size_t begin = random.Below(text.size() + 1);
    const std::vector<uint32_t> expected = Expected(text, begin);
    for (const text::VectorLevel level : text::UsableVectorLevels()) {
      EXPECT_EQ(Found(text, begin, level, 1 + random.Below(9)), expected)
          << "level " << static_cast<int>(level) << ", text " << i;
    }
  }
}

TEST(StructureScanTest, MorePositionsThanAreFoundAheadAtOnce) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += i % 7 == 0 ? "\",\",\n" : ",";
  for (const text::VectorLevel level : text::UsableVectorLevels())
    EXPECT_EQ(Found(text, 0, level, 5000), Expected(text, 0)) << static_cast<int>(level);
}

TEST(StructureScanTest, SkipsToAPosition) {
  const std::string text = "a,b,c\nd,e\n" + std::string(200, 'x') + ",f\n";
  for (const text::VectorLevel level : text::UsableVectorLevels()) {
    StructureScan scan(level);
    scan.Start(text.data(), 0, text.size());
    scan.SkipTo(4);
    ASSERT_NE(scan.Peek(1), nullptr);
    EXPECT_EQ(*scan.Peek(1), 5u);
    scan.SkipTo(100);
    EXPECT_EQ(*scan.Peek(1), 210u);
    scan.SkipTo(1000);
    EXPECT_EQ(scan.Peek(1), nullptr);
  }
}

}  // namespace
}  // namespace sluice::formats::json
