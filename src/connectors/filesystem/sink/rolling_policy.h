// Decides when the open part file of a bucket is closed and the next one started.
//
// Invariants:
//  - csv, avro, parquet and orc roll at every checkpoint unless sink.rolling-policy.on-checkpoint
//  is false.
//  - json, raw and the changelog formats stay open across checkpoints until a limit is reached,
//  unless that option is true.
//  - In batch mode nothing rolls: one file for each partition and task.
// Thread: called by the owning sink subtask only. State: none; limits are fixed at construction.
#pragma once

#include <cstdint>
#include <limits>

#include "common/result.h"

namespace sluice::connectors::filesystem {

struct RollingOptions {
  int64_t file_size_bytes = 128 << 20;
  int64_t rollover_interval_ms = 1'800'000;
  int64_t inactivity_interval_ms = 1'800'000;
  int64_t check_interval_ms = 60'000;
  bool on_checkpoint = true;
};

/// What the policy looks at. Times are wall clock, in ms.
struct PartFileInfo {
  int64_t size_bytes = 0;  // Bytes held by the encoder included.
  int64_t opened_ms = 0;
  int64_t last_write_ms = 0;
};

class RollingPolicy {
 public:
  /// Fails with kInvalidArgument, naming the option, when a limit is not above zero.
  static Result<RollingPolicy> Make(const RollingOptions& options);
  /// Batch mode: never rolls.
  static RollingPolicy Never();

  /// True when `file` must close before the next row is written: strictly larger than the limit
  /// (Flink's TableRollingPolicy).
  bool ShouldRollOnWrite(const PartFileInfo& file) const {
    return file.size_bytes > options_.file_size_bytes;
  }
  bool ShouldRollOnCheckpoint(const PartFileInfo& file) const {
    return options_.on_checkpoint || ShouldRollOnWrite(file);
  }
  bool ShouldRollOnTimer(const PartFileInfo& file, int64_t now_ms) const {
    return now_ms - file.opened_ms >= options_.rollover_interval_ms ||
           now_ms - file.last_write_ms >= options_.inactivity_interval_ms;
  }
  int64_t file_size_bytes() const { return options_.file_size_bytes; }
  /// How often the time rules are looked at; 0: never.
  int64_t check_interval_ms() const { return options_.check_interval_ms; }

 private:
  explicit RollingPolicy(const RollingOptions& options) : options_(options) {}
  RollingOptions options_;
};

}  // namespace sluice::connectors::filesystem
