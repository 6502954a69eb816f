// What travels through channels, in order: data, progress of event time, checkpoint barriers,
// idleness, and the end.
#pragma once

#include <cstdint>
#include <limits>
#include <variant>

#include "types/batch.h"

namespace sluice::runtime {

using CheckpointId = int64_t;

constexpr int64_t kMinWatermarkMs = std::numeric_limits<int64_t>::min();
constexpr int64_t kMaxWatermarkMs =
    std::numeric_limits<int64_t>::max();  // Sent at the end of a bounded input.

/// "No row with an event time at or below `millis` follows" (late rows excepted). Milliseconds
/// since the epoch; for TIMESTAMP columns the zone-less value is taken as UTC.
struct Watermark {
  int64_t millis;
};

/// Why and which checkpoint passes here.
struct Barrier {
  CheckpointId id = 0;
  /// The job stops after this checkpoint and may be resumed: sinks close every open file so that
  /// its rows are published.
  bool stopping = false;
  /// All inputs have ended: the last checkpoint of a bounded job.
  bool final = false;
};

/// An idle input does not hold back the watermark; it is active again with its next element.
struct StreamStatus {
  bool idle;
};

struct EndOfInput {};

using StreamElement = std::variant<Batch, Watermark, Barrier, StreamStatus, EndOfInput>;

}  // namespace sluice::runtime
