#include "runtime/growing_blocks.h"

#include <cstring>

#include <arrow/buffer.h>
#include <arrow/buffer_builder.h>
#include <gtest/gtest.h>

namespace sluice::runtime {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kLeast = GrowingBlocks::kLarge.least_bytes;
constexpr int64_t kSlot = GrowingBlocks::kLarge.slot_bytes;

GrowingBlocks::Sizes SlotsOf(int64_t count, int64_t kept_bytes) {
  return {kLeast, kSlot, count, kept_bytes};
}

class GrowingBlocksTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (arrow::default_memory_pool()->backend_name() == "system") {
      GTEST_SKIP() << "with malloc for a pool all blocks are its";
    }
  }

  uint8_t* Allocate(GrowingBlocks* pool, int64_t size) {
    uint8_t* block = nullptr;
    EXPECT_TRUE(pool->Allocate(size, kAlignment, &block).ok());
    std::memset(block, static_cast<int>(size % 251), static_cast<size_t>(size));
    return block;
  }

  void Resize(GrowingBlocks* pool, uint8_t** block, int64_t from, int64_t to) {
    EXPECT_TRUE(pool->Reallocate(from, to, kAlignment, block).ok());
  }
};

TEST_F(GrowingBlocksTest, LargeBlocksGrowWithoutMoving) {
  GrowingBlocks pool(arrow::default_memory_pool(), SlotsOf(4, kSlot));
  uint8_t* block = Allocate(&pool, kLeast);
  uint8_t* const first = block;
  ASSERT_TRUE(pool.InSlot(block));
  Resize(&pool, &block, kLeast, kSlot);
  EXPECT_EQ(block, first);
  EXPECT_EQ(block[kLeast - 1], kLeast % 251);
  block[kSlot - 1] = 7;
  Resize(&pool, &block, kSlot, 2 * kLeast);
  EXPECT_EQ(block, first);
  pool.Free(block, 2 * kLeast, kAlignment);
  EXPECT_EQ(pool.kept_bytes(), 2 * kLeast);
}

TEST_F(GrowingBlocksTest, ContentsComeAlongIntoASlotAndOutOfIt) {
  GrowingBlocks pool(arrow::default_memory_pool(), SlotsOf(4, kSlot));
  const int64_t before = pool.bytes_allocated();
  uint8_t* block = Allocate(&pool, 1000);
  EXPECT_FALSE(pool.InSlot(block));
  Resize(&pool, &block, 1000, kLeast);
  EXPECT_TRUE(pool.InSlot(block));
  EXPECT_EQ(block[999], 1000 % 251);
  Resize(&pool, &block, kLeast, kSlot + 1);
  EXPECT_FALSE(pool.InSlot(block));
  EXPECT_EQ(block[999], 1000 % 251);
  EXPECT_EQ(pool.bytes_allocated(), before + kSlot + 1);
  Resize(&pool, &block, kSlot + 1, 1000);
  EXPECT_EQ(block[999], 1000 % 251);
  pool.Free(block, 1000, kAlignment);
  EXPECT_EQ(pool.bytes_allocated(), before);
}

TEST_F(GrowingBlocksTest, ASlotIsUsedAgain) {
  GrowingBlocks pool(arrow::default_memory_pool(), SlotsOf(4, kSlot));
  uint8_t* const first = Allocate(&pool, 1 << 20);
  pool.Free(first, 1 << 20, kAlignment);
  EXPECT_EQ(pool.kept_bytes(), 1 << 20);
  uint8_t* const second = Allocate(&pool, (1 << 20) - 100);
  EXPECT_EQ(second, first);
  EXPECT_EQ(pool.kept_bytes(), 0);
  pool.Free(second, (1 << 20) - 100, kAlignment);
}

