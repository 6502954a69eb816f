#include "expr/key_split.h"

#include <cmath>
#include <map>
#include <numeric>
#include <optional>

#include <arrow/api.h>
#include <gtest/gtest.h>

#include "expr/group_table.h"
#include "expr/sort.h"

namespace sluice::expr {
namespace {

constexpr uint64_t kExpectedHashes[] = {2925843021876204639u, 7173300241019758094u,
                                        4270959942379494721u};

/// Rows (n INT, s STRING, d DOUBLE) with NULLs, NaN and both zeros.
Batch MakeBatch(int64_t rows, int keys, bool kinds = false) {
  arrow::Int32Builder numbers;
  arrow::StringBuilder texts;
  arrow::DoubleBuilder doubles;
  arrow::Int8Builder row_kinds;
  for (int64_t i = 0; i < rows; ++i) {
    const int64_t key = i * 7919 % keys;
    EXPECT_TRUE(numbers.Append(static_cast<int32_t>(i)).ok());
    EXPECT_TRUE((key == 0 ? texts.AppendNull() : texts.Append("key-" + std::to_string(key))).ok());
    EXPECT_TRUE(doubles
                    .Append(key == 1   ? std::nan("")
                            : key == 2 ? (i % 2 == 0 ? 0.0 : -0.0)
                                       : static_cast<double>(key + 10))
                    .ok());
    EXPECT_TRUE(row_kinds.Append(static_cast<int8_t>(i % 4)).ok());
  }
  auto rows_batch = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("n", arrow::int32()), arrow::field("s", arrow::utf8()),
                     arrow::field("d", arrow::float64())}),
      rows, arrow::ArrayVector{*numbers.Finish(), *texts.Finish(), *doubles.Finish()});
  std::shared_ptr<arrow::Int8Array> kind_array;
  if (kinds) kind_array = std::static_pointer_cast<arrow::Int8Array>(*row_kinds.Finish());
  return Batch(rows_batch, kind_array);
}

TEST(SplitByKey, KeepsEveryRowOnceInOrder) {
  for (const int keys : {1, 3, 24, 1000}) {
    for (const std::vector<int>& columns : {std::vector<int>{1}, {1, 2}, {2}}) {
      const Batch batch = MakeBatch(5000, keys, true);
      const auto split = SplitByKey(batch, columns, {0, 1}, arrow::default_memory_pool());
      ASSERT_TRUE(split.ok());
      EXPECT_EQ(split->ranges.size(), static_cast<size_t>(keys));
      int64_t rows = 0;
      for (const KeySplit::Range& range : split->ranges) {
        const Batch slice = split->RowsOf(range);
        ASSERT_EQ(slice.rows()->num_columns(), 2);
        const auto numbers = std::static_pointer_cast<arrow::Int32Array>(slice.column(0));
        for (int64_t i = 0; i < slice.row_count(); ++i) {
          ASSERT_EQ(numbers->Value(i) * 7919LL % keys, range.key_row * 7919LL % keys);
          ASSERT_EQ(slice.row_kind(i), batch.row_kind(numbers->Value(i)));
          if (i > 0) {
            ASSERT_LT(numbers->Value(i - 1), numbers->Value(i));
          }
        }
        rows += slice.row_count();
      }
      EXPECT_EQ(rows, 5000);
    }
  }
}

TEST(SplitByKey, SlicesOfSlicesAndEmptyBatches) {
  const Batch batch = MakeBatch(100, 10).Slice(13, 40);
  const auto split = SplitByKey(batch, {1}, {0}, arrow::default_memory_pool());
  ASSERT_TRUE(split.ok());
  int64_t rows = 0;
  for (const KeySplit::Range& range : split->ranges) rows += split->RowsOf(range).row_count();
  EXPECT_EQ(rows, 40);
  EXPECT_TRUE(
      SplitByKey(batch.Slice(0, 0), {1}, {0}, arrow::default_memory_pool())->ranges.empty());
  const auto all = SplitByKey(batch, {}, {0}, arrow::default_memory_pool());
  ASSERT_EQ(all->ranges.size(), 1u);
  EXPECT_FALSE(SplitByKey(batch, {9}, {0}, arrow::default_memory_pool()).ok());
}

// Texts that are equally long are told apart by words that overlap: each byte must count.
TEST(IdentifyKeys, TextsOfEqualLengthDifferInAnyByte) {
  for (size_t length = 0; length <= 18; ++length) {
    arrow::StringBuilder texts;
    std::vector<int32_t> wanted;
    ASSERT_TRUE(texts.Append(std::string(length, 'x')).ok());  // Left out by the slice.
    for (int turn = 0; turn < 2; ++turn) {
      for (size_t at = 0; at <= length; ++at) {
        std::string text(length, 'a');
        if (at < length) text[at] = 'b';
        ASSERT_TRUE(texts.Append(text).ok());
        wanted.push_back(static_cast<int32_t>(at));
      }
    }
    const std::shared_ptr<arrow::Array> column = *texts.Finish();
    const auto rows = arrow::RecordBatch::Make(arrow::schema({arrow::field("s", arrow::utf8())}),
                                               column->length(), arrow::ArrayVector{column})
                          ->Slice(1);
    const auto ids = IdentifyKeys(*rows, {0});
    ASSERT_TRUE(ids.ok());
    EXPECT_EQ(ids->id_of_row, wanted) << length;
    EXPECT_EQ(ids->first_row.size(), length + 1);
  }
}

