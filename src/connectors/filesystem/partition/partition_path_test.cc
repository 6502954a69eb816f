#include "connectors/filesystem/partition/partition_path.h"

#include <arrow/api.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sluice::connectors::filesystem {
namespace {

using ::testing::HasSubstr;

TEST(PartitionPathTest, EscapesAsHiveDoes) {
  const std::pair<std::string, std::string> cases[] = {
      {"AC/DC", "AC%2FDC"},
      {"a=b", "a%3Db"},
      {"50%", "50%25"},
      {"slash/back\\", "slash%2Fback%5C"},
      {"q?\"'*", "q%3F%22%27%2A"},
      {"{brace}[br]^", "%7Bbrace%7D%5Bbr%5D%5E"},
      {"tab\tnl\n", "tab%09nl%0A"},
      {std::string("\x7f\0", 2), "%7F%00"},
      {"ünï 한 😀", "ünï 한 😀"},
      {"<lt>|pipe", "<lt>|pipe"},
      {"~tilde!@$()", "~tilde!@$()"},
      {"trail ", "trail "},
      {"a+b&c,;.-_`", "a+b&c,;.-_`"},
  };
  for (const auto& [plain, escaped] : cases) {
    EXPECT_EQ(EscapePathName(plain), escaped);
    EXPECT_EQ(UnescapePathName(escaped), plain);
  }
}

TEST(PartitionPathTest, UnescapeTakesAnyCaseAndLeavesTheRest) {
  EXPECT_EQ(UnescapePathName("%5a%5A"), "ZZ");
  EXPECT_EQ(UnescapePathName("100%"), "100%");
  EXPECT_EQ(UnescapePathName("%4"), "%4");
  EXPECT_EQ(UnescapePathName("%zz%"), "%zz%");
  EXPECT_EQ(UnescapePathName("%%41"), "%A");
}

TEST(PartitionPathTest, PathsAndNulls) {
  EXPECT_EQ(PartitionPath({"dt", "hour"}, {"2020-05-20", "08"}, kDefaultPartitionName),
            "dt=2020-05-20/hour=08");
  EXPECT_EQ(PartitionPath({"a", "b"}, {std::nullopt, ""}, "NONE"), "a=NONE/b=NONE");
  EXPECT_EQ(PartitionPath({"a:b", "x%20x"}, {"1", "2"}, "d"), "a%3Ab=1/x%2520x=2");
  EXPECT_EQ(PartitionPath({"_dt", ".h"}, {"1", "_2"}, "d"), "%5Fdt=1/%2Eh=_2");
}

TEST(PartitionPathTest, ParsesDirectoryNames) {
  const auto parse = [](std::string_view name) {
    return ParsePartitionDirectoryName(name, kDefaultPartitionName);
  };
  EXPECT_EQ(parse("dt=2020-05-20")->value, "2020-05-20");
  EXPECT_EQ(parse("p=x=y")->key, "p=x");
  EXPECT_EQ(parse("p=x=y")->value, "y");
  EXPECT_EQ(parse("%5Fdt=1")->key, "_dt");
  EXPECT_EQ(parse("k=NULL")->value, "NULL");
  EXPECT_EQ(parse("k=null")->value, "null");
  EXPECT_EQ(parse("k=")->value, "");
  EXPECT_EQ(parse("k=__DEFAULT_PARTITION__")->value, std::nullopt);
  EXPECT_EQ(
      ParsePartitionDirectoryName("k=__HIVE_DEFAULT_PARTITION__", "__HIVE_DEFAULT_PARTITION__")
          ->value,
      std::nullopt);
  EXPECT_FALSE(parse("README"));
  EXPECT_FALSE(parse("=x"));
}

struct TypeCase {
  SqlType type;
  std::string text;
  std::string canonical;  // What is written for the value; "" = the same text.
};

TEST(PartitionPathTest, EveryTypeComesBackFromItsText) {
  const TypeCase cases[] = {
      {SqlType::String(), "NULL", ""},
      {SqlType::String(), "a b", ""},
      {SqlType::Char(3), "a", "a  "},
      {SqlType::Char(2), "é", "é "},
      {SqlType::Boolean(), "true", ""},
      {SqlType::Boolean(), "FALSE", "false"},
      {SqlType::Tinyint(), "-128", ""},
      {SqlType::Smallint(), "07", "7"},
      {SqlType::Int(), "+5", "5"},
      {SqlType::Bigint(), "-9223372036854775808", ""},
      {SqlType::Float(), "1.5", ""},
      {SqlType::Double(), "1.0E10", ""},
      {SqlType::Double(), "2", "2.0"},
      {SqlType::Decimal(10, 2), "1.50", ""},
      {SqlType::Decimal(10, 2), "-0.01", ""},
      {SqlType::Decimal(10, 2), "7", "7.00"},
      {SqlType::Date(), "2020-05-20", ""},
      {SqlType::Date(), "18402", "2020-05-20"},
      {SqlType::Date(), "-1", "1969-12-31"},
      {SqlType::Date(), "2020-5-2", "2020-05-02"},
      {SqlType::Time(0), "01:02:03", ""},
      {SqlType::Time(0), "3723000", "01:02:03"},
      {SqlType::Time(3), "01:02:03.450", "01:02:03.45"},
      {SqlType::Timestamp(3), "2020-05-03T07:00", ""},
      {SqlType::Timestamp(3), "2020-05-20T12:34:56.120", ""},
      {SqlType::Timestamp(3), "2020-05-20 12:34:56.12", "2020-05-20T12:34:56.120"},
      {SqlType::Timestamp(6), "1969-12-31T23:59:59", ""},
      {SqlType::Timestamp(6), "0001-01-01T00:00:00.000001", ""},
      {SqlType::Timestamp(9), "2020-01-01T00:00:00.000000001", ""},
      {SqlType::Timestamp(3), "2020-05-03", "2020-05-03T00:00"},
      {SqlType::TimestampLtz(3), "1970-01-01T00:00", ""},
      {SqlType::TimestampLtz(3), "1970-01-01T00:00:01Z", "1970-01-01T00:00:01"},
      {SqlType::Bytes(), std::string("\xff\x00z", 3), ""},
  };
  for (const TypeCase& test : cases) {
    const auto value = PartitionValueFromText(test.type, test.text);
    ASSERT_TRUE(value.ok()) << test.type.ToString() << " " << test.text << ": "
                            << value.status().ToString();
    const auto array = arrow::MakeArrayFromScalar(**value, 1).ValueOrDie();
    EXPECT_TRUE(array->type()->Equals(test.type.ToArrow())) << array->type()->ToString();
    EXPECT_EQ(PartitionText(test.type, *array, 0),
              test.canonical.empty() ? test.text : test.canonical);
  }
}

TEST(PartitionPathTest, NullAndEmptyAreTheDefaultPartition) {
  for (const SqlType& type :
       {SqlType::Int(), SqlType::String(), SqlType::Date(), SqlType::Bytes()}) {
    const auto value = PartitionValueFromText(type, std::nullopt);
    ASSERT_TRUE(value.ok());
    EXPECT_FALSE((*value)->is_valid);
  }
  arrow::StringBuilder builder;
  ASSERT_TRUE(builder.Append("").ok());
  ASSERT_TRUE(builder.AppendNull().ok());
  const auto strings = builder.Finish().ValueOrDie();
  EXPECT_EQ(PartitionText(SqlType::String(), *strings, 0), std::nullopt);
  EXPECT_EQ(PartitionText(SqlType::String(), *strings, 1), std::nullopt);
}

TEST(PartitionPathTest, TextsThatDoNotFitAreErrors) {
  const std::pair<SqlType, std::string> cases[] = {
      {SqlType::Int(), "abc"},
      {SqlType::Int(), "2147483648"},
      {SqlType::Tinyint(), "200"},
      {SqlType::Int(), " 1"},
      {SqlType::Boolean(), "yes"},
      {SqlType::Date(), "2020-13-01"},
      {SqlType::Date(), "2020-02-30"},
      {SqlType::Date(), "today"},
      {SqlType::Date(), "13011011"},
      {SqlType::Date(), "-719163"},
      {SqlType::Time(0), "25:00:00"},
      {SqlType::Time(0), "86400000"},
      {SqlType::Timestamp(3), "T12:00"},
      {SqlType::Timestamp(3), "2020-05-20T12"},
      {SqlType::Decimal(4, 2), "123.4"},
      {SqlType::Double(), "x"},
      {SqlType::Timestamp(9), "0001-01-01T00:00"},
  };
  for (const auto& [type, text] : cases) {
    const auto value = PartitionValueFromText(type, text);
    ASSERT_FALSE(value.ok()) << type.ToString() << " " << text;
    EXPECT_EQ(value.status().code(), StatusCode::kDataError);
    EXPECT_THAT(value.status().message(), HasSubstr("as " + type.ToString()));
  }
  EXPECT_FALSE(CheckPartitionType("a", SqlType::Array(SqlType::Int())).ok());
  EXPECT_TRUE(CheckPartitionType("a", SqlType::Time()).ok());
}

TEST(PartitionPathTest, NamesThatAreNoUtf8AreRead) {
  const std::pair<std::string, std::string> cases[] = {
      {"p=%E9t%E9", "\u00E9t\u00E9"},  // Of Hive or Flink with a character beyond ASCII escaped.
      {"p=%C3%A9", "\u00E9"},          // Of writers that escape UTF-8.
      {"p=\xC3\xA9", "\u00E9"},
      {"p=\xFF", "\u00FF"},
      {"p=\xE6\xBC\xA2\xE6\xBC", "\u6F22\u00E6\u00BC"},
  };
  for (const auto& [name, text] : cases) {
    const auto parsed = ParsePartitionDirectoryName(name, kDefaultPartitionName);
    ASSERT_TRUE(parsed) << name;
    const auto value = PartitionValueFromText(SqlType::String(), parsed->value);
    ASSERT_TRUE(value.ok()) << value.status().ToString();
    EXPECT_EQ((*value)->ToString(), text) << name;
  }
}

}  // namespace
}  // namespace sluice::connectors::filesystem