TEST_F(GrowingBlocksTest, FreeSlotsKeepABoundedNumberOfPages) {
  GrowingBlocks pool(arrow::default_memory_pool(), SlotsOf(64, 4 << 20));
  std::vector<uint8_t*> blocks;
  for (int i = 0; i < 32; ++i) blocks.push_back(Allocate(&pool, 1 << 20));
  for (uint8_t* const block : blocks) {
    pool.Free(block, 1 << 20, kAlignment);
    EXPECT_LE(pool.kept_bytes(), 4 << 20);
  }
  EXPECT_EQ(pool.kept_bytes(), 4 << 20);
  // One whose pages are gone is all zeros.
  for (int i = 0; i < 4; ++i) blocks[static_cast<size_t>(i)] = Allocate(&pool, 1 << 20);
  EXPECT_EQ(pool.kept_bytes(), 0);
  uint8_t* fresh = nullptr;
  ASSERT_TRUE(pool.Allocate(1 << 20, kAlignment, &fresh).ok());
  EXPECT_EQ(fresh[0], 0);
  pool.Free(fresh, 1 << 20, kAlignment);
  for (int i = 0; i < 4; ++i) {
    pool.Free(blocks[static_cast<size_t>(i)], 1 << 20, kAlignment);
  }
  pool.ReleaseUnused();
  EXPECT_EQ(pool.kept_bytes(), 0);
}

TEST_F(GrowingBlocksTest, WithoutSlotsTheBackingPoolServes) {
  GrowingBlocks pool(arrow::default_memory_pool(), SlotsOf(1, kSlot));
  uint8_t* const only = Allocate(&pool, kLeast);
  uint8_t* other = Allocate(&pool, kLeast);
  EXPECT_TRUE(pool.InSlot(only));
  EXPECT_FALSE(pool.InSlot(other));
  Resize(&pool, &other, kLeast, 4 * kLeast);
  EXPECT_EQ(other[kLeast - 1], kLeast % 251);
  pool.Free(other, 4 * kLeast, kAlignment);
  pool.Free(only, kLeast, kAlignment);
}

TEST_F(GrowingBlocksTest, HugeBlocksGoOnInAHugeSlot) {
  GrowingBlocks huge(arrow::default_memory_pool(), GrowingBlocks::kHuge);
  GrowingBlocks pool(&huge, GrowingBlocks::kLarge);
  uint8_t* block = Allocate(&pool, 1000);
  Resize(&pool, &block, 1000, kSlot);
  ASSERT_TRUE(pool.InSlot(block));
  Resize(&pool, &block, kSlot, 2 * kSlot);
  ASSERT_TRUE(huge.InSlot(block));
  uint8_t* const first = block;
  Resize(&pool, &block, 2 * kSlot, 4 * kSlot);
  EXPECT_EQ(block, first);
  EXPECT_EQ(block[999], 1000 % 251);
  EXPECT_EQ(pool.bytes_allocated() - arrow::default_memory_pool()->bytes_allocated(), 4 * kSlot);
  Resize(&pool, &block, 4 * kSlot, kLeast);
  EXPECT_FALSE(huge.InSlot(block));
  EXPECT_EQ(block[999], 1000 % 251);
  pool.Free(block, kLeast, kAlignment);
  pool.ReleaseUnused();
  EXPECT_EQ(pool.kept_bytes() + huge.kept_bytes(), 0);
}

TEST_F(GrowingBlocksTest, ServesArrowsBuilders) {
  GrowingBlocks pool(arrow::default_memory_pool(), SlotsOf(4, kSlot));
  {
    arrow::TypedBufferBuilder<int64_t> builder(&pool);
    for (int64_t i = 0; i < 3 << 20; ++i) ASSERT_TRUE(builder.Append(i).ok());
    const auto buffer = *builder.Finish();
    ASSERT_EQ(buffer->size(), 24 << 20);
    const auto* const values = reinterpret_cast<const int64_t*>(buffer->data());
    for (int64_t i = 0; i < 3 << 20; i += 999) ASSERT_EQ(values[i], i);
  }
  const auto empty = *arrow::AllocateResizableBuffer(0, &pool);
  EXPECT_TRUE(empty->Resize(kLeast).ok());
  EXPECT_TRUE(empty->Resize(0).ok());
}

}  // namespace
}  // namespace sluice::runtime
