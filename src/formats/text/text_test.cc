#include <bit>
#include <charconv>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

#include "common/base64.h"
#include "formats/text/bad_records.h"
#include "formats/text/number_text.h"
#include "formats/text/swar.h"
#include "formats/text/temporal_text.h"

namespace sluice::formats::text {
namespace {

std::string Double(double value) {
  char out[kMaxNumberChars];
  return {out, static_cast<size_t>(WriteDouble(value, out) - out)};
}
std::string Float(float value) {
  char out[kMaxNumberChars];
  return {out, static_cast<size_t>(WriteFloat(value, out) - out)};
}
std::string Decimal(const char* unscaled, int scale, bool plain) {
  char out[kMaxNumberChars];
  return {out,
          static_cast<size_t>(WriteDecimal(arrow::Decimal128(unscaled), scale, plain, out) - out)};
}

TEST(NumberText, DoublesInJavaForm) {
  struct Case {
    double value;
    const char* text;
  };
  const Case cases[] = {{1e7, "1.0E7"},
                        {1e-5, "1.0E-5"},
                        {1.1e-4, "1.1E-4"},
                        {0.001, "0.001"},
                        {9999999.0, "9999999.0"},
                        {1.23456789125e8, "1.23456789125E8"},
                        {1e21, "1.0E21"},
                        {-0.0, "-0.0"},
                        {0.0, "0.0"},
                        {4.9e-324, "4.9E-324"},
                        {1.5, "1.5"},
                        {-2.25e10, "-2.25E10"},
                        {0.1, "0.1"},
                        {100, "100.0"},
                        {1234.5678, "1234.5678"},
                        {-0.0012, "-0.0012"},
                        {1e100, "1.0E100"},
                        {2.2250738585072014E-308, "2.2250738585072014E-308"},
                        {1.7976931348623157e308, "1.7976931348623157E308"},
                        {0.30000000000000004, "0.30000000000000004"},
                        {std::nan(""), "NaN"},
                        {INFINITY, "Infinity"},
                        {-INFINITY, "-Infinity"}};
  for (const Case& c : cases) EXPECT_EQ(Double(c.value), c.text);
  EXPECT_EQ(Float(3.402823E38f), "3.402823E38");
  EXPECT_EQ(Float(1.4e-45f), "1.4E-45");
  EXPECT_EQ(Float(1e10f), "1.0E10");
  EXPECT_EQ(Float(0.1f), "0.1");
}

TEST(NumberText, DoublesReadBack) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    double value = std::bit_cast<double>(random());
    if (i % 3 == 0)
      value =
          static_cast<double>(static_cast<int64_t>(random() % 20'000'000'000) - 10'000'000'000) /
          1000;
    if (!std::isfinite(value)) continue;
    const std::string text = Double(value);
    double read = 0;
    ASSERT_TRUE(ParseDouble(text, &read)) << text;
    ASSERT_EQ(std::bit_cast<uint64_t>(read), std::bit_cast<uint64_t>(value)) << text;
    char shortest[40];
    const auto length =
        std::to_chars(shortest, shortest + 40, std::abs(value), std::chars_format::scientific).ptr -
        shortest;
    const auto digits = [](std::string_view s) {
      s = s.substr(0, s.find_first_of("eE"));
      std::string kept;
      for (const char c : s) {
        if (c >= '0' && c <= '9' && !(kept.empty() && c == '0')) kept += c;
      }
      while (!kept.empty() && kept.back() == '0') kept.pop_back();
      return kept;
    };
    if (std::abs(value) < 1e-300) continue;  // Java shows two digits where one would do.
    ASSERT_EQ(digits(text), digits({shortest, static_cast<size_t>(length)})) << text;
  }
}

TEST(NumberText, Decimals) {
  EXPECT_EQ(Decimal("10000", 2, false), "1E+2");
  EXPECT_EQ(Decimal("1000", 2, false), "1E+1");
  EXPECT_EQ(Decimal("1250", 2, false), "12.5");
  EXPECT_EQ(Decimal("0", 2, false), "0");
  EXPECT_EQ(Decimal("27", 9, false), "2.7E-8");
  EXPECT_EQ(Decimal("454621864049246170", 0, false), "4.5462186404924617E+17");
  EXPECT_EQ(Decimal("-1", 2, false), "-0.01");
  EXPECT_EQ(Decimal("10000", 2, true), "100.00");
  EXPECT_EQ(Decimal("27000000000", 18, true), "0.000000027000000000");
  EXPECT_EQ(Decimal("0", 18, true), "0.000000000000000000");
  EXPECT_EQ(Decimal("-99999999999999999999999999999999999999", 10, true),
            "-9999999999999999999999999999.9999999999");
  EXPECT_EQ(Decimal("10000000000000000000", 0, true), "10000000000000000000");
  EXPECT_EQ(Decimal("100000000000000000000000000000000000000", 0, true),
            "100000000000000000000000000000000000000");
}

TEST(NumberText, DecimalsReadBack) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 50'000; ++i) {
    std::string digits = random() % 2 == 0 ? "-" : "";
    const size_t count = 1 + random() % 38;
    for (size_t d = 0; d < count; ++d) digits += static_cast<char>('0' + random() % 10);
    const arrow::Decimal128 value(digits);
    const int scale = static_cast<int>(random() % 39);
    for (const bool plain : {false, true}) {
      char out[kMaxNumberChars];
      const std::string text(out, WriteDecimal(value, scale, plain, out));
      arrow::Decimal128 read;
      ASSERT_EQ(ParseDecimal(text, 38, scale, &read), DecimalOutcome::kOk) << text;
      ASSERT_EQ(read, value) << text;
    }
  }
}

