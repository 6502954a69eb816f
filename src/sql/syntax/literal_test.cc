#include "sql/syntax/literal.h"

#include <gtest/gtest.h>

#include "sql/syntax/parser.h"

namespace sluice::sql {
namespace {

const LiteralExpr& Parse(const std::string& text, Result<ExprPtr>* holder) {
  *holder = ParseExpression(text);
  SLUICE_CHECK(holder->ok(), text + ": " + holder->status().ToString());
  return (**holder)->As<LiteralExpr>();
}

TEST(LiteralTest, ReadsExactNumbers) {
  struct Case {
    std::string text;
    int64_t unscaled;
    int precision;
    int scale;
  };
  const Case cases[] = {
      {"0.00", 0, 3, 2},
      {".5", 5, 1, 1},
      {"00.50", 50, 4, 2},
      {"123", 123, 3, 0},
      {"-9223372036854775808", INT64_MIN, 19, 0},
      {"-2147483648", -2147483648LL, 10, 0},
      {"5.", 5, 1, 0},
      {"DECIMAL '1.50'", 150, 3, 2},
      {"DECIMAL '-1'", -1, 1, 0},
  };
  for (const Case& c : cases) {
    Result<ExprPtr> holder = ExprPtr();
    Result<ExactNumber> number = ReadExactNumber(Parse(c.text, &holder));
    ASSERT_TRUE(number.ok()) << c.text;
    EXPECT_EQ(number->unscaled, c.unscaled) << c.text;
    EXPECT_EQ(number->precision, c.precision) << c.text;
    EXPECT_EQ(number->scale, c.scale) << c.text;
  }
  for (const char* text : {"9223372036854775808", "9.223372036854775808"}) {
    Result<ExprPtr> holder = ExprPtr();
    Result<ExactNumber> number = ReadExactNumber(Parse(text, &holder));
    EXPECT_EQ(number.status().message(),
              "Numeric literal '" + std::string(text) + "' out of range");
  }
}

TEST(LiteralTest, ReadsIntervals) {
  struct Case {
    std::string text;
    bool is_months;
    int64_t value;
  };
  constexpr int64_t kSecond = 1'000'000'000;
  const Case cases[] = {
      {"INTERVAL '1' DAY", false, 86400 * kSecond},
      {"INTERVAL -'5' SECOND", false, -5 * kSecond},
      {"INTERVAL '-5' SECONDS", false, -5 * kSecond},
      {"INTERVAL 5 MINUTE", false, 300 * kSecond},
      {"INTERVAL 100 SECOND", false, 100 * kSecond},
      {"INTERVAL '100' SECOND", false, 100 * kSecond},
      {"INTERVAL '0.001' SECOND", false, kSecond / 1000},
      {"INTERVAL '1-3' YEAR TO MONTH", true, 15},
      {"INTERVAL '1 02:03:04.567' DAY TO SECOND", false, 93784567 * (kSecond / 1000)},
      {"INTERVAL '100' DAY(3)", false, 8640000 * kSecond},
      {"INTERVAL '2' WEEK", false, 14 * 86400 * kSecond},
      {"INTERVAL '3' QUARTERS", true, 9},
      {"INTERVAL '10:20' HOUR TO MINUTE", false, 37200 * kSecond},
      {"INTERVAL '007' DAY", false, 7 * 86400 * kSecond},
  };
  for (const Case& c : cases) {
    Result<ExprPtr> holder = ExprPtr();
    Result<IntervalValue> interval = ReadInterval(Parse(c.text, &holder));
    ASSERT_TRUE(interval.ok()) << c.text << interval.status().ToString();
    EXPECT_EQ(interval->is_months, c.is_months) << c.text;
    EXPECT_EQ(c.is_months ? interval->months : interval->nanos, c.value) << c.text;
  }
}

TEST(LiteralTest, RefusesIntervals) {
  struct Case {
    std::string text;
    std::string message;
  };
  const Case cases[] = {
      {"INTERVAL '100' DAY", "Interval field value 100 exceeds precision of DAY(2) field"},
      {"INTERVAL 'x' DAY", "Illegal interval literal format 'x' for INTERVAL DAY"},
      {"INTERVAL '1-12' YEAR TO MONTH", "Illegal interval literal format"},
      {"INTERVAL '1 25' DAY TO HOUR", "Illegal interval literal format"},
      {"INTERVAL '' DAY", "Illegal interval literal format"},
      {"INTERVAL '1.' SECOND", "Illegal interval literal format"},
      {"INTERVAL '99999999999999999999' DAY(20)", "too large"},
      {"INTERVAL 9999999999 DAY", "too large"},
  };
  for (const Case& c : cases) {
    Result<ExprPtr> holder = ExprPtr();
    Result<IntervalValue> interval = ReadInterval(Parse(c.text, &holder));
    ASSERT_FALSE(interval.ok()) << c.text;
    EXPECT_NE(interval.status().message().find(c.message), std::string::npos)
        << interval.status().message();
    EXPECT_EQ(interval.status().position(), (SourcePosition{1, 1}));
  }
}

TEST(LiteralTest, ChecksAndPadsDatesAndTimes) {
  auto text = [](const std::string& sql) {
    Result<ExprPtr> parsed = ParseExpression(sql);
    return parsed.ok() ? (*parsed)->As<LiteralExpr>().text : parsed.status().message();
  };
  EXPECT_EQ(text("DATE '2020-02-29'"), "2020-02-29");
  EXPECT_EQ(text("DATE '2020-2-9'"), "2020-02-09");
  EXPECT_EQ(text("DATE '2020-02-30'"),
            "SQL parse failed. Illegal DATE literal '2020-02-30': not in format 'yyyy-MM-dd'");
  EXPECT_EQ(text("TIME '12:34:56.789'"), "12:34:56.789");
  EXPECT_EQ(text("TIMESTAMP '2020-01-01'"), "2020-01-01 00:00:00");
  EXPECT_EQ(text("TIMESTAMP WITH LOCAL TIME ZONE '2020-01-01 00:00:00.5'"),
            "2020-01-01 00:00:00.5");
  EXPECT_EQ(text("TIMESTAMP '2020-01-01T00:00:00'"),
            "SQL parse failed. Illegal TIMESTAMP literal '2020-01-01T00:00:00': not in format "
            "'yyyy-MM-dd HH:mm:ss'");
  for (const char* bad : {"DATE '2019-02-29'", "DATE '0000-01-01'", "DATE '2020-13-01'", "DATE 'x'",
                          "TIME '24:00:00'", "TIME '12:34'", "TIMESTAMP 'nope'",
                          "TIME '00:00:00.1234567890'", "DATE '2020-01-01 00:00:00'"}) {
    EXPECT_EQ(ParseExpression(bad).status().code(), StatusCode::kParseError) << bad;
  }
}

}  // namespace
}  // namespace sluice::sql
