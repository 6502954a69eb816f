#include "types/value_text.h"

#include <cmath>
#include <limits>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "types/calendar.h"

namespace sluice {
namespace {

std::string DoubleText(double value) {
  std::string text;
  AppendDoubleText(value, &text);
  return text;
}
std::string FloatText(float value) {
  std::string text;
  AppendFloatText(value, &text);
  return text;
}

TEST(NumberText, IsJavas) {
  const std::pair<double, const char*> cases[] = {
      {0.0, "0.0"},
      {-0.0, "-0.0"},
      {1.5, "1.5"},
      {100.0, "100.0"},
      {1e7, "1.0E7"},
      {9999999.0, "9999999.0"},
      {12345678.9, "1.23456789E7"},
      {0.001, "0.001"},
      {0.000999, "9.99E-4"},
      {1e-5, "1.0E-5"},
      {0.1, "0.1"},
      {1.0 / 3, "0.3333333333333333"},
      {1e20, "1.0E20"},
      {1.7976931348623157e308, "1.7976931348623157E308"},
      {4.9e-324, "4.9E-324"},
      {9007199254740992.0, "9.007199254740992E15"},
      {std::numeric_limits<double>::infinity(), "Infinity"},
      {-std::numeric_limits<double>::infinity(), "-Infinity"},
      {std::nan(""), "NaN"},
  };
  for (const auto& [value, text] : cases) EXPECT_EQ(DoubleText(value), text);
  EXPECT_EQ(FloatText(0.1F), "0.1");
  EXPECT_EQ(FloatText(123456789.0F), "1.23456792E8");
  EXPECT_EQ(FloatText(16777216.0F), "1.6777216E7");
  EXPECT_EQ(FloatText(3.4028235e38F), "3.4028235E38");
}

TEST(NumberText, Decimals) {
  const std::tuple<const char*, int, const char*> cases[] = {
      {"0", 0, "0"},
      {"0", 3, "0.000"},
      {"110", 2, "1.10"},
      {"-5", 2, "-0.05"},
      {"-12345", 0, "-12345"},
      {"99999999999999999999999999999999999999", 38, "0.99999999999999999999999999999999999999"},
      {"-99999999999999999999999999999999999999", 0, "-99999999999999999999999999999999999999"},
      {"1000000000000000000", 18, "1.000000000000000000"},
  };
  for (const auto& [unscaled, scale, text] : cases) {
    std::string out;
    AppendDecimalText(*arrow::Decimal128::FromString(unscaled), scale, &out);
    EXPECT_EQ(out, text);
  }
}

TEST(TimeText, DatesAndIntervals) {
  std::string text;
  AppendDateText(0, &text);
  text += " ";
  AppendDateText(static_cast<int32_t>(DaysFromCivil(9999, 12, 31)), &text);
  text += " ";
  AppendDateText(static_cast<int32_t>(DaysFromCivil(1, 1, 1)), &text);
  EXPECT_EQ(text, "1970-01-01 9999-12-31 0001-01-01");
  text.clear();
  AppendTimestampText(-1, 999000000, 3, &text);
  EXPECT_EQ(text, "1969-12-31 23:59:59.999");
  text.clear();
  AppendTimeText(3723004, 3, &text);
  EXPECT_EQ(text, "01:02:03.004");
  text.clear();
  AppendYearMonthText(15, &text);
  AppendYearMonthText(-15, &text);
  AppendDayTimeText(93784567, &text);
  AppendDayTimeText(-1, &text);
  EXPECT_EQ(text, "+1-03-1-03+1 02:03:04.567-0 00:00:00.001");
}

TEST(ParseText, Integers) {
  const std::tuple<const char*, TextError, int64_t> cases[] = {
      {"12", TextError::kNone, 12},     {" +5 ", TextError::kNone, 5},
      {"-128", TextError::kNone, -128}, {"12.7", TextError::kNone, 12},
      {"-1.", TextError::kNone, -1},    {"", TextError::kEmpty, 0},
      {"  ", TextError::kEmpty, 0},     {"1e3", TextError::kInvalid, 0},
      {"abc", TextError::kInvalid, 0},  {"-", TextError::kInvalid, 0},
      {"1.x", TextError::kInvalid, 0},  {"1 2", TextError::kInvalid, 0},
      {"128", TextError::kOverflow, 0}, {"99999999999999999999", TextError::kOverflow, 0},
  };
  for (const auto& [text, error, expected] : cases) {
    int64_t value = 0;
    EXPECT_EQ(ParseIntegerText(text, -128, 127, &value), error) << text;
    if (error == TextError::kNone) {
      EXPECT_EQ(value, expected) << text;
    }
  }
  int64_t value = 0;
  EXPECT_EQ(ParseIntegerText("-9223372036854775808", INT64_MIN, INT64_MAX, &value),
            TextError::kNone);
  EXPECT_EQ(value, INT64_MIN);
  EXPECT_EQ(ParseIntegerText("9223372036854775808", INT64_MIN, INT64_MAX, &value),
            TextError::kOverflow);
}

TEST(ParseText, Doubles) {
  const std::pair<const char*, double> good[] = {
      {"1e3", 1000},
      {"1.5f", 1.5},
      {" -2.5D ", -2.5},
      {".5", 0.5},
      {"5.", 5},
      {"+1", 1},
      {"Infinity", std::numeric_limits<double>::infinity()},
      {"-Infinity", -std::numeric_limits<double>::infinity()},
      {"1e999", std::numeric_limits<double>::infinity()},
      {"1e-999", 0},
  };
  for (const auto& [text, expected] : good) {
    double value = -1;
    EXPECT_EQ(ParseDoubleText(text, &value), TextError::kNone) << text;
    EXPECT_EQ(value, expected) << text;
  }
  double value = 0;
  EXPECT_EQ(ParseDoubleText("NaN", &value), TextError::kNone);
  EXPECT_TRUE(std::isnan(value));
  for (const char* text : {"", "abc", "nan", "inf", "1,5", "--1", "0x10", "1e"}) {
    EXPECT_NE(ParseDoubleText(text, &value), TextError::kNone) << text;
  }
}

TEST(ParseText, Decimals) {
  const std::tuple<const char*, int, int, TextError, const char*> cases[] = {
      {"1.005", 10, 2, TextError::kNone, "1.01"},
      {"-1.005", 10, 2, TextError::kNone, "-1.01"},
      {"1e3", 10, 2, TextError::kNone, "1000.00"},
      {"12345e-2", 10, 1, TextError::kNone, "123.5"},
      {"0.004", 10, 2, TextError::kNone, "0.00"},
      {" 7 ", 3, 0, TextError::kNone, "7"},
      {"999.5", 3, 0, TextError::kOverflow, ""},
      {"799.929496989092949698", 38, 18, TextError::kNone, "799.929496989092949698"},
      {"1e40", 38, 0, TextError::kOverflow, ""},
      {"1e-400", 38, 10, TextError::kNone, "0.0000000000"},
      {"00012", 2, 0, TextError::kNone, "12"},
      {"x", 5, 0, TextError::kInvalid, ""},
      {".", 5, 0, TextError::kInvalid, ""},
      {"1e", 5, 0, TextError::kInvalid, ""},
      {"", 5, 0, TextError::kEmpty, ""},
  };
  for (const auto& [text, precision, scale, error, expected] : cases) {
    arrow::Decimal128 value;
    EXPECT_EQ(ParseDecimalText(text, precision, scale, &value), error) << text;
    std::string shown;
    AppendDecimalText(value, scale, &shown);
    if (error == TextError::kNone) {
      EXPECT_EQ(shown, expected) << text;
    }
  }
}

TEST(ParseText, DatesAndTimes) {
  const std::pair<const char*, const char*> dates[] = {
      {"2020-01-02", "2020-01-02"},
      {"2020-1-2", "2020-01-02"},
      {"2020-02", "2020-02-01"},
      {"2020", "2020-01-01"},
      {" 2020-01-02 ", "2020-01-02"},
      {"2020-01-02 12:34", "2020-01-02"},
      {"2020-01-02T12:34", ""},
      {"2020-02-30", ""},
      {"2020-13-01", ""},
      {"abc", ""},
      {"", ""},
      {"2020-01-", ""},
      {"10000-01-01", ""},
  };
  for (const auto& [text, expected] : dates) {
    int32_t days = 0;
    std::string shown;
    if (ParseDateText(text, &days) == TextError::kNone) AppendDateText(days, &shown);
    EXPECT_EQ(shown, expected) << text;
  }
  const std::pair<const char*, int32_t> times[] = {
      {"12:34:56", 45296000}, {"12:34:56.7891", 45296789},
      {"12:34", 45240000},    {"12", 43200000},
      {"24:00:00", -1},       {"12:60", -1},
      {"12:34:", -1},         {"x", -1},
      {"1:2:3", 3723000},
  };
  for (const auto& [text, expected] : times) {
    int32_t millis = -1;
    (void)ParseTimeText(text, &millis);
    EXPECT_EQ(millis, expected) << text;
  }
}

TEST(ParseText, Timestamps) {
  const std::pair<const char*, const char*> cases[] = {
      {"2020-01-02 03:04:05", "2020-01-02 03:04:05.000000000"},
      {"2020-1-2 3:4:5.123456789", "2020-01-02 03:04:05.123456789"},
      {"2020-01-02", "2020-01-02 00:00:00.000000000"},
      {"1969-12-31 23:59:59.9", "1969-12-31 23:59:59.900000000"},
      {"2020-01-02T03:04:05", ""},
      {"2020-01-02 03:04", ""},
      {" 2020-01-02 03:04:05", ""},
      {"2020-01-02 03:04:05 ", ""},
      {"2020-01-02 03:04:05.", ""},
      {"2020-01-02 03:04:05Z", ""},
      {"2020-02-30 00:00:00", ""},
      {"2020-01-02 24:00:00", ""},
      {"2020-01-02 03:04:05.1234567890", ""},
      {"20-01-02 00:00:00", ""},
      {"2O20-01-02 00:00:00", ""},
  };
  for (const auto& [text, expected] : cases) {
    int64_t seconds = 0;
    int32_t nanos = 0;
    std::string shown;
    if (ParseTimestampText(text, &seconds, &nanos) == TextError::kNone) {
      AppendTimestampText(seconds, nanos, 9, &shown);
    }
    EXPECT_EQ(shown, expected) << text;
  }
}

TEST(ValueFromText, EveryScalarTypeAndItsError) {
  const TimeZone shanghai = *TimeZone::Find("Asia/Shanghai");
  const std::tuple<SqlType, const char*, const char*> cases[] = {
      {SqlType::Boolean(), "Yes", "TRUE"},
      {SqlType::Boolean(), "on", "Cannot parse 'on' as BOOLEAN."},
      {SqlType::Tinyint(), "-7", "-7"},
      {SqlType::Tinyint(), "300", "For input string: '300'. Overflow."},
      {SqlType::Int(), "", "For input string: ''. Input is empty."},
      {SqlType::Bigint(), "x", "For input string: 'x'. Invalid character found."},
      {SqlType::Float(), "0.1", "0.1"},
      {SqlType::Decimal(4, 1), "99999", "NULL"},
      {SqlType::Char(3), "ab", "ab "},
      {SqlType::Varchar(2), "äöü", "äö"},
      {SqlType::Date(), "2020-02-29", "2020-02-29"},
      {SqlType::Time(3), "01:02:03.004", "01:02:03.004"},
      {SqlType::Time(3), "10:00:00", "10:00:00.0"},
      {SqlType::Time(3), "10:00:00.120", "10:00:00.12"},
      {SqlType::Time(0), "10:00:00", "10:00:00"},
      {SqlType::Timestamp(3), "2020-01-01 00:00:00.1239", "2020-01-01 00:00:00.123"},
      {SqlType::TimestampLtz(0), "2020-01-01 08:00:00", "2020-01-01 08:00:00"},
      {SqlType::Timestamp(9), "2300-01-01 00:00:00", "'2300-01-01 00:00:00' does not fit"},
      {SqlType::Timestamp(3), "2020-05-20T12:34:56",
       "Text '2020-05-20T12:34:56' could not be parsed, unparsed text found at index 10"},
  };
  for (const auto& [type, text, expected] : cases) {
    SCOPED_TRACE(type.ToString() + " " + text);
    const auto value = ValueFromText(type, text, shanghai);
    const std::string shown =
        value.ok() ? ScalarText(type, **value, shanghai) : value.status().message();
    EXPECT_TRUE(shown.starts_with(expected)) << shown;
    if (value.ok()) {
      EXPECT_TRUE((*value)->type->Equals(*type.ToArrow()));
    }
  }
}

TEST(Calendar, RoundTripsAndWeeks) {
  for (int64_t day = -800000; day < 800000; day += 97) {
    const CivilDate date = CivilFromDays(day);
    ASSERT_EQ(DaysFromCivil(date.year, date.month, date.day), day);
  }
  EXPECT_EQ(AddMonths(DaysFromCivil(2020, 1, 31), 1), DaysFromCivil(2020, 2, 29));
  EXPECT_EQ(AddMonths(DaysFromCivil(2020, 1, 31), -11), DaysFromCivil(2019, 2, 28));
  EXPECT_EQ(IsoWeekOf(DaysFromCivil(2021, 1, 3)).week, 53);
  EXPECT_EQ(IsoWeekOf(DaysFromCivil(2021, 1, 3)).year, 2020);
  EXPECT_EQ(IsoDayOfWeek(0), 4);
}

}  // namespace
}  // namespace sluice
