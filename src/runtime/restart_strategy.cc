#include "runtime/restart_strategy.h"

#include <algorithm>

namespace sluice::runtime {

RestartStrategy::RestartStrategy(const RestartSettings& settings, uint64_t seed)
    : settings_(settings),
      random_(seed),
      backoff_ms_(static_cast<double>(settings.initial_backoff_ms)) {}

std::optional<int64_t> RestartStrategy::OnFailure(int64_t now_ms) {
  std::optional<int64_t> delay_ms;
  switch (settings_.kind) {
    case RestartKind::kNone:
      break;
    case RestartKind::kFixedDelay:
      if (restart_count_ < settings_.attempts) delay_ms = settings_.delay_ms;
      break;
    case RestartKind::kFailureRate:
      delay_ms = FailureRateDelay(now_ms);
      break;
    case RestartKind::kExponentialDelay:
      delay_ms = ExponentialDelay(now_ms);
      break;
  }
  if (delay_ms) ++restart_count_;
  return delay_ms;
}

// More than max_failures within the interval that ends now: give up.
std::optional<int64_t> RestartStrategy::FailureRateDelay(int64_t now_ms) {
  failures_ms_.push_back(now_ms);
  while (now_ms - failures_ms_.front() > settings_.failure_rate_interval_ms) {
    failures_ms_.pop_front();
  }
  if (static_cast<int64_t>(failures_ms_.size()) > settings_.max_failures_per_interval) {
    return std::nullopt;
  }
  return settings_.delay_ms;
}

// The back-off grows with each failure and falls back after a run of at least reset_threshold.
std::optional<int64_t> RestartStrategy::ExponentialDelay(int64_t now_ms) {
  if (last_start_ms_ && now_ms - *last_start_ms_ >= settings_.reset_threshold_ms) {
    backoff_ms_ = static_cast<double>(settings_.initial_backoff_ms);
    attempts_since_reset_ = 0;
  }
  if (settings_.attempts_before_reset &&
      attempts_since_reset_ >= *settings_.attempts_before_reset) {
    return std::nullopt;
  }
  ++attempts_since_reset_;
  const double jitter = backoff_ms_ * settings_.jitter_factor * (2 * random_.NextDouble() - 1);
  const auto limit_ms = static_cast<double>(settings_.max_backoff_ms);
  const auto delay_ms = static_cast<int64_t>(std::clamp(backoff_ms_ + jitter, 0.0, limit_ms));
  backoff_ms_ = std::min(backoff_ms_ * settings_.backoff_multiplier, limit_ms);
  last_start_ms_ = now_ms + delay_ms;
  return delay_ms;
}

}  // namespace sluice::runtime
