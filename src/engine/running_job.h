// A job on its own thread: start, wait, stop, cancel.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "runtime/job.h"

namespace sluice::engine {

/// Owns a runtime job and the thread that runs it. Thread-safe. The destructor cancels a job that
/// still runs.
class RunningJob final : private runtime::JobListener {
 public:
  using Notice = std::function<void(const std::string&)>;

  /// Builds and starts. `at_end` is called once on the job's thread with what Run returned.
  static Result<std::shared_ptr<RunningJob>> Start(runtime::JobGraph graph,
                                                   runtime::JobSettings settings, Notice notice,
                                                   std::function<void(const Status&)> at_end);
  ~RunningJob() override;

  const std::string& id() const { return id_; }
  const std::string& name() const { return name_; }
  /// Blocks until the job has ended; with `timeout_ms` >= 0 at most that long (false: still
  /// running).
  bool WaitFor(int64_t timeout_ms);
  /// What the job ended with. Only after WaitFor returned true.
  Status status() const;
  /// Takes a last checkpoint, publishes, ends.
  void Stop();
  /// As Stop; the last checkpoint is also written as a savepoint below `directory`. See
  /// runtime::Job.
  void StopWithSavepoint(const std::string& directory, bool drain);
  /// The savepoint's folder, after the end. Fails with what prevented it.
  Result<std::string> savepoint() const { return job_->savepoint(); }
  void Cancel();
  bool resumable() const { return job_->resumable(); }
  runtime::Metrics& metrics() { return job_->metrics(); }

 private:
  RunningJob() = default;
  void OnRestored(runtime::CheckpointId id, const std::string& path) override;
  void OnStateMapped(const std::vector<std::string>& lines) override;
  void OnRestart(const Status& cause, int64_t delay_ms, int attempt) override;

  std::string id_;
  std::string name_;
  std::string state_root_;  // The folder of all jobs; empty: none.
  Notice notice_;
  std::unique_ptr<runtime::Job> job_;
  std::thread thread_;
  mutable std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  Status status_;
};

}  // namespace sluice::engine