TEST(Routing, EqualKeysGoTheSameWay) {
  const Batch batch = MakeBatch(3000, 50);
  const auto channels = RouteByKey(*batch.rows(), {1, 2}, 4);
  ASSERT_TRUE(channels.ok());
  std::map<int64_t, int32_t> channel_of_key;
  for (int64_t row = 0; row < batch.row_count(); ++row) {
    const int32_t channel = (*channels)[static_cast<size_t>(row)];
    const auto [it, added] = channel_of_key.emplace(row * 7919 % 50, channel);
    EXPECT_EQ(it->second, channel);
  }
  const auto parts = SplitByChannel(batch, *channels, 4, arrow::default_memory_pool());
  ASSERT_TRUE(parts.ok());
  int64_t rows = 0;
  for (const Batch& part : *parts) {
    EXPECT_GT(part.row_count(), 0);
    rows += part.row_count();
  }
  EXPECT_EQ(rows, 3000);
  EXPECT_FALSE(
      SplitByChannel(batch, std::vector<int32_t>(3000, 4), 4, arrow::default_memory_pool()).ok());
}

TEST(Routing, HashesNeverChange) {
  // State depends on these: a change needs a new version of it.
  const auto rows = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("s", arrow::utf8()), arrow::field("n", arrow::int64())}), 3,
      arrow::ArrayVector{
          *[] {
            arrow::StringBuilder builder;
            (void)builder.AppendValues({"", "order", "a text of more than sixteen bytes"});
            return builder.Finish();
          }(),
          *[] {
            arrow::Int64Builder builder;
            (void)builder.AppendValues({0, -1, 42});
            return builder.Finish();
          }()});
  const auto hashes = HashKeys(*rows, {0, 1});
  ASSERT_TRUE(hashes.ok());
  EXPECT_EQ(*hashes, HashKeys(*rows, {0, 1}).value());
  EXPECT_EQ((*hashes)[0], kExpectedHashes[0]);
  EXPECT_EQ((*hashes)[1], kExpectedHashes[1]);
  EXPECT_EQ((*hashes)[2], kExpectedHashes[2]);
}

TEST(GroupTable, GivesDenseIdsAndTheKeysBack) {
  GroupTable table(Schema({{"s", SqlType::String()}, {"d", SqlType::Double()}}));
  std::vector<int32_t> ids;
  for (int part = 0; part < 3; ++part) {
    const auto keys = *MakeBatch(900, 300).rows()->SelectColumns({1, 2});
    const auto found = table.GroupIds(*keys);
    ASSERT_TRUE(found.ok());
    if (part > 0) {
      EXPECT_EQ(*found, ids);
    }
    ids = *found;
  }
  EXPECT_EQ(table.group_count(), 300);
  EXPECT_GT(table.memory_bytes(), 0);
  const auto keys = table.Keys(0, 300);
  ASSERT_TRUE(keys.ok());
  std::vector<int32_t> expected(300);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(*table.FindGroupIds(**keys), expected);
  GroupTable restored(Schema({{"s", SqlType::String()}, {"d", SqlType::Double()}}));
  EXPECT_EQ(*restored.GroupIds(**keys), expected);
  EXPECT_EQ(table.Keys(10, 12).value()->num_rows(), 2);
  GroupTable global((Schema()));
  EXPECT_EQ(*global.GroupIds(*arrow::RecordBatch::Make(arrow::schema({}), 3, arrow::ArrayVector{})),
            (std::vector<int32_t>{0, 0, 0}));
}

TEST(GroupTable, KeysOfOneWord) {
  GroupTable table(Schema({{"n", SqlType::Bigint()}}));
  std::map<std::optional<int64_t>, int32_t> expected;
  for (int part = 0; part < 4; ++part) {
    arrow::Int64Builder builder;
    std::vector<int32_t> ids;
    for (int64_t i = 0; i < 5000; ++i) {
      // Keys that differ in their high bits only, and NULL, some of them new in each part.
      const int64_t key = (i * 7919 % 1500 + part * 400) << 40;
      const bool null = i % 701 == 3;
      EXPECT_TRUE((null ? builder.AppendNull() : builder.Append(key)).ok());
      const auto value = null ? std::optional<int64_t>() : std::optional<int64_t>(key);
      ids.push_back(expected.emplace(value, static_cast<int32_t>(expected.size())).first->second);
    }
    const auto keys = arrow::RecordBatch::Make(arrow::schema({arrow::field("n", arrow::int64())}),
                                               5000, arrow::ArrayVector{*builder.Finish()});
    EXPECT_EQ(*table.GroupIds(*keys), ids);
    EXPECT_EQ(*table.FindGroupIds(*keys), ids);
  }
  EXPECT_EQ(table.group_count(), static_cast<int64_t>(expected.size()));
  const auto keys = *table.Keys(0, table.group_count());
  GroupTable again(Schema({{"n", SqlType::Bigint()}}));
  std::vector<int32_t> in_order(expected.size());
  std::iota(in_order.begin(), in_order.end(), 0);
  EXPECT_EQ(*again.GroupIds(*keys), in_order);
  EXPECT_EQ(*again.FindGroupIds(*keys->Slice(7, 2)), (std::vector<int32_t>{7, 8}));
}

