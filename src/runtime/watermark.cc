#include "runtime/watermark.h"

#include <algorithm>
#include <utility>

namespace sluice::runtime {

SplitWatermarks::SplitWatermarks(const WatermarkSettings& settings, const Clock* clock)
    : settings_(settings),
      clock_(clock),
      emitted_ms_(kMinWatermarkMs),
      reached_ms_(kMinWatermarkMs) {}

void SplitWatermarks::AddSplit(const std::string& split) {
  if (!settings_.enabled) return;
  splits_.insert_or_assign(split, Split{kMinWatermarkMs, clock_->NowMillis(), false, false});
}

void SplitWatermarks::AddWaitingSplit(const std::string& split) {
  if (!settings_.enabled) return;
  splits_.insert_or_assign(split, Split{kMinWatermarkMs, clock_->NowMillis(), false, true});
}

void SplitWatermarks::RemoveSplit(const std::string& split) {
  const auto found = splits_.find(split);
  if (found == splits_.end()) return;
  if (!found->second.waiting && !found->second.idle) {
    reached_ms_ = std::max(reached_ms_, Lowest());
  }
  splits_.erase(found);
}

int64_t SplitWatermarks::Lowest() const {
  int64_t lowest = kMaxWatermarkMs;
  for (const auto& [name, split] : splits_) {
    if (!split.idle && !split.waiting) lowest = std::min(lowest, split.watermark_ms);
  }
  return lowest;
}

void SplitWatermarks::Observe(const std::string& split, std::optional<int64_t> watermark_ms) {
  const auto found = splits_.find(split);
  if (found == splits_.end()) return;
  Split& state = found->second;
  state.last_activity_ms = clock_->NowMillis();
  state.idle = false;
  state.waiting = false;
  spoke_ = true;
  if (watermark_ms) state.watermark_ms = std::max(state.watermark_ms, *watermark_ms);
}

Result<std::optional<int64_t>> SplitWatermarks::EmitDue(Output& out) {
  if (!settings_.enabled) return std::optional<int64_t>();
  const int64_t now = clock_->NowMillis();
  // Called later than promised: the task was held up behind a full channel or a busy machine. That
  // time says nothing about the splits, so their idle clocks stand still for it.
  if (due_ms_ && now > *due_ms_) Shift(now - *due_ms_);

  int64_t next_idle_ms = kMaxWatermarkMs;
  bool any_active = false;
  for (auto& [name, split] : splits_) {
    if (settings_.idle_timeout_ms > 0 && !split.idle) {
      const int64_t idle_at = split.last_activity_ms + settings_.idle_timeout_ms;
      split.idle = now >= idle_at;
      // Sooner than needed, so that being held up in between is noticed.
      const int64_t look_again_at = now + std::max<int64_t>(settings_.idle_timeout_ms / 4, 1);
      if (!split.idle) next_idle_ms = std::min({next_idle_ms, idle_at, look_again_at});
    }
    any_active = any_active || !split.idle;
  }
  // A split may have come, spoken and gone since the last call.
  const bool spoke = std::exchange(spoke_, false);
  if ((any_active || spoke) && idle_) {
    idle_ = false;
    SLUICE_RETURN_NOT_OK(out.EmitIdle(false));
  }
  const bool turns_idle = !any_active && !idle_;
  int64_t next_ms = next_idle_ms;
  const int64_t lowest = Lowest();
  const int64_t reached = lowest == kMaxWatermarkMs ? reached_ms_ : std::max(reached_ms_, lowest);
  if (!idle_ && reached > emitted_ms_) {
    // Before the first watermark the difference would overflow.
    const bool far_ahead =
        emitted_ms_ == kMinWatermarkMs || reached - emitted_ms_ > settings_.emit_interval_ms;
    // An idle reader says nothing more: its last watermark goes out before.
    if (settings_.on_event || far_ahead || turns_idle ||
        now - last_emit_ms_ >= settings_.emit_interval_ms) {
      emitted_ms_ = reached;
      last_emit_ms_ = now;
      SLUICE_RETURN_NOT_OK(out.EmitWatermark(reached));
    } else {
      next_ms = std::min(next_ms, last_emit_ms_ + settings_.emit_interval_ms);
    }
  }
  if (turns_idle) {
    idle_ = true;
    SLUICE_RETURN_NOT_OK(out.EmitIdle(true));
  }
  if (next_ms == kMaxWatermarkMs) {
    due_ms_ = settings_.idle_timeout_ms > 0 ? std::optional(now) : std::nullopt;
    return std::optional<int64_t>();
  }
  due_ms_ = next_ms;
  return std::optional(next_ms);
}

void SplitWatermarks::Touch() {
  const int64_t now = clock_->NowMillis();
  for (auto& [name, split] : splits_) split.last_activity_ms = now;
}

void SplitWatermarks::Shift(int64_t millis) {
  const int64_t now = clock_->NowMillis();
  for (auto& [name, split] : splits_) {
    split.last_activity_ms = std::min(split.last_activity_ms + millis, now);
  }
}

std::string SplitWatermarks::SlowestSplit() const {
  const std::pair<const std::string, Split>* slowest = nullptr;
  for (const auto& entry : splits_) {
    if (entry.second.idle || entry.second.waiting) continue;
    if (slowest == nullptr || entry.second.watermark_ms < slowest->second.watermark_ms ||
        (entry.second.watermark_ms == slowest->second.watermark_ms &&
         entry.first < slowest->first)) {
      slowest = &entry;
    }
  }
  return slowest == nullptr ? std::string() : slowest->first;
}

}  // namespace sluice::runtime
