#include "types/batch.h"

#include <arrow/builder.h>
#include <arrow/record_batch.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(BatchByteSize, CountsWhatASliceRefersTo) {
  arrow::Int64Builder numbers;
  arrow::StringBuilder texts;
  auto element = std::make_shared<arrow::Int32Builder>();
  arrow::ListBuilder lists(arrow::default_memory_pool(), element);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(numbers.Append(i).ok());
    ASSERT_TRUE(texts.Append("0123456789").ok());
    ASSERT_TRUE(lists.Append().ok());
    ASSERT_TRUE(element->Append(1).ok() && element->Append(2).ok());
  }
  const auto number = *numbers.Finish();
  const auto text = *texts.Finish();
  const auto list = *lists.Finish();
  const auto row = *arrow::StructArray::Make({number, text}, std::vector<std::string>{"a", "b"});
  const auto batch = [](const std::shared_ptr<arrow::Array>& array) {
    return Batch(
        arrow::RecordBatch::Make(arrow::schema({arrow::field("c", array->type())}), 100, {array}));
  };
  EXPECT_EQ(batch(number).byte_size(), 800);
  EXPECT_EQ(batch(number).Slice(90, 10).byte_size(), 80);
  EXPECT_EQ(batch(text).Slice(10, 10).byte_size(), 11 * 4 + 100);
  EXPECT_EQ(batch(list).Slice(50, 10).byte_size(), 11 * 4 + 20 * 4);
  EXPECT_EQ(batch(row).Slice(10, 10).byte_size(), 80 + 11 * 4 + 100);
  EXPECT_EQ(batch(number).Slice(5, 0).byte_size(), 0);
  EXPECT_EQ(Batch().byte_size(), 0);
}

}  // namespace
}  // namespace sluice
