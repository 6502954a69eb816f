// Event time of a task with several inputs: the minimum over those that are neither idle nor at
// their end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/element.h"

namespace sluice::runtime {

// Invariants: never goes back; all inputs idle is no progress; an input at its end (maximum
// watermark) holds nothing back, and does not let an idle one be overtaken either: the maximum is
// reached when every input is at its end.
class InputWatermarks {
 public:
  explicit InputWatermarks(size_t input_count) : inputs_(input_count) {}

  void OnWatermark(size_t input, int64_t millis);
  void OnIdle(size_t input, bool idle) { inputs_[input].idle = idle; }
  void OnEnd(size_t input) { inputs_[input].ended = true; }

  /// The new watermark when it has moved since the last call.
  std::optional<int64_t> Advance();
  /// The new idleness of all inputs together when it has changed since the last call.
  std::optional<bool> IdleChange();

 private:
  struct Input {
    int64_t watermark_ms = kMinWatermarkMs;
    bool idle = false;
    bool ended = false;
    bool holds_back() const { return !idle && !ended && watermark_ms != kMaxWatermarkMs; }
    bool at_end() const { return watermark_ms == kMaxWatermarkMs; }
  };
  std::vector<Input> inputs_;
  int64_t current_ms_ = kMinWatermarkMs;
  bool idle_ = false;
};

}  // namespace sluice::runtime
