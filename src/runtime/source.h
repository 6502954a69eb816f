// Sources: one Source object per table use (enumerates splits, owns the coordinator part of the
// state) and one SourceReader per source subtask.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/result.h"
#include "runtime/element.h"
#include "runtime/operator.h"
#include "runtime/state.h"
#include "types/batch.h"

namespace sluice::runtime {

/// Rows ready to leave a reader, with what they say about event time.
struct SourceBatch {
  Batch rows;
  /// Highest watermark candidate among the rows (NULL results ignored); nullopt: no watermark
  /// declared or all NULL.
  std::optional<int64_t> watermark_ms;
  int64_t null_row_times = 0;
};

/// Turns decoded rows (the columns the source produces) into rows as they leave the reader: adds
/// computed columns and evaluates the watermark. Thread-safe: decode workers call it in parallel.
using RowTransform = std::function<Result<SourceBatch>(Batch)>;

/// How watermarks are made and sent, from WATERMARK FOR and scan.watermark.*.
struct WatermarkSettings {
  bool enabled = false;
  int64_t emit_interval_ms = 200;  // pipeline.auto-watermark-interval; 0 = after every batch.
  bool on_event = false;           // scan.watermark.emit.strategy = on-event.
  int64_t idle_timeout_ms = 0;     // 0 = never idle.
};

/// What a reader is made with by the planner.
struct SourceRuntimeOptions {
  RowTransform transform;  // Never empty; identity when nothing is to be added.
  WatermarkSettings watermark;
};

class SourceReader {
 public:
  virtual ~SourceReader() = default;
  virtual Status Open(TaskContext& context) = 0;

  enum class PollResult {
    kEmitted,   // Something was emitted or there may be more at once.
    kWaiting,   // Nothing now; wake or wake_at has been or will be called.
    kFinished,  // Bounded, and everything has been emitted.
  };
  /// Emits at most about one batch, and watermarks. Never blocks.
  virtual Result<PollResult> Poll(Output& out) = 0;
  /// Positions behind the last emitted row. Called between Polls.
  virtual Status Snapshot(const Barrier& barrier, StateWriter& state) = 0;
  virtual Status CheckpointComplete(CheckpointId id) {
    (void)id;
    return {};
  }
  /// False while work started by CheckpointComplete goes on: the job does not end before. Fails
  /// with what that work failed with.
  virtual Result<bool> Drained() { return true; }
};

/// What Source::Open gets.
struct SourceContext {
  std::string job_id;
  std::string operator_id;
  int parallelism = 1;
  const Clock* clock = nullptr;
  IoPool* io_pool = nullptr;
  Metrics* metrics = nullptr;
  /// Set once the job is told to stop: whatever waits for a service gives up soon. Null: never.
  /// Outlives the source.
  const std::atomic<bool>* ending = nullptr;
  /// Checkpoints outlive the process: what they record as read may be moved or deleted. False for
  /// queries, which only look.
  bool durable_checkpoints = false;
};

/// State of a source in a checkpoint: the coordinator's fields and those of every old reader.
struct RestoredSourceState {
  CheckpointId checkpoint_id = 0;
  std::optional<StateReader> coordinator;
  std::vector<StateReader> readers;
};

class Source {
 public:
  virtual ~Source() = default;
  virtual bool bounded() const = 0;

  /// Lists, asks the broker, and decides where to begin: from `restored` when there is one. Called
  /// once per attempt, before MakeReader, on a thread that may block. Fails with what the user must
  /// know (path missing, broker down, offsets gone).
  virtual Status Open(const SourceContext& context, const RestoredSourceState* restored) = 0;
  /// Readers wanted, at most `parallelism`. When fewer, the job puts an exchange behind them and
  /// the readers decode on the compute pool.
  virtual int reader_count() const = 0;
  virtual Result<std::unique_ptr<SourceReader>> MakeReader(int subtask) = 0;

  /// Between these calls no split may change hands: reader snapshots and the coordinator's are
  /// taken at different moments and must fit together. Thread-safe.
  virtual void FreezeSplits() {}
  virtual void ThawSplits() {}
  /// The coordinator's part, taken when all readers have answered and before ThawSplits.
  virtual Status Snapshot(const Barrier& barrier, StateWriter& state) {
    (void)barrier;
    (void)state;
    return {};
  }
};

}  // namespace sluice::runtime
