// Row indexes and bloom filters: stripes whose strides cannot match are left out.
#include <gtest/gtest.h>

#include "expr/builder.h"
#include "formats/orc/bloom_filter.h"
#include "formats/orc/orc_format.h"
#include "formats/testing/bulk_files.h"

namespace sluice::formats::orc_format {
namespace {

constexpr int64_t kStride = 1000;

class StrideJudgeTest : public ::testing::Test {
 protected:
  /// One stripe of five strides: i counts in steps of 7, stride after stride; s is its text; r a
  /// half.
  void Write(const OptionMap& options) {
    std::vector<Batch> batches;
    for (int64_t stride = 0; stride < 5; ++stride) {
      std::string columns[3];
      for (int64_t row = 0; row < kStride; ++row) {
        const int64_t i = (stride * 10'000 + row) * 7;
        columns[0] += (row > 0 ? "," : "") + std::to_string(i);
        columns[1] += (row > 0 ? ",\"t" : "\"t") + std::to_string(i) + "\"";
        columns[2] += (row > 0 ? "," : "") + std::to_string(i) + ".5";
      }
      batches.push_back(testing::BatchFromJson(
          schema_, {"[" + columns[0] + "]", "[" + columns[1] + "]", "[" + columns[2] + "]"}));
    }
    OptionMap all = options;
    all.emplace("row.index.stride", std::to_string(kStride));
    bytes_ = *testing::WriteBulk(kOrcFormat, schema_, batches, all);
  }

  bool MayMatch(const expr::ExprPtr& filter) {
    const auto file = testing::OpenBulk(kOrcFormat, bytes_, schema_, {0});
    EXPECT_EQ((*file)->part_count(), 1);
    const std::vector<expr::ExprPtr> filters = {filter};
    return (*file)->MayMatch(0, filters);
  }
  bool MayHold(int column, const expr::ExprPtr& literal) {
    return MayMatch(*expr::MakeComparison(expr::ComparisonOp::kEqual,
                                          expr::MakeColumn(column, schema_.column(column).type),
                                          literal));
  }
  Schema schema_{{{"i", SqlType::Bigint()}, {"s", SqlType::String()}, {"r", SqlType::Double()}}};
  std::string bytes_;
};

TEST_F(StrideJudgeTest, GapsBetweenStridesAreKnown) {
  for (const char* codec : {"ZLIB", "NONE"}) {
    Write({{"compress", codec}});
    EXPECT_TRUE(MayHold(0, expr::MakeBigint(7 * 10'500)));
    EXPECT_TRUE(MayHold(0, expr::MakeBigint(7 * 10'500 + 1))) << "no filter tells of one value";
    EXPECT_FALSE(MayHold(0, expr::MakeBigint(7 * 5'000))) << "between two strides";
  }
}

TEST_F(StrideJudgeTest, BloomFiltersLeaveOutValuesThatAreNotThere) {
  for (const char* codec : {"ZSTD", "NONE"}) {
    Write({{"compress", codec}, {"bloom.filter.columns", "i, s,r"}, {"bloom.filter.fpp", "0.001"}});
    int found = 0;
    for (int64_t row = 0; row < 300; ++row) {
      const int64_t value = (30'000 + row) * 7;
      EXPECT_TRUE(MayHold(0, expr::MakeBigint(value)));
      EXPECT_TRUE(MayHold(1, expr::MakeString("t" + std::to_string(value))));
      found += MayHold(0, expr::MakeBigint(value + 1)) ? 1 : 0;
      found += MayHold(1, expr::MakeString("t" + std::to_string(value) + "x")) ? 1 : 0;
    }
    EXPECT_LT(found, 20);
  }
}

TEST(StrideBloomTest, DecimalsAndTimes) {
  const Schema schema({{"d", SqlType::Decimal(20, 3)},
                       {"t", SqlType::Timestamp(6)},
                       {"l", SqlType::TimestampLtz(3)}});
  std::string columns[3];
  for (int64_t row = 0; row < kStride; ++row) {
    const std::string comma = row > 0 ? "," : "";
    columns[0] += comma + "\"" + (row % 2 == 0 ? "-" : "") + std::to_string(row * 7) + ".500\"";
    columns[1] += comma + std::to_string((row - 500) * 7'000'000 + 250'000);
    columns[2] += comma + std::to_string((row - 500) * 7'000);
  }
  const Batch batch = testing::BatchFromJson(
      schema, {"[" + columns[0] + "]", "[" + columns[1] + "]", "[" + columns[2] + "]"});
  const std::string bytes = *testing::WriteBulk(kOrcFormat, schema, {batch},
                                                {{"row.index.stride", "1000"},
                                                 {"bloom.filter.columns", "d,t,l"},
                                                 {"bloom.filter.fpp", "0.001"}});
  const auto may_hold = [&](int column, const std::shared_ptr<arrow::Scalar>& value) {
    const auto file = testing::OpenBulk(kOrcFormat, bytes, schema, {0});
    const SqlType& type = schema.column(column).type;
    const std::vector<expr::ExprPtr> filters = {
        *expr::MakeComparison(expr::ComparisonOp::kEqual, expr::MakeColumn(column, type),
                              std::make_shared<expr::LiteralExpr>(value, type))};
    return (*file)->MayMatch(0, filters);
  };
  int found = 0;
  for (int64_t row = 0; row < kStride; ++row) {
    for (int column = 0; column < 3; ++column)
      EXPECT_TRUE(may_hold(column, batch.column(column)->GetScalar(row).ValueOrDie())) << row;
    const auto other = [&](int column, int64_t units) {
      return arrow::MakeScalar(schema.column(column).type.ToArrow(), units).ValueOrDie();
    };
    if (row == 0 || row == kStride - 1) continue;  // Bounds know what lies outside.
    const auto decimal = std::make_shared<arrow::Decimal128Scalar>(
        arrow::Decimal128(row * 7000 + 501), schema.column(0).type.ToArrow());
    found += may_hold(0, decimal) ? 1 : 0;
    found += may_hold(1, other(1, (row - 500) * 7'000'000 + 251'000)) ? 1 : 0;
    found += may_hold(2, other(2, (row - 500) * 7'000 + 2000)) ? 1 : 0;
  }
  EXPECT_LT(found, 50);
}

TEST(BloomFilterTest, DecimalsWithoutZerosAtTheEnd) {
  const auto hash = [](const char* unscaled, int scale) {
    return HashOfDecimal(arrow::Decimal128(unscaled), scale);
  };
  EXPECT_EQ(hash("150", 2), HashOfBytes("1.5"));
  EXPECT_EQ(hash("-100", 2), HashOfBytes("-1"));
  EXPECT_EQ(hash("0", 5), HashOfBytes("0"));
  EXPECT_EQ(hash("-5", 3), HashOfBytes("-0.005"));
  EXPECT_EQ(hash("12345678901234567890123456789012345678", 1),
            HashOfBytes("1234567890123456789012345678901234567.8"));
}

TEST(BloomFilterTest, HoldsWhatWasAddedAndLittleElse) {
  BloomFilter filter(1000, 0.05);
  for (int64_t i = 0; i < 1000; ++i) filter.Add(HashOfInteger(i * 3));
  WireWriter out;
  filter.Write(&out);
  const auto read = BloomFilter::Parse(out.bytes());
  ASSERT_TRUE(read);
  int wrong = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    EXPECT_TRUE(read->MayContain(HashOfInteger(i * 3)));
    wrong += read->MayContain(HashOfInteger(i * 3 + 1)) ? 1 : 0;
  }
  EXPECT_LT(wrong, 100);
  EXPECT_FALSE(BloomFilter::Parse("\x08"));
  EXPECT_FALSE(BloomFilter::Parse(""));
}

}  // namespace
}  // namespace sluice::formats::orc_format
