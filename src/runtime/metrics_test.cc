#include "runtime/metrics.h"

#include <limits>
#include <optional>

#include <gtest/gtest.h>

namespace sluice::runtime {
namespace {

TEST(MetricsTest, TheJobShowsWhatItsTasksCount) {
  Metrics job;
  std::optional<Metrics> one(&job);
  Metrics two(&job);
  job.Counter(metric::kRowsIn) += 1;
  one->Counter(metric::kRowsIn) += 10;
  two.Counter(metric::kRowsIn) += 100;
  EXPECT_EQ(job.Value(metric::kRowsIn), 111);
  EXPECT_EQ(job.Snapshot()["rows_in"], 111);
  EXPECT_EQ(two.Value(metric::kRowsIn), 111);
  EXPECT_EQ(two.Snapshot(), job.Snapshot());
  EXPECT_EQ(two.OwnCounts(), (Counts{{"rows_in", 100}}));
  EXPECT_EQ(job.OwnCounts(), (Counts{{"rows_in", 1}}));
  one.reset();
  EXPECT_EQ(job.Value(metric::kRowsIn), 111);
  EXPECT_EQ(job.OwnCounts(), (Counts{{"rows_in", 11}}));
  two.End();
  two.Counter(metric::kRowsIn) += 1000;
  EXPECT_EQ(job.Value(metric::kRowsIn), 111);
}

TEST(MetricsTest, WhatIsNotReadAgainIsTheJobs) {
  Metrics job;
  Metrics task(&job);
  ++task.Counter(metric::kStoreRetries);
  task.Counter(metric::kWatermarkMs) = 5;
  task.SetWaiting("broker", "retry 3");
  task.SetPositions("reader", {{"a", 3}});
  EXPECT_TRUE(task.OwnCounts().empty());
  EXPECT_EQ(job.Value(metric::kStoreRetries), 1);
  EXPECT_EQ(job.Value(metric::kWatermarkMs), 5);
  EXPECT_EQ(job.Waiting()["broker"], "retry 3");
  EXPECT_EQ(task.Positions(), (std::map<std::string, int64_t>{{"a", 3}}));
  EXPECT_EQ(Metrics().Value(metric::kWatermarkMs), std::numeric_limits<int64_t>::min());
}

TEST(MetricsTest, ARestartTakesBackWhatIsCountedAgain) {
  Metrics job;
  job.Counter(metric::kRowsIn) = 50;
  job.Counter(metric::kRowsOut) = 40;
  ++job.Counter(metric::kRestarts);
  job.BeginWith({{"rows_in", 30}});
  EXPECT_EQ(job.Value(metric::kRowsIn), 30);
  EXPECT_EQ(job.Value(metric::kRowsOut), 0);
  EXPECT_EQ(job.Value(metric::kRestarts), 1);
}

}  // namespace
}  // namespace sluice::runtime