TEST(NumberText, ReadsDecimals) {
  struct Case {
    const char* text;
    int precision;
    int scale;
    const char* expected;  // Unscaled; "" too large; "x" invalid.
  };
  const Case cases[] = {{"1e1", 10, 2, "1000"},
                        {"1.005", 10, 2, "101"},
                        {"-1.005", 10, 2, "-101"},
                        {"0.004", 10, 2, "0"},
                        {"99999.9", 4, 1, ""},
                        {"999.95", 4, 1, ""},
                        {"999.94", 4, 1, "9999"},
                        {".5", 10, 0, "1"},
                        {"5.", 10, 1, "50"},
                        {"+7", 10, 0, "7"},
                        {"0.05e2", 10, 1, "50"},
                        {"1e400", 10, 0, ""},
                        {"1e-400", 10, 0, "0"},
                        {"0e999999999", 3, 0, "0"},
                        {"", 10, 0, "x"},
                        {".", 10, 0, "x"},
                        {"1e", 10, 0, "x"},
                        {"1e99999999999", 10, 0, "x"},
                        {"--1", 10, 0, "x"},
                        {"1 ", 10, 0, "x"},
                        {"00000000000000000000000000000000000000000001.5", 38, 1, "15"}};
  for (const Case& c : cases) {
    arrow::Decimal128 value;
    const DecimalOutcome outcome = ParseDecimal(c.text, c.precision, c.scale, &value);
    const std::string expected = c.expected;
    if (expected == "x") {
      EXPECT_EQ(outcome, DecimalOutcome::kInvalid) << c.text;
    } else if (expected.empty()) {
      EXPECT_EQ(outcome, DecimalOutcome::kTooLarge) << c.text;
    } else {
      EXPECT_EQ(outcome, DecimalOutcome::kOk) << c.text;
      EXPECT_EQ(value.ToIntegerString(), expected) << c.text;
    }
  }
}

