#include "runtime/checkpoint/coordinator.h"

#include <gtest/gtest.h>

namespace sluice::runtime {
namespace {

CheckpointSettings Every(int64_t interval_ms, int64_t min_pause_ms = 0) {
  CheckpointSettings settings;
  settings.interval_ms = interval_ms;
  settings.min_pause_ms = min_pause_ms;
  return settings;
}

void TakeOne(CheckpointCoordinator* coordinator, CheckpointId id, int64_t now_ms) {
  coordinator->Begin({.id = id}, now_ms, 0, {});
  EXPECT_NE(coordinator->TakeComplete(), nullptr);
  coordinator->EndWithSuccess(now_ms + 5);
}

TEST(CheckpointCoordinator, ARequestedCheckpointIsDueAtOnce) {
  CheckpointCoordinator coordinator(Every(60'000), 1'000);
  EXPECT_EQ(coordinator.NextTriggerMs(), 61'000);
  coordinator.Request();
  coordinator.Request();
  EXPECT_LE(*coordinator.NextTriggerMs(), 1'000);
  TakeOne(&coordinator, 1, 2'000);
  EXPECT_EQ(coordinator.NextTriggerMs(), 62'000);  // Two requests were one.
}

TEST(CheckpointCoordinator, ARequestDuringACheckpointGivesAnother) {
  CheckpointCoordinator coordinator(Every(60'000, 300), 0);
  coordinator.Begin({.id = 1}, 1'000, 0, {});
  coordinator.Request();
  EXPECT_EQ(coordinator.NextTriggerMs(), std::nullopt);
  EXPECT_NE(coordinator.TakeComplete(), nullptr);
  coordinator.EndWithSuccess(1'010);
  EXPECT_EQ(coordinator.NextTriggerMs(), 1'310);  // The minimum pause is kept.
}

TEST(CheckpointCoordinator, RequestsAreOneASecondOnAverage) {
  CheckpointCoordinator coordinator(Every(60'000), 0);
  int64_t now_ms = 100;
  for (CheckpointId id = 1; id <= 10; ++id) {
    coordinator.Request();
    EXPECT_LE(*coordinator.NextTriggerMs(), now_ms);
    TakeOne(&coordinator, id, now_ms);
    now_ms += 50;
  }
  coordinator.Request();
  EXPECT_EQ(coordinator.NextTriggerMs(), 10'100);
}

TEST(CheckpointCoordinator, RequestsTakeATenthOfTheTime) {
  CheckpointCoordinator coordinator(Every(60'000), 0);
  coordinator.Request();
  coordinator.Begin({.id = 1}, 1'000, 0, {});
  EXPECT_NE(coordinator.TakeComplete(), nullptr);
  coordinator.EndWithSuccess(1'100);
  coordinator.Request();
  EXPECT_EQ(coordinator.NextTriggerMs(), 2'000);
  // Not so behind a periodic one, which is there anyway.
  TakeOne(&coordinator, 2, 61'000);
  TakeOne(&coordinator, 3, 121'000);
  coordinator.Request();
  EXPECT_LE(*coordinator.NextTriggerMs(), 121'005);
}

TEST(CheckpointCoordinator, WithoutAnIntervalNothingIsRequested) {
  CheckpointCoordinator coordinator(CheckpointSettings(), 0);
  coordinator.Request();
  EXPECT_EQ(coordinator.NextTriggerMs(), std::nullopt);
}

}  // namespace
}  // namespace sluice::runtime
