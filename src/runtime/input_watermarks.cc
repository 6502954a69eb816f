#include "runtime/input_watermarks.h"

#include <algorithm>

namespace sluice::runtime {

void InputWatermarks::OnWatermark(size_t input, int64_t millis) {
  Input& state = inputs_[input];
  state.watermark_ms = std::max(state.watermark_ms, millis);
  state.idle = false;
}

std::optional<int64_t> InputWatermarks::Advance() {
  int64_t lowest = kMaxWatermarkMs;
  bool any = false;
  bool all_at_end = true;
  for (const Input& input : inputs_) {
    all_at_end = all_at_end && input.at_end();
    if (!input.holds_back()) continue;
    any = true;
    lowest = std::min(lowest, input.watermark_ms);
  }
  if ((!any && !all_at_end) || lowest <= current_ms_) return std::nullopt;
  current_ms_ = lowest;
  return lowest;
}

std::optional<bool> InputWatermarks::IdleChange() {
  bool any_idle = false;
  bool any_active = false;
  for (const Input& input : inputs_) {
    any_active = any_active || input.holds_back();
    any_idle = any_idle || (input.idle && !input.ended);
  }
  const bool idle = any_idle && !any_active;
  if (idle == idle_) return std::nullopt;
  idle_ = idle;
  return idle;
}

}  // namespace sluice::runtime
