// Records read many at once give the same rows and the same errors as the same records read alone.
#include <random>

#include <gtest/gtest.h>

#include "formats/json/json_format.h"
#include "formats/testing/render.h"

namespace sluice::formats {
namespace {

using testing::AllOf;
using testing::Options;

Schema Columns() {
  return Schema({{"id", SqlType::Bigint()},
                 {"user", SqlType::String()},
                 {"amount", SqlType::Double()},
                 {"price", SqlType::Decimal(10, 2)},
                 {"ts", SqlType::Timestamp(3)},
                 {"day", SqlType::Date()},
                 {"paid", SqlType::Boolean()},
                 {"count", SqlType::Int()},
                 {"small", SqlType::Smallint()},
                 {"tags", SqlType::Array(SqlType::String())}});
}

/// Records of mostly one shape, with every kind of deviation among them.
class RandomRecords {
 public:
  explicit RandomRecords(uint64_t seed) : random_(seed), oddity_(Below(3) * 20 + 10) {}

  std::string Next() {
    std::string text = "{";
    const bool blanks = Below(oddity_ * 4) == 0;
    for (int field = 0; field < 10; ++field) {
      if (Below(oddity_ * 10) == 0) continue;
      if (text.size() > 1) text += blanks ? ", " : ",";
      text += "\"" + std::string(kNames[field]) + (blanks ? "\": " : "\":");
      text += Below(oddity_) == 0 ? kOdd[Below(std::size(kOdd))] : Value(field);
    }
    text += "}";
    if (Below(oddity_ * 5) == 0) text[Below(text.size())] = kNoise[Below(sizeof(kNoise) - 1)];
    if (Below(oddity_ * 20) == 0) text.resize(Below(text.size()));
    return text;
  }

 private:
  static constexpr const char* kNames[] = {"id",      "user", "amount", "price", "ts",
                                           "unknown", "day",  "paid",   "count", "tags"};
  static constexpr const char* kOdd[] = {"null",
                                         "-0",
                                         "007",
                                         "1.",
                                         ".5",
                                         "1e3",
                                         "-1.50",
                                         "\"\"",
                                         "\"a,b\"",
                                         "\"q\\\"q\"",
                                         "\"\\n\"",
                                         "99999999999999999999",
                                         "true",
                                         "\"12\"",
                                         "{}",
                                         "{\"x\":1}",
                                         "[1,2]",
                                         "12345678901234567",
                                         "\"é😀\"",
                                         "1 ",
                                         "-",
                                         "\"open",
                                         "0.1234567890123",
                                         "falsch",
                                         "\"2020-01-01\"",
                                         "\" 2020-01-01 00:00:00 \""};
  static constexpr char kNoise[] = "\"\\,:{}[]0-x ";

  std::string Value(int field) {
    switch (field) {
      case 0:
        return std::to_string(static_cast<int64_t>(random_()) >> Below(60));
      case 1:
        return "\"user_" + std::string(Below(40), 'u') + std::to_string(Below(1000)) + "\"";
      case 2:
      case 3:
        return std::to_string(Below(100000)) + "." + std::to_string(10 + Below(90));
      case 4:
        return "\"2020-05-" + std::to_string(10 + Below(18)) +
               " 12:00:" + std::to_string(10 + Below(50)) + (Below(2) == 0 ? ".125\"" : "\"");
      case 5:
        return Below(2) == 0 ? "\"text\"" : "17";
      case 6:
        return "\"2020-05-" + std::to_string(10 + Below(18)) + "\"";
      case 7:
        return Below(2) == 0 ? "true" : "false";
      case 8:
        return std::to_string(Below(100));
      default:
        return "[\"x\"]";
    }
  }

  uint64_t Below(uint64_t bound) { return random_() % bound; }

