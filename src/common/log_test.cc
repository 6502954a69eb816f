#include "common/log.h"

#include <gtest/gtest.h>

#include "common/text.h"

namespace sluice {
namespace {

TEST(LegibleTest, NothingThatMovesACursorIsLeft) {
  EXPECT_EQ(Legible("plain \u6f22 \u00e9"), "plain \u6f22 \u00e9");
  EXPECT_EQ(Legible("a\x1b[31mred\r\t\x7f"), "a\\x1B[31mred\\r\\t\\x7F");
  EXPECT_EQ(Legible("\xc2\x9b[2J\xc2\xa0"), "\\xC2\\x9B[2J\xc2\xa0");
  EXPECT_EQ(Legible("no \xff text"), "no \\xFF text");
  EXPECT_EQ(Legible(std::string(3000, 'x')).size(), 3000U);
}

TEST(LegibleTest, LineBreaksStay) {
  EXPECT_EQ(Legible(""), "");
  EXPECT_EQ(Legible("\n"), "\n");
  EXPECT_EQ(Legible("In a statement:\nwhat is wrong\n"), "In a statement:\nwhat is wrong\n");
}

TEST(LegibleTest, NothingInAMessageLooksLikeAnotherLineOfTheLog) {
  EXPECT_EQ(LogText("Skipped /in/a\n[ERROR] b"), "Skipped /in/a\n  [ERROR] b");
  EXPECT_EQ(LogText("one line"), "one line");
}

}  // namespace
}  // namespace sluice
