#include "runtime/channel.h"

#include <thread>

#include <gtest/gtest.h>

#include "runtime/job_test_support.h"

namespace sluice::runtime {
namespace {

using testing::NumberBatch;

struct CountingWaker final : Waker {
  void Wake() override { ++count; }
  void WakeAt(int64_t) override {}
  std::atomic<int> count{0};
};

TEST(ChannelTest, BoundsDataByBytesAndAdmitsOneOversizedBatch) {
  Channel channel(100);
  EXPECT_TRUE(channel.HasRoom());
  channel.Push(NumberBatch(std::vector<int64_t>(1000)));
  EXPECT_FALSE(channel.HasRoom());
  EXPECT_TRUE(channel.Pop().has_value());
  EXPECT_TRUE(channel.HasRoom());
}

TEST(ChannelTest, ControlElementsTakeNoRoomAndKeepTheirPlace) {
  Channel channel(8);
  channel.Push(NumberBatch({1}));
  for (int i = 0; i < 1000; ++i) channel.Push(Watermark{i});
  channel.Push(Barrier{.id = 7});
  EXPECT_FALSE(channel.HasRoom());
  EXPECT_TRUE(channel.DataIsNext());
  EXPECT_TRUE(std::holds_alternative<Batch>(*channel.Pop()));
  EXPECT_TRUE(channel.HasRoom());
  EXPECT_FALSE(channel.DataIsNext());
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(std::get<Watermark>(*channel.Pop()).millis, i);
  EXPECT_EQ(std::get<Barrier>(*channel.Pop()).id, 7);
  EXPECT_FALSE(channel.Pop().has_value());
}

TEST(ChannelTest, BoundsTheNumberOfSmallBatches) {
  Channel channel(1 << 20, 2);
  channel.Push(NumberBatch({1}));
  EXPECT_TRUE(channel.HasRoom());
  channel.Push(NumberBatch({2}));
  EXPECT_FALSE(channel.HasRoom());
}

TEST(ChannelTest, RingsWhenItStopsBeingEmptyOrFull) {
  Channel channel(8);
  const auto producer = std::make_shared<CountingWaker>();
  const auto consumer = std::make_shared<CountingWaker>();
  channel.SetProducer(producer);
  channel.SetConsumer(consumer);
  channel.Push(NumberBatch({1}));
  channel.Push(NumberBatch({2}));
  EXPECT_EQ(consumer->count, 1);
  channel.Pop();
  EXPECT_EQ(producer->count, 0);
  channel.Pop();
  EXPECT_EQ(producer->count, 1);
}

TEST(ChannelTest, DropsDataThatIsNotWanted) {
  Channel channel(8);
  channel.RefuseData();
  channel.Push(NumberBatch({1}));
  channel.Push(Barrier{.id = 1});
  EXPECT_TRUE(std::holds_alternative<Barrier>(*channel.Pop()));
  EXPECT_FALSE(channel.finished());
  channel.Close();
  EXPECT_TRUE(channel.finished());
}

TEST(ChannelTest, KeepsTheOrderBetweenThreads) {
  Channel channel(1 << 10);
  constexpr int64_t kCount = 20'000;
  std::thread producer([&channel] {
    for (int64_t i = 0; i < kCount;) {
      if (!channel.HasRoom()) {
        std::this_thread::yield();
      } else if (i % 100 == 0) {
        channel.Push(Watermark{i++});
      } else {
        channel.Push(NumberBatch({i++}));
      }
    }
    channel.Close();
  });
  int64_t next = 0;
  while (!channel.finished()) {
    const std::optional<StreamElement> element = channel.Pop();
    if (!element) continue;
    const auto* watermark = std::get_if<Watermark>(&*element);
    const int64_t value =
        watermark != nullptr ? watermark->millis : testing::Numbers(std::get<Batch>(*element))[0];
    ASSERT_EQ(value, next++);
  }
  producer.join();
  EXPECT_EQ(next, kCount);
}

}  // namespace
}  // namespace sluice::runtime