TEST(NumberText, LastDigits) {
  const std::string text = "99991234567890123456";
  const char* end = text.data() + text.size();
  for (unsigned count = 1; count <= 16; ++count) {
    uint64_t number = 0;
    ASSERT_TRUE(ReadLastDigits(end, count, &number));
    EXPECT_EQ(number, std::stoull(text.substr(text.size() - count))) << count;
    std::string spoilt = text;
    spoilt[text.size() - count] = '-';
    EXPECT_FALSE(ReadLastDigits(spoilt.data() + spoilt.size(), count, &number)) << count;
  }
}

TEST(NumberText, Integers) {
  int64_t value = 0;
  EXPECT_TRUE(ParseInteger("-9223372036854775808", INT64_MIN, INT64_MAX, &value));
  EXPECT_EQ(value, INT64_MIN);
  EXPECT_TRUE(ParseInteger("+00000000000000000000000012", INT64_MIN, INT64_MAX, &value));
  EXPECT_EQ(value, 12);
  for (const char* bad : {"9223372036854775808", "", "-", "1_0", "0x1", " 1",
                          "18446744073709551617", "99999999999999999999999"}) {
    EXPECT_FALSE(ParseInteger(bad, INT64_MIN, INT64_MAX, &value)) << bad;
  }
  EXPECT_FALSE(ParseInteger("128", INT8_MIN, INT8_MAX, &value));
}

TEST(TemporalText, TimestampsReadBack) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 100'000; ++i) {
    for (const int precision : {3, 6, 9}) {
      const TimestampStyle style = random() % 2 == 0 ? TimestampStyle::kSql : TimestampStyle::kIso;
      const bool instant = random() % 2 == 0;
      const TimestampRules rules = MakeTimestampRules(style, instant, precision);
      const auto value = static_cast<int64_t>(random()) >> (precision == 9 ? 0 : random() % 24);
      char out[kMaxTemporalChars];
      const std::string_view text(
          out, static_cast<size_t>(
                   WriteTimestamp(value, rules.units_per_second, style, instant, out) - out));
      int64_t read = 0;
      const char* reason = ParseTimestamp(text, rules, &read);
      ASSERT_EQ(reason, nullptr) << text << ": " << reason;
      ASSERT_EQ(read, value) << text;
    }
  }
}

TEST(TemporalText, EveryDayOfTheTableAndAround) {
  char out[kMaxTemporalChars];
  const auto first = static_cast<int32_t>(DaysFromCivil(1899, 12, 1));
  const auto last = static_cast<int32_t>(DaysFromCivil(2156, 2, 1));
  for (int32_t day = first; day < last; ++day) {
    const std::string date(out, WriteDate(day, out));
    int32_t read = 0;
    ASSERT_EQ(ParseDate(date, false, &read), nullptr) << date;
    ASSERT_EQ(read, day) << date;
    int64_t time = 0;
    const TimestampRules rules = MakeTimestampRules(TimestampStyle::kSql, false, 3);
    ASSERT_EQ(ParseTimestamp(date + " 23:59:58.907", rules, &time), nullptr) << date;
    ASSERT_EQ(time, day * int64_t{86'400'000} + 86'398'907) << date;
  }
  int32_t read = 0;
  for (const char* date : {"2021-02-29", "2100-02-29", "2020-04-31", "2020-00-10", "2020-13-10",
                           "2020-01-00", "2020-01-32"})
    EXPECT_NE(ParseDate(date, false, &read), nullptr) << date;
  int64_t time = 0;
  const TimestampRules rules = MakeTimestampRules(TimestampStyle::kSql, false, 3);
  for (const char* text : {"2020-05-20 10:00:00.12x", "2020-05-20 10:00:00x123",
                           "2020-05-20 10:00:00.1 3", "2020-05-20 24:00:00.001"})
    EXPECT_NE(ParseTimestamp(text, rules, &time), nullptr) << text;
}

