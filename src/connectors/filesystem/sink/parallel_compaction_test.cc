#include "connectors/filesystem/sink/parallel_compaction.h"

#include <atomic>
#include <condition_variable>
#include <latch>
#include <mutex>
#include <thread>

#include <gtest/gtest.h>

#include "connectors/filesystem/sink/merge_gate.h"

namespace sluice::connectors::filesystem {
namespace {

std::vector<PartitionValues> Partitions(int count) {
  std::vector<PartitionValues> partitions;
  for (int i = 0; i < count; ++i) partitions.push_back({std::to_string(i)});
  return partitions;
}

std::string NameOf(const PartitionValues& values) { return "k=" + *values[0]; }

CompactedPartition Done(const PartitionValues& values) {
  CompactedPartition done;
  done.partition = NameOf(values);
  return done;
}

TEST(ParallelCompaction, AnswersInOrderAndWorksAtOnce) {
  const auto partitions = Partitions(20);
  std::latch together(4);  // Nobody ends before four are under way.
  const auto results = CompactPartitions(
      partitions, 4,
      [&](const PartitionValues& values) -> Result<CompactedPartition> {
        if (values[0] < "4" && values[0]->size() == 1) together.arrive_and_wait();
        return Done(values);
      },
      NameOf);
  ASSERT_TRUE(results.ok());
  ASSERT_EQ(results->size(), 20u);
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ((*results)[static_cast<size_t>(i)].partition, "k=" + std::to_string(i));
}

TEST(ParallelCompaction, AFailureEndsWhatHasNotBegun) {
  const auto partitions = Partitions(100);
  std::latch under_way(2);
  std::atomic<bool> other_done{false};
  std::atomic<int> begun{0};
  const auto results = CompactPartitions(
      partitions, 2,
      [&](const PartitionValues& values) -> Result<CompactedPartition> {
        ++begun;
        if (*values[0] == "0") {
          under_way.arrive_and_wait();
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          other_done = true;  // It is finished although the other one fails.
        }
        if (*values[0] == "1") {
          under_way.arrive_and_wait();
          return Status::IoError("The disk is gone.");
        }
        return Done(values);
      },
      NameOf);
  ASSERT_FALSE(results.ok());
  EXPECT_TRUE(other_done);
  EXPECT_EQ(begun, 2);
  const std::string text = results.status().ToString();
  EXPECT_NE(text.find("partition k=1; 1 of 100 partitions are done"), std::string::npos) << text;
  EXPECT_NE(text.find("The disk is gone."), std::string::npos) << text;
}

TEST(ParallelCompaction, NothingToDo) {
  const auto results = CompactPartitions({}, 8, Done, NameOf);
  ASSERT_TRUE(results.ok());
  EXPECT_TRUE(results->empty());
}

TEST(MergeGate, BoundsMergesByCountAndBytes) {
  MergeGate gate(2, 100);
  std::mutex mutex;
  int64_t bytes = 0;
  int running = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&, wanted = i % 2 == 0 ? 60 : 40] {
      const MergeGate::Place place = gate.Enter(wanted);
      {
        const std::lock_guard lock(mutex);
        bytes += wanted;
        EXPECT_LE(++running, 2);
        EXPECT_LE(bytes, 100);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      const std::lock_guard lock(mutex);
      bytes -= wanted;
      --running;
    });
  }
  for (std::thread& thread : threads) thread.join();
  // One that is larger than all the room runs alone.
  MergeGate::Place large = gate.Enter(1'000);
  large.Leave();
  large = gate.Enter(1'000);
}

}  // namespace
}  // namespace sluice::connectors::filesystem
