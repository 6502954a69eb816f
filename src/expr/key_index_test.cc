#include "expr/key_index.h"

#include <map>
#include <optional>
#include <set>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "expr/key_split.h"

namespace sluice::expr {
namespace {

std::shared_ptr<arrow::RecordBatch> Rows(
    const std::vector<std::pair<std::optional<std::string>, double>>& rows) {
  arrow::StringBuilder texts;
  arrow::DoubleBuilder numbers;
  for (const auto& [text, number] : rows) {
    (void)(text ? texts.Append(*text) : texts.AppendNull());
    (void)numbers.Append(number);
  }
  return arrow::RecordBatch::Make(
      arrow::schema({arrow::field("t", arrow::utf8()), arrow::field("n", arrow::float64())}),
      static_cast<int64_t>(rows.size()), {*texts.Finish(), *numbers.Finish()});
}

TEST(KeyIndexTest, KeepsIdsOverBatches) {
  KeyIndex index;
  auto first = index.Identify(*Rows({{"a", 0}, {"b", 0}, {"a", 0}}), {0});
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(first->id_of_row, (std::vector<int32_t>{0, 1, 0}));
  EXPECT_EQ(first->new_rows, (std::vector<int64_t>{0, 1}));
  auto second = index.Identify(*Rows({{"c", 0}, {"b", 0}, {std::nullopt, 0}, {"", 0}}), {0});
  ASSERT_TRUE(second.ok());
  EXPECT_EQ(second->id_of_row, (std::vector<int32_t>{2, 1, 3, 4}));
  EXPECT_EQ(second->new_rows, (std::vector<int64_t>{0, 2, 3}));
  EXPECT_EQ(index.key_count(), 5);
}

TEST(KeyIndexTest, JoinsColumnsAndKnowsFloats) {
  KeyIndex index;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  auto ids = index.Identify(
      *Rows({{"a", 0.0}, {"a", -0.0}, {"a", nan}, {"b", 0}, {"a", -nan}, {std::nullopt, 0}}),
      {0, 1});
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ(ids->id_of_row, (std::vector<int32_t>{0, 0, 1, 2, 1, 3}));
}

TEST(KeyIndexTest, NoKeyColumnsIsOneKey) {
  KeyIndex index;
  auto ids = index.Identify(*Rows({{"a", 1}, {"b", 2}}), {});
  ASSERT_TRUE(ids.ok());
  EXPECT_EQ(ids->id_of_row, (std::vector<int32_t>{0, 0}));
  EXPECT_EQ(index.key_count(), 1);
}

// Over many batches rows have the same id exactly when IdentifyKeys says that their keys are equal.
TEST(KeyIndexTest, AgreesWithIdentifyKeys) {
  KeyIndex index;
  std::vector<std::pair<std::optional<std::string>, double>> all;
  std::vector<int32_t> ids;
  for (int batch = 0; batch < 20; ++batch) {
    std::vector<std::pair<std::optional<std::string>, double>> rows;
    for (int i = 0; i < 500; ++i) {
      const int n = (batch * 500 + i) * 7919 % 3001;
      rows.emplace_back(n % 97 == 0 ? std::nullopt : std::optional(std::to_string(n % 300)),
                        n % 11);
    }
    auto some = index.Identify(*Rows(rows), {0, 1});
    ASSERT_TRUE(some.ok());
    ids.insert(ids.end(), some->id_of_row.begin(), some->id_of_row.end());
    all.insert(all.end(), rows.begin(), rows.end());
  }
  auto expected = IdentifyKeys(*Rows(all), {0, 1});
  ASSERT_TRUE(expected.ok());
  std::map<int32_t, int32_t> matched;
  std::set<int32_t> taken;
  for (size_t row = 0; row < ids.size(); ++row) {
    const auto [it, fresh] = matched.try_emplace(expected->id_of_row[row], ids[row]);
    EXPECT_EQ(it->second, ids[row]);
    EXPECT_TRUE(!fresh || taken.insert(ids[row]).second);
  }
  EXPECT_EQ(index.key_count(), static_cast<int32_t>(expected->first_row.size()));
}

}  // namespace
}  // namespace sluice::expr
