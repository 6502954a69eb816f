// Random rows of every type are written by csv and json and come back equal, whatever the options
// and however the bytes are cut.
#include <bit>
#include <cmath>
#include <random>

#include <arrow/compare.h>
#include <gtest/gtest.h>

#include "formats/csv/csv_format.h"
#include "formats/json/json_format.h"
#include "formats/testing/render.h"
#include "formats/text/column_builder.h"

namespace sluice::formats {
namespace {

using testing::AllOf;
using testing::FirstBad;
using testing::Options;
using text::ColumnBuilder;

class RandomRows {
 public:
  /// For csv, texts in arrays and rows are never empty and hold no array delimiter.
  RandomRows(uint64_t seed, bool csv) : random_(seed), csv_(csv) {}

  Batch Make(const Schema& schema, int rows) {
    arrow::ArrayDataVector arrays;
    for (const Column& column : schema.columns()) {
      ColumnBuilder builder(column.type, arrow::default_memory_pool());
      for (int i = 0; i < rows; ++i) Append(builder, false);
      arrays.push_back(builder.Finish());
    }
    return Batch(arrow::RecordBatch::Make(schema.ToArrow(), rows, std::move(arrays)));
  }

 private:
  uint64_t Below(uint64_t bound) { return random_() % bound; }

  std::string Text(bool element) {
    static const std::string kPieces[] = {
        "a",  "B",   "7",   " ",    ",",
        "\"", "'",   "\\",  "\n",   "\r\n",
        "\t", "|",   "#",   "é",    "한",
        "😀",  "\\N", "nil", "null", "long text without any special sign",
        "-",  "=",   "{",   "\x01", "\x7F"};
    std::string text = element ? "e" : "";  // An element equal to the null literal reads as NULL.
    for (uint64_t n = Below(4); n > 0; --n) text += kPieces[Below(std::size(kPieces))];
    return text;
  }

  arrow::Decimal128 Decimal(const SqlType& type) {
    std::string digits = Below(2) == 0 ? "-" : "";
    for (uint64_t n = 1 + Below(static_cast<uint64_t>(type.precision())); n > 0; --n)
      digits += static_cast<char>('0' + Below(10));
    return arrow::Decimal128(digits);
  }

  int64_t Timestamp(const SqlType& type) {
    static constexpr int64_t kCut[] = {1000, 100, 10, 1, 100, 10, 1, 100, 10, 1};
    const int64_t cut = kCut[type.precision()];
    const int64_t range = type.precision() > 6 ? 9'000'000'000'000'000'000 : 200'000'000'000'000;
    return (static_cast<int64_t>(Below(static_cast<uint64_t>(range))) - range / 2) / cut * cut;
  }

  void Append(ColumnBuilder& builder, bool element) {
    if (Below(5) == 0) return builder.AppendNull();
    const SqlType& type = builder.type();
    switch (type.kind()) {
      case TypeKind::kBoolean:
        return builder.Append<uint8_t>(Below(2));
      case TypeKind::kTinyint:
        return builder.Append(static_cast<int8_t>(random_()));
      case TypeKind::kSmallint:
        return builder.Append(static_cast<int16_t>(random_()));
      case TypeKind::kInt:
        return builder.Append(static_cast<int32_t>(random_()));
      case TypeKind::kBigint:
        return builder.Append(static_cast<int64_t>(random_()) >> Below(64));
      case TypeKind::kFloat:
        return builder.Append(std::bit_cast<float>(static_cast<uint32_t>(random_())));
      case TypeKind::kDouble:
        return builder.Append(Below(2) == 0 ? std::bit_cast<double>(random_())
                                            : static_cast<double>(Below(1'000'000)) / 100);
      case TypeKind::kDecimal:
        return builder.Append(Decimal(type));
      case TypeKind::kDate:
        return builder.Append(static_cast<int32_t>(Below(6'000'000)) - 3'000'000);
      case TypeKind::kTime:
        return builder.Append(static_cast<int32_t>(Below(86'400'000)));
      case TypeKind::kTimestamp:
      case TypeKind::kTimestampLtz:
        return builder.Append(Timestamp(type));
      case TypeKind::kChar:
      case TypeKind::kVarchar:
      case TypeKind::kBinary:
      case TypeKind::kVarbinary:
        return builder.AppendBytes(Text(csv_ && element));
      default:
        return AppendNested(builder);
    }
  }

  void AppendNested(ColumnBuilder& builder) {
    if (builder.type().kind() == TypeKind::kRow) {
      for (int i = 0; i < builder.child_count(); ++i) Append(builder.child(i), true);
    } else {
      const uint64_t count = Below(4);
      for (uint64_t i = 0; i < count; ++i) {
        if (builder.child_count() == 2) {  // Keys of a map differ and are not NULL.
          builder.child(0).AppendBytes(Text(false) + std::to_string(i));
          Append(builder.child(1), true);
        } else {
          Append(builder.child(0), true);
        }
      }
    }
    builder.CloseNested();
  }

