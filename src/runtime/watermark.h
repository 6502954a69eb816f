// Watermarks per split, joined by minimum over the splits that are not idle.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

#include "common/clock.h"
#include "common/result.h"
#include "runtime/operator.h"
#include "runtime/source.h"

namespace sluice::runtime {

/// Used by a reader: tell it what each batch says and let it emit. A watermark never goes back,
/// also when an idle split returns (known-pitfalls 14.1). A reader with no split is idle at once.
/// Times come from the clock handed in.
class SplitWatermarks {
 public:
  SplitWatermarks(const WatermarkSettings& settings, const Clock* clock);

  /// A split begins (or is restored): it holds the watermark back until it speaks or turns idle.
  void AddSplit(const std::string& split);
  /// A split whose turn comes after others of this reader: it holds nothing back before its first
  /// rows, but the reader is not idle while it waits.
  void AddWaitingSplit(const std::string& split);
  /// A split is read to its end: it no longer holds anything back. What it has let the watermark
  /// reach stays, also when nothing was emitted since its last rows.
  void RemoveSplit(const std::string& split);
  /// Rows of `split` were emitted with this highest candidate (nullopt: rows without row time).
  void Observe(const std::string& split, std::optional<int64_t> watermark_ms);
  /// Emits a watermark or a change of idleness when it is time. Returns the wall-clock ms at which
  /// to call again, nullopt = after the next Observe.
  Result<std::optional<int64_t>> EmitDue(Output& out);
  /// Backpressure is no idleness: call when the reader could not emit for want of room, so that
  /// idle clocks stand still.
  void Touch();

  /// The split that holds the watermark back, for status texts; "" if none.
  std::string SlowestSplit() const;
  int64_t current_ms() const { return emitted_ms_; }

 private:
  /// Moves the idle clocks forward by time in which nobody listened to the splits.
  void Shift(int64_t millis);

  /// The lowest watermark of those that hold it back; kMaxWatermarkMs when there is none.
  int64_t Lowest() const;

  struct Split {
    int64_t watermark_ms;
    int64_t last_activity_ms;
    bool idle;
    bool waiting;  // For its turn.
  };
  WatermarkSettings settings_;
  const Clock* clock_;
  std::unordered_map<std::string, Split> splits_;
  int64_t emitted_ms_;
  int64_t reached_ms_;  // When a split was removed.
  int64_t last_emit_ms_ = 0;
  std::optional<int64_t> due_ms_;  // When the reader was told to call again.
  bool idle_ = false;
  bool spoke_ = false;  // Rows since the last EmitDue.
};

}  // namespace sluice::runtime