  std::mt19937_64 random_;
  const uint64_t oddity_;
};

struct Outcome {
  std::vector<std::string> rows;
  std::vector<int64_t> records;
  std::vector<std::string> bad;
  bool failed = false;
};

void Add(const DecodedRows& decoded, int64_t record_before, Outcome* outcome) {
  for (int64_t row = 0; row < decoded.rows.row_count(); ++row) {
    outcome->rows.push_back(testing::RenderRow(*decoded.rows.rows(), row));
    const auto at = static_cast<size_t>(row);
    outcome->records.push_back(record_before +
                               (decoded.record_of_row.empty() ? row : decoded.record_of_row[at]));
  }
  for (const BadRecord& bad : decoded.bad)
    outcome->bad.push_back(std::to_string(record_before + bad.record) + bad.column + bad.reason);
  outcome->failed |= decoded.failed;
}

/// A decoder that is new for each record has seen no shape.
Outcome ReadAlone(const std::vector<std::string>& records, const OptionMap& options) {
  Outcome outcome;
  for (size_t i = 0; i < records.size() && !outcome.failed; ++i) {
    auto decoder = kJsonFormat.make_decoder(Options(kJsonFormat, options), AllOf(Columns()), {});
    Add(*(*decoder)->DecodeChunk(records[i] + "\n", false), static_cast<int64_t>(i), &outcome);
  }
  return outcome;
}

void ExpectEqual(const Outcome& actual, const Outcome& expected, uint64_t seed) {
  ASSERT_EQ(actual.rows.size(), expected.rows.size()) << seed;
  for (size_t i = 0; i < expected.rows.size(); ++i)
    ASSERT_EQ(actual.rows[i], expected.rows[i]) << "seed " << seed << " row " << i;
  EXPECT_EQ(actual.records, expected.records) << seed;
  ASSERT_EQ(actual.bad.size(), expected.bad.size()) << seed;
  for (size_t i = 0; i < expected.bad.size(); ++i)
    ASSERT_EQ(actual.bad[i], expected.bad[i]) << "seed " << seed << " error " << i;
  EXPECT_EQ(actual.failed, expected.failed) << seed;
}

TEST(JsonRecordBlock, LinesAndMessagesReadLikeSingleRecords) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    RandomRecords random(seed);
    std::vector<std::string> records;
    for (int i = 0; i < 700; ++i) records.push_back(random.Next());
    const OptionMap options = {{"ignore-parse-errors", seed % 3 == 0 ? "false" : "true"}};
    const Outcome expected = ReadAlone(records, options);
    auto decoder = kJsonFormat.make_decoder(Options(kJsonFormat, options), AllOf(Columns()), {});
    std::string text;
    for (const std::string& record : records) text += record + (seed % 5 == 0 ? "\r\n" : "\n");
    if (seed % 5 != 0) {  // What stands in error texts differs by the CR.
      Outcome lines;
      Add(*(*decoder)->DecodeChunk(text, false), 0, &lines);
      ExpectEqual(lines, expected, seed);
    }
    const std::vector<std::string_view> messages(records.begin(), records.end());
    for (int pass = 0; pass < 2; ++pass) {  // Again, with a shape that is known from the start.
      Outcome by_message;
      Add(*(*decoder)->DecodeMessages(messages), 0, &by_message);
      ExpectEqual(by_message, expected, seed);
    }
  }
}

TEST(JsonRecordBlock, LineEndsOfTwoCharactersAndBlankLines) {
  std::string text;
  for (int i = 0; i < 1000; ++i) {
    text += "{\"id\":" + std::to_string(i) + ",\"user\":\"a,b\"}\r\n";
    if (i % 100 == 50) text += i % 200 == 50 ? "\r\n" : "\n \n";
  }
  const Schema schema({{"id", SqlType::Bigint()}, {"user", SqlType::String()}});
  auto decoder = kJsonFormat.make_decoder(Options(kJsonFormat, {}), AllOf(schema), {});
  const auto read = (*decoder)->DecodeChunk(text, true);
  ASSERT_EQ(testing::FirstBad(*read), "");
  ASSERT_EQ(read->rows.row_count(), 1000);
  EXPECT_EQ(read->record_count, 1015);
  EXPECT_EQ(read->line_count, 1015);
  EXPECT_EQ(testing::RenderRow(*read->rows.rows(), 999), "999|a,b");
  EXPECT_EQ(read->record_of_row[999], 1014);
}

TEST(JsonRecordBlock, MessagesWithLineEndsInside) {
  std::vector<std::string> records;
  for (int i = 0; i < 600; ++i) {
    records.push_back("{\"id\":" + std::to_string(i) + ",\"user\":\"x\"}");
    if (i % 7 == 0) records.push_back("{\"id\":\n" + std::to_string(-i) + ",\n\"user\":\"y\"}");
  }
  const Schema schema({{"id", SqlType::Bigint()}, {"user", SqlType::String()}});
  auto decoder = kJsonFormat.make_decoder(Options(kJsonFormat, {}), AllOf(schema), {});
  const std::vector<std::string_view> messages(records.begin(), records.end());
  const auto read = (*decoder)->DecodeMessages(messages);
  ASSERT_EQ(testing::FirstBad(*read), "");
  ASSERT_EQ(read->rows.row_count(), static_cast<int64_t>(records.size()));
  EXPECT_EQ(testing::RenderRow(*read->rows.rows(), 9), "-7|y");
}

TEST(JsonRecordBlock, OnlyCountsAndMissingFields) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "{\"id\": " + std::to_string(i) + ", \"other\": [1]}\n";
  const Schema schema({{"id", SqlType::Bigint()}, {"user", SqlType::String()}});
  auto decoder = kJsonFormat.make_decoder(Options(kJsonFormat, {}), AllOf(schema), {});
  const auto read = (*decoder)->DecodeChunk(text, false);
  EXPECT_EQ(testing::RenderRow(*read->rows.rows(), 499), "499|NULL");
  auto counter = kJsonFormat.make_decoder(Options(kJsonFormat, {}), {schema, {}, {}}, {});
  EXPECT_EQ((*counter)->DecodeChunk(text, false)->rows.row_count(), 500);
  auto strict = kJsonFormat.make_decoder(Options(kJsonFormat, {{"fail-on-missing-field", "true"}}),
                                         AllOf(schema), {});
  EXPECT_TRUE((*strict)->DecodeChunk(text, false)->failed);
}

}  // namespace
}  // namespace sluice::formats