// Fields of up to 16 characters by words against the digits one by one.
TEST(NumberText, FixedPointsByWords) {
  std::mt19937_64 random(8);
  static constexpr char kCharacters[] = "0123456789012345678901234567890123456789..x,";
  for (int i = 0; i < 300'000; ++i) {
    std::string text = "garbage,12.345678,";
    const size_t begin = text.size();
    for (size_t n = 1 + random() % 17; n > 0; --n)
      text += kCharacters[random() % (sizeof(kCharacters) - 1)];
    const std::string_view field = std::string_view(text).substr(begin);
    const size_t point = field.find('.');
    const std::string digits = std::string(field.substr(0, point)) +
                               (point == field.npos ? "" : std::string(field.substr(point + 1)));
    const bool numeric = digits.find_first_not_of("0123456789") == digits.npos;
    uint64_t mantissa = 0;
    int fraction = 0;
    const bool read =
        ReadFixedPoint(text.data() + begin, text.data() + text.size(), &mantissa, &fraction);
    if (read) {
      ASSERT_TRUE(numeric && !digits.empty()) << field;
      ASSERT_EQ(mantissa, std::stoull(digits)) << field;
      ASSERT_EQ(fraction, point == field.npos ? 0 : static_cast<int>(field.size() - point) - 1)
          << field;
    } else if (numeric && point != field.npos) {
      const bool fits = point - 1 < 8 && field.size() - point - 2 < 7;
      ASSERT_FALSE(fits) << field;
    }
  }
}

TEST(TemporalText, Writes) {
  char out[kMaxTemporalChars];
  const auto timestamp = [&](int64_t value, int64_t units) {
    return std::string(out, WriteTimestamp(value, units, TimestampStyle::kSql, false, out));
  };
  EXPECT_EQ(timestamp(-1, 1000), "1969-12-31 23:59:59.999");
  EXPECT_EQ(timestamp(0, 1'000'000'000), "1970-01-01 00:00:00");
  EXPECT_EQ(timestamp(120'000, 1'000'000), "1970-01-01 00:00:00.12");
  EXPECT_EQ(timestamp(253402300800000, 1000), "+10000-01-01 00:00:00");
  EXPECT_EQ(timestamp(-62198755200000, 1000), "-0001-01-01 00:00:00");
  EXPECT_EQ(std::string(out, WriteTime(3'723'400, out)), "01:02:03.4");
  EXPECT_EQ(std::string(out, WriteDate(-1, out)), "1969-12-31");
}

TEST(Base64, ReadsBackAndRefuses) {
  std::mt19937_64 random(4);
  for (size_t size = 0; size < 100; ++size) {
    std::string bytes;
    for (size_t i = 0; i < size; ++i) bytes += static_cast<char>(random());
    std::string text(Base64Size(size), ' ');
    WriteBase64(bytes, text.data());
    std::string read(Base64DecodedBound(text.size()), ' ');
    size_t read_size = 0;
    ASSERT_TRUE(ParseBase64(text, read.data(), &read_size));
    EXPECT_EQ(read.substr(0, read_size), bytes);
  }
  char out[64];
  size_t size = 0;
  for (const char* bad :
       {"A", "AA", "AAA", "AA A", "A===", "====", "AA=A", "AAAA\n", "AA-_", "AAAA="}) {
    EXPECT_FALSE(ParseBase64(bad, out, &size)) << bad;
  }
}

TEST(BadRecords, CountsLineEnds) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 2000; ++i) {
    std::string text;
    for (size_t n = random() % 400; n > 0; --n) text += "\n\rab"[random() % 4];
    int64_t lines = 0;
    int64_t feeds = 0;
    for (size_t k = 0; k < text.size(); ++k) {
      if (text[k] == '\n') ++feeds;
      if (text[k] == '\r' || (text[k] == '\n' && (k == 0 || text[k - 1] != '\r'))) ++lines;
    }
    for (const VectorLevel level : UsableVectorLevels()) {
      EXPECT_EQ(CountLineEnds(text, true, level), lines) << static_cast<int>(level);
      EXPECT_EQ(CountLineEnds(text, false, level), feeds) << static_cast<int>(level);
    }
  }
}

}  // namespace
}  // namespace sluice::formats::text