  std::mt19937_64 random_;
  bool csv_;
};

Schema EveryScalar() {
  return Schema({{"b", SqlType::Boolean()},
                 {"i8", SqlType::Tinyint()},
                 {"i16", SqlType::Smallint()},
                 {"i32", SqlType::Int()},
                 {"i64", SqlType::Bigint()},
                 {"f", SqlType::Float()},
                 {"d", SqlType::Double()},
                 {"dc", SqlType::Decimal(12, 4)},
                 {"dc38", SqlType::Decimal(38, 9)},
                 {"s", SqlType::String()},
                 {"x", SqlType::Bytes()},
                 {"dt", SqlType::Date()},
                 {"t3", SqlType::Time(3)},
                 {"ts0", SqlType::Timestamp(0)},
                 {"ts3", SqlType::Timestamp(3)},
                 {"ts6", SqlType::Timestamp(6)},
                 {"ts9", SqlType::Timestamp(9)},
                 {"l3", SqlType::TimestampLtz(3)},
                 {"l9", SqlType::TimestampLtz(9)},
                 {"ai", SqlType::Array(SqlType::Int())},
                 {"as", SqlType::Array(SqlType::String())},
                 {"r", SqlType::Row({{"x", SqlType::Int()}, {"y", SqlType::String()}})}});
}

Schema Nested() {
  const SqlType row = SqlType::Row({{"p", SqlType::Int()},
                                    {"q", SqlType::Array(SqlType::String())},
                                    {"quote\"name", SqlType::Double()}});
  return Schema(
      {{"m", SqlType::Map(SqlType::String(), row)},
       {"a", SqlType::Array(SqlType::Array(row))},
       {"r", SqlType::Row(
                 {{"x", row}, {"y", SqlType::Map(SqlType::String(), SqlType::Timestamp(9))}})}});
}

void CheckRoundTrip(const Format& format, const OptionMap& options, const Schema& schema,
                    uint64_t seed) {
  RandomRows random(seed, format.name == "csv");
  const Batch rows = random.Make(schema, 300);
  auto encoder = format.make_encoder(Options(format, options), schema, Framing::kFile, {});
  std::string text;
  ASSERT_TRUE((*encoder)->Encode(rows, &text, nullptr).ok());
  std::string pieces;  // Encoders work on blocks of rows: where these begin must not show.
  for (int64_t at = 0, size = 1; at < rows.row_count(); at += size, size = size * 3 % 101) {
    ASSERT_TRUE((*encoder)->Encode(rows.Slice(at, size), &pieces, nullptr).ok());
  }
  ASSERT_EQ(pieces, text) << seed;
  auto decoder = format.make_decoder(Options(format, options), AllOf(schema), {});
  const auto read = (*decoder)->DecodeChunk(text, true);
  ASSERT_TRUE(read.ok());
  ASSERT_EQ(FirstBad(*read), "");
  ASSERT_TRUE(read->rows.rows()->ValidateFull().ok());
  ASSERT_EQ(read->rows.row_count(), rows.row_count());
  for (int64_t i = 0; i < rows.row_count(); ++i) {
    ASSERT_EQ(testing::RenderRow(*read->rows.rows(), i), testing::RenderRow(*rows.rows(), i))
        << "seed " << seed << " row " << i;
  }
  const auto equal = arrow::EqualOptions::Defaults().nans_equal(true);
  EXPECT_TRUE(read->rows.rows()->Equals(*rows.rows(), false, equal)) << seed;

  auto messages = format.make_encoder(Options(format, options), schema, Framing::kMessage, {});
  std::string bytes;
  std::vector<size_t> ends;
  ASSERT_TRUE((*messages)->Encode(rows, &bytes, &ends).ok());
  std::vector<std::string_view> views;
  for (size_t i = 0; i < ends.size(); ++i)
    views.push_back(std::string_view(bytes).substr(i == 0 ? 0 : ends[i - 1],
                                                   ends[i] - (i == 0 ? 0 : ends[i - 1])));
  const auto by_message = (*decoder)->DecodeMessages(views);
  ASSERT_EQ(FirstBad(*by_message), "");
  EXPECT_TRUE(by_message->rows.rows()->Equals(*rows.rows(), false, equal)) << seed;
}

TEST(RoundTrip, Csv) {
  const OptionMap cases[] = {
      {{"null-literal", "\\N"}},
      {{"null-literal", "nil"}, {"field-delimiter", "|"}, {"quote-character", "'"}},
      {{"null-literal", "\\N"}, {"escape-character", "\\"}},
      {{"null-literal", "n/a"}, {"field-delimiter", "\\t"}, {"allow-comments", "true"}},
      {{"null-literal", "n/a"},
       {"field-delimiter", "¦"},
       {"write-bigdecimal-in-scientific-notation", "false"}},
  };
  uint64_t seed = 1;
  for (const OptionMap& options : cases) {
    for (int i = 0; i < 5; ++i) CheckRoundTrip(kCsvFormat, options, EveryScalar(), seed++);
  }
}

TEST(RoundTrip, Json) {
  const OptionMap cases[] = {
      {},
      {{"timestamp-format.standard", "ISO-8601"}, {"encode.decimal-as-plain-number", "true"}},
      {{"encode.ignore-null-fields", "true"}},
  };
  uint64_t seed = 100;
  for (const OptionMap& options : cases) {
    for (int i = 0; i < 5; ++i) {
      CheckRoundTrip(kJsonFormat, options, EveryScalar(), seed++);
      CheckRoundTrip(kJsonFormat, options, Nested(), seed++);
    }
  }
}

}  // namespace
}  // namespace sluice::formats
