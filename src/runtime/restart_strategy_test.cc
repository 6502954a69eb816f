#include "runtime/restart_strategy.h"

#include <gtest/gtest.h>

namespace sluice::runtime {
namespace {

TEST(RestartStrategyTest, None) {
  RestartStrategy strategy({.kind = RestartKind::kNone}, 1);
  EXPECT_EQ(strategy.OnFailure(0), std::nullopt);
}

TEST(RestartStrategyTest, FixedDelay) {
  RestartStrategy strategy({.kind = RestartKind::kFixedDelay, .attempts = 2, .delay_ms = 30}, 1);
  EXPECT_EQ(strategy.OnFailure(0), 30);
  EXPECT_EQ(strategy.OnFailure(1'000'000), 30);
  EXPECT_EQ(strategy.OnFailure(2'000'000), std::nullopt);
}

TEST(RestartStrategyTest, FailureRateCountsWithinItsInterval) {
  RestartStrategy strategy({.kind = RestartKind::kFailureRate,
                            .delay_ms = 5,
                            .max_failures_per_interval = 2,
                            .failure_rate_interval_ms = 1'000},
                           1);
  EXPECT_EQ(strategy.OnFailure(0), 5);
  EXPECT_EQ(strategy.OnFailure(900), 5);
  EXPECT_EQ(strategy.OnFailure(1'500), 5);
  EXPECT_EQ(strategy.OnFailure(1'600), std::nullopt);
}

TEST(RestartStrategyTest, ExponentialDelayGrowsToItsLimitAndResets) {
  RestartSettings settings;
  settings.initial_backoff_ms = 100;
  settings.max_backoff_ms = 350;
  settings.backoff_multiplier = 2;
  settings.jitter_factor = 0;
  settings.reset_threshold_ms = 10'000;
  RestartStrategy strategy(settings, 1);
  EXPECT_EQ(strategy.OnFailure(0), 100);
  EXPECT_EQ(strategy.OnFailure(200), 200);
  EXPECT_EQ(strategy.OnFailure(500), 350);
  EXPECT_EQ(strategy.OnFailure(1'000), 350);
  EXPECT_EQ(strategy.OnFailure(20'000), 100);
}

TEST(RestartStrategyTest, ExponentialDelayGivesUpAfterItsAttempts) {
  RestartSettings settings;
  settings.attempts_before_reset = 2;
  RestartStrategy strategy(settings, 7);
  EXPECT_NE(strategy.OnFailure(0), std::nullopt);
  EXPECT_NE(strategy.OnFailure(0), std::nullopt);
  EXPECT_EQ(strategy.OnFailure(0), std::nullopt);
}

TEST(RestartStrategyTest, JitterStaysWithinItsShare) {
  for (uint64_t seed = 0; seed < 100; ++seed) {
    RestartStrategy strategy({}, seed);
    const std::optional<int64_t> delay_ms = strategy.OnFailure(0);
    ASSERT_TRUE(delay_ms.has_value());
    EXPECT_GE(*delay_ms, 900);
    EXPECT_LE(*delay_ms, 1'100);
  }
}

}  // namespace
}  // namespace sluice::runtime