TEST(GroupTable, FloatsOfOneColumn) {
  GroupTable table(Schema({{"d", SqlType::Double()}}));
  arrow::DoubleBuilder builder;
  ASSERT_TRUE(builder.AppendValues({0.0, std::nan("1"), -0.0, -std::nan("2"), 1.5, 0.0}).ok());
  const auto keys = arrow::RecordBatch::Make(arrow::schema({arrow::field("d", arrow::float64())}),
                                             6, arrow::ArrayVector{*builder.Finish()});
  EXPECT_EQ(*table.GroupIds(*keys), (std::vector<int32_t>{0, 1, 0, 1, 2, 0}));
}

TEST(GroupTable, SlicesOfOneConstantColumnAreOneKey) {
  const auto column = [](const std::string& text) {
    return *arrow::MakeArrayFromScalar(arrow::StringScalar(text), 1000);
  };
  const auto batch = [](const std::shared_ptr<arrow::Array>& values, int64_t rows) {
    return arrow::RecordBatch::Make(arrow::schema({arrow::field("s", arrow::utf8())}), rows,
                                    arrow::ArrayVector{values->Slice(0, rows)});
  };
  GroupTable table(Schema({{"s", SqlType::String()}}));
  const auto first = column("a");
  const auto second = column("b");
  EXPECT_EQ(*table.GroupIds(*batch(first, 900)), std::vector<int32_t>(900, 0));
  EXPECT_EQ(*table.GroupIds(*batch(first, 5)), std::vector<int32_t>(5, 0));
  EXPECT_EQ(*table.GroupIds(*batch(second, 900)), std::vector<int32_t>(900, 1));
  EXPECT_EQ(*table.GroupIds(*batch(first, 1000)), std::vector<int32_t>(1000, 0));
  EXPECT_EQ(table.group_count(), 2);
}

TEST(Sort, FlinksNullOrder) {
  arrow::Int32Builder a;
  arrow::StringBuilder b;
  (void)a.AppendValues({2, 1, 0, 2, 1}, {true, true, false, true, true});
  for (const char* text : {"x", "longer text b", "n", "y", "longer text a"}) (void)b.Append(text);
  const auto rows = arrow::RecordBatch::Make(
      arrow::schema({arrow::field("a", arrow::int32()), arrow::field("b", arrow::utf8())}), 5,
      arrow::ArrayVector{*a.Finish(), *b.Finish()});
  using I = std::vector<int64_t>;
  EXPECT_EQ(*SortIndices(*rows, {SortKey::Ascending(0)}), (I{2, 1, 4, 0, 3}));
  EXPECT_EQ(*SortIndices(*rows, {SortKey::Descending(0)}), (I{0, 3, 1, 4, 2}));
  EXPECT_EQ(*SortIndices(*rows, {SortKey{0, false, false}}), (I{1, 4, 0, 3, 2}));
  EXPECT_EQ(*SortIndices(*rows, {SortKey::Ascending(0), SortKey::Ascending(1)}),
            (I{2, 4, 1, 0, 3}));
  EXPECT_EQ(*SortIndices(*rows, {SortKey::Ascending(0), SortKey::Descending(1)}, 3), (I{2, 1, 4}));
  const auto taken = TakeRows(*rows, {4, 0}, arrow::default_memory_pool());
  EXPECT_EQ(std::static_pointer_cast<arrow::StringArray>((*taken)->column(1))->GetView(0),
            "longer text a");
}

TEST(Filter, KeepsOnlyTrue) {
  const Batch batch = MakeBatch(4, 2, true);
  arrow::BooleanBuilder builder;
  (void)builder.AppendValues(std::vector<bool>{true, false, true, true}, {true, true, false, true});
  const Batch kept = *FilterRows(batch, *builder.Finish(), arrow::default_memory_pool());
  ASSERT_EQ(kept.row_count(), 2);
  EXPECT_EQ(kept.row_kind(1), RowKind::kDelete);
  EXPECT_EQ(FilterRows(batch, arrow::Datum(std::make_shared<arrow::BooleanScalar>(true)),
                       arrow::default_memory_pool())
                ->row_count(),
            4);
  EXPECT_EQ(FilterRows(batch, arrow::Datum(std::make_shared<arrow::BooleanScalar>()),
                       arrow::default_memory_pool())
                ->row_count(),
            0);
}

}  // namespace
}  // namespace sluice::expr
