#include "connectors/filesystem/sink/rate_limit.h"

#include <functional>
#include <thread>

#include <gtest/gtest.h>

namespace sluice::connectors::filesystem {
namespace {

int64_t MillisOf(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                               begin)
      .count();
}

TEST(RateLimitTest, AllTogetherKeepToTheRate) {
  RateLimit rate(10'000'000);
  const int64_t millis = MillisOf([&] {
    std::thread other([&] {
      for (int i = 0; i < 2; ++i) rate.Take(1'000'000);
    });
    for (int i = 0; i < 2; ++i) rate.Take(1'000'000);
    other.join();
  });
  // The first goes at once, three wait for those before them.
  EXPECT_GE(millis, 290);
}

TEST(RateLimitTest, NoneIsNoLimitAndStopLetsEverybodyGo) {
  RateLimit none(0);
  EXPECT_LT(MillisOf([&] { none.Take(int64_t{1} << 50); }), 1'000);
  RateLimit slow(1);
  slow.Take(1'000);
  const int64_t millis = MillisOf([&] {
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      slow.Stop();
    });
    slow.Take(1);
    other.join();
  });
  EXPECT_LT(millis, 100'000);
}

}  // namespace
}  // namespace sluice::connectors::filesystem
