// Runs a job graph to its end: attempts, checkpoints, restarts, stop. One Job is one run of one
// statement (or statement set).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/io_pool.h"
#include "common/result.h"
#include "runtime/job_graph.h"
#include "runtime/metrics.h"

namespace sluice::runtime {

enum class RestartKind { kNone, kFixedDelay, kFailureRate, kExponentialDelay };

/// restart-strategy.* of sql.md §10, same meanings and defaults.
struct RestartSettings {
  RestartKind kind = RestartKind::kExponentialDelay;
  int64_t attempts = 1;  // Fixed delay.
  int64_t delay_ms = 1'000;
  int64_t initial_backoff_ms = 1'000;
  int64_t max_backoff_ms = 60'000;
  double backoff_multiplier = 1.5;
  double jitter_factor = 0.1;
  int64_t reset_threshold_ms = 3'600'000;
  std::optional<int64_t> attempts_before_reset;
  int64_t max_failures_per_interval = 1;  // Failure rate.
  int64_t failure_rate_interval_ms = 60'000;
};

struct CheckpointSettings {
  /// nullopt: no periodic checkpoints (batch); one is still taken at the end when
  /// `durable_directory` is set or a sink needs it.
  std::optional<int64_t> interval_ms;
  int64_t timeout_ms = 600'000;
  int64_t min_pause_ms = 0;
  int64_t tolerable_failures = 0;
  int64_t retained = 1;
  /// Folder of the job's checkpoints (made on first use); empty: kept in memory only (queries).
  std::string durable_directory;
  /// Start from this checkpoint or savepoint folder instead of the newest complete one.
  std::string restore_from;
  /// execution.state-recovery.ignore-unclaimed-state: state of operators that the graph does not
  /// have is dropped instead of refused.
  bool allow_unclaimed_state = false;
};

struct JobSettings {
  std::string job_id;  // 32 hex digits, new for every submission.
  std::string name;
  CheckpointSettings checkpoints;
  RestartSettings restart;
  int worker_threads = 1;
  int64_t memory_limit_bytes = 0;
  int64_t channel_bytes = 4 << 20;
  uint64_t random_seed = 0;
};

/// What a run reports while it goes on. Called on the job's threads; must be quick.
class JobListener {
 public:
  virtual ~JobListener() = default;
  virtual void OnRestored(CheckpointId id, const std::string& path) { (void)id, (void)path; }
  /// Where the state of a checkpoint that was named by the user went, one line an operator.
  virtual void OnStateMapped(const std::vector<std::string>& lines) { (void)lines; }
  virtual void OnCheckpoint(CheckpointId id, int64_t duration_ms) { (void)id, (void)duration_ms; }
  virtual void OnRestart(const Status& cause, int64_t delay_ms, int attempt) {
    (void)cause, (void)delay_ms, (void)attempt;
  }
};

class Job {
 public:
  virtual ~Job() = default;

  /// Blocks until the job has ended: OK when all input was processed and published, or after Stop;
  /// else the failure that restarts could not cure. A job that ended normally (not by Stop) has
  /// removed its checkpoints.
  virtual Status Run() = 0;
  /// Takes a last checkpoint, publishes and ends Run with OK, keeping the checkpoint. Thread-safe,
  /// not async-signal-safe.
  virtual void Stop() = 0;
  /// As Stop, and writes the last checkpoint a second time, as a savepoint below `directory`, which
  /// no run removes. With `drain` the input counts as ended: the watermark goes to its maximum and
  /// every partition is committed; nothing is kept but the savepoint. Thread-safe.
  virtual void StopWithSavepoint(const std::string& directory, bool drain) = 0;
  /// The savepoint's folder, once Run has returned; fails with what prevented it, kNotFound when
  /// none was asked for.
  virtual Result<std::string> savepoint() const = 0;
  /// Ends Run at once with kCancelled. Thread-safe.
  virtual void Cancel() = 0;
  /// True when Run ended because of Stop and a checkpoint to resume from exists.
  virtual bool resumable() const = 0;
  virtual Metrics& metrics() = 0;
};

/// The threaded runtime. The graph's factories, clock and listener must outlive the job.
Result<std::unique_ptr<Job>> MakeJob(JobGraph graph, JobSettings settings, const Clock* clock,
                                     JobListener* listener);

}  // namespace sluice::runtime
