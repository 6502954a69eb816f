#include "runtime/watermark.h"

#include <gtest/gtest.h>

#include "runtime/input_watermarks.h"

namespace sluice::runtime {
namespace {

class Recorder final : public Output {
 public:
  Status Emit(Batch) override { return {}; }
  Status EmitWatermark(int64_t millis) override {
    text += " " + std::to_string(millis);
    return {};
  }
  Status EmitIdle(bool idle) override {
    text += idle ? " idle" : " active";
    return {};
  }
  Status StopInput() override { return {}; }
  std::string Take() { return std::exchange(text, ""); }

 private:
  std::string text;
};

struct Fixture {
  explicit Fixture(WatermarkSettings settings) : marks(settings, &clock) {}
  std::string Due() {
    EXPECT_TRUE(marks.EmitDue(out).ok());
    return out.Take();
  }
  VirtualClock clock{1'000'000};
  Recorder out;
  SplitWatermarks marks;
};

WatermarkSettings Enabled(int64_t idle_timeout_ms = 0, int64_t interval_ms = 200) {
  return {.enabled = true, .emit_interval_ms = interval_ms, .idle_timeout_ms = idle_timeout_ms};
}

TEST(SplitWatermarksTest, TakesTheMinimumOfTheSplits) {
  Fixture f(Enabled());
  f.marks.AddSplit("a");
  f.marks.AddSplit("b");
  f.marks.Observe("a", 10'000);
  EXPECT_EQ(f.Due(), "");  // b has not spoken.
  EXPECT_EQ(f.marks.SlowestSplit(), "b");
  f.marks.Observe("b", 4'000);
  EXPECT_EQ(f.Due(), " 4000");
  f.marks.RemoveSplit("b");
  EXPECT_EQ(f.Due(), " 10000");
}

TEST(SplitWatermarksTest, NullRowTimesDoNotMoveIt) {
  Fixture f(Enabled());
  f.marks.AddSplit("a");
  f.marks.Observe("a", std::nullopt);
  EXPECT_EQ(f.Due(), "");
  f.marks.Observe("a", 5);
  EXPECT_EQ(f.Due(), " 5");
  f.marks.Observe("a", 3);
  f.clock.AdvanceMillis(1'000);
  EXPECT_EQ(f.Due(), "");
}

TEST(SplitWatermarksTest, EmitsEachIntervalOrWhenFarAhead) {
  Fixture f(Enabled());
  f.marks.AddSplit("a");
  f.marks.Observe("a", 1'000);
  EXPECT_EQ(f.Due(), " 1000");
  f.marks.Observe("a", 1'100);
  EXPECT_EQ(f.Due(), "");
  f.clock.AdvanceMillis(200);
  EXPECT_EQ(f.Due(), " 1100");
  f.marks.Observe("a", 1'301);
  EXPECT_EQ(f.Due(), " 1301");  // More than the interval ahead: at once.
}

TEST(SplitWatermarksTest, AnIdleSplitLeavesAndReturnsWithoutPullingBack) {
  Fixture f(Enabled(2'000));
  f.marks.AddSplit("a");
  f.marks.AddSplit("b");
  f.marks.Observe("b", 500);
  EXPECT_EQ(f.Due(), "");
  for (int i = 0; i < 5; ++i) {
    f.clock.AdvanceMillis(500);
    f.marks.Observe("a", 10'000 + i);
    f.Due();
  }
  EXPECT_EQ(f.marks.current_ms(), 10'004);
  f.marks.Observe("b", 600);  // Late, but counted again.
  f.marks.Observe("a", 20'000);
  f.clock.AdvanceMillis(300);
  EXPECT_EQ(f.Due(), "");
  f.marks.Observe("b", 15'000);
  EXPECT_EQ(f.Due(), " 15000");
}

TEST(SplitWatermarksTest, AllIdleIsIdleAndNoProgress) {
  Fixture f(Enabled(1'000));
  f.marks.AddSplit("a");
  f.marks.Observe("a", 100);
  EXPECT_EQ(f.Due(), " 100");
  for (int i = 0; i < 4; ++i) {
    f.clock.AdvanceMillis(250);
    f.Due();
  }
  f.marks.Observe("a", 90);
  EXPECT_EQ(f.Due(), " active");
}

TEST(SplitWatermarksTest, WithoutSplitsItIsIdleAtOnce) {
  Fixture f(Enabled());
  EXPECT_EQ(f.Due(), " idle");
  f.marks.AddSplit("a");
  EXPECT_EQ(f.Due(), " active");
}

TEST(SplitWatermarksTest, ASplitThatEndsLeavesItsWatermarkBehind) {
  Fixture f(Enabled());
  f.marks.AddSplit("a");
  f.marks.Observe("a", 1'000);
  f.marks.RemoveSplit("a");  // All its rows were one batch.
  EXPECT_EQ(f.Due(), " 1000 idle");
  f.marks.AddSplit("b");
  f.marks.AddSplit("c");
  f.marks.Observe("b", 5'000);
  f.marks.RemoveSplit("b");  // Held back by c.
  EXPECT_EQ(f.Due(), " active");
  f.marks.Observe("c", 4'000);
  f.marks.RemoveSplit("c");
  EXPECT_EQ(f.Due(), " 4000 idle");
}

TEST(SplitWatermarksTest, WhatASplitLeavesBehindIsSaidBeforeTheReaderTurnsIdle) {
  Fixture f(Enabled());
  f.marks.AddSplit("a");
  f.marks.Observe("a", 1'000);
  EXPECT_EQ(f.Due(), " 1000");
  f.marks.Observe("a", 1'100);  // Too soon and too near for a watermark of its own.
  f.marks.RemoveSplit("a");
  EXPECT_EQ(f.Due(), " 1100 idle");
}

TEST(SplitWatermarksTest, AnIdleReaderThatSpeaksInPassingIsIdleAgain) {
  Fixture f(Enabled());
  EXPECT_EQ(f.Due(), " idle");
  f.marks.AddSplit("a");
  f.marks.Observe("a", 1'000);
  f.marks.RemoveSplit("a");
  EXPECT_EQ(f.Due(), " active 1000 idle");
  EXPECT_EQ(f.Due(), "");
}

TEST(SplitWatermarksTest, AWaitingSplitHoldsNothingBack) {
  Fixture f(Enabled());
  f.marks.AddWaitingSplit("a");
  f.marks.AddWaitingSplit("b");
  EXPECT_EQ(f.Due(), "");  // Not idle: rows are on their way.
  f.marks.Observe("a", 1'000);
  EXPECT_EQ(f.Due(), " 1000");
  f.marks.RemoveSplit("a");
  EXPECT_EQ(f.Due(), "");
  f.marks.Observe("b", 500);
  EXPECT_EQ(f.Due(), "");
  f.marks.Observe("b", 2'000);
  EXPECT_EQ(f.Due(), " 2000");
  f.marks.AddWaitingSplit("c");
  f.marks.RemoveSplit("c");  // Without rows.
  f.marks.RemoveSplit("b");
  EXPECT_EQ(f.Due(), " idle");
}

TEST(SplitWatermarksTest, BeingHeldUpIsNoIdleness) {
  Fixture f(Enabled(1'000));
  f.marks.AddSplit("a");
  f.marks.AddSplit("b");
  f.marks.Observe("a", 100);
  f.marks.Observe("b", 50);
  EXPECT_EQ(f.Due(), " 50");
  f.clock.AdvanceMillis(60'000);  // Nobody called: the channel was full.
  f.marks.Observe("a", 9'000);
  EXPECT_EQ(f.Due(), "");
}

TEST(SplitWatermarksTest, OnEventEmitsAfterEachBatch) {
  WatermarkSettings settings = Enabled();
  settings.on_event = true;
  Fixture f(settings);
  f.marks.AddSplit("a");
  f.marks.Observe("a", 1);
  EXPECT_EQ(f.Due(), " 1");
  f.marks.Observe("a", 2);
  EXPECT_EQ(f.Due(), " 2");
}

TEST(InputWatermarksTest, MinimumOverActiveInputs) {
  InputWatermarks marks(3);
  marks.OnWatermark(0, 10);
  marks.OnWatermark(1, 20);
  EXPECT_EQ(marks.Advance(), std::nullopt);
  marks.OnIdle(2, true);
  EXPECT_EQ(marks.Advance(), 10);
  marks.OnWatermark(2, 5);  // Back, and behind: no step back.
  EXPECT_EQ(marks.Advance(), std::nullopt);
  marks.OnWatermark(2, 12);
  marks.OnWatermark(0, 30);
  EXPECT_EQ(marks.Advance(), 12);
}

TEST(InputWatermarksTest, AnEndedInputDoesNotOvertakeAnIdleOne) {
  InputWatermarks marks(2);
  marks.OnWatermark(0, 10);
  marks.OnWatermark(1, 10);
  EXPECT_EQ(marks.Advance(), 10);
  marks.OnIdle(1, true);
  marks.OnWatermark(0, kMaxWatermarkMs);
  marks.OnEnd(0);
  EXPECT_EQ(marks.Advance(), std::nullopt);
  EXPECT_EQ(marks.IdleChange(), true);
  marks.OnWatermark(1, 50);
  EXPECT_EQ(marks.IdleChange(), false);
  EXPECT_EQ(marks.Advance(), 50);
  marks.OnWatermark(1, kMaxWatermarkMs);
  EXPECT_EQ(marks.Advance(), kMaxWatermarkMs);
}

}  // namespace
}  // namespace sluice::runtime
