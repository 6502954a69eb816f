// The INSERT jobs of a session: what SHOW JOBS, DESCRIBE JOB and STOP JOB speak of.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/definition/session_state.h"
#include "engine/running_job.h"

namespace sluice::engine {

/// Knows a job from its start on; of those that have ended the newest hundred. Not thread-safe, as
/// the session.
class SessionJobs final : public JobDirectory {
 public:
  /// `configuration` says where savepoints go; borrowed.
  explicit SessionJobs(const OptionMap* configuration) : configuration_(*configuration) {}

  void Add(std::shared_ptr<RunningJob> job, int64_t start_ms);

  std::vector<JobInfo> ListJobs() override;
  /// The job takes a last checkpoint, publishes and ends; returns when it has. The same command
  /// resumes it.
  Status CancelJob(const std::string& id) override;
  /// The same, and that checkpoint is also written as a savepoint below
  /// execution.checkpointing.savepoint-dir; `drain` first flushes windows and partitions.
  Result<std::string> StopJobWithSavepoint(const std::string& id, bool drain) override;

 private:
  struct Entry {
    JobInfo info;
    std::shared_ptr<RunningJob> job;  // Null once it has ended.
  };
  /// Lets go of jobs that have ended.
  void Sweep();
  Result<const Entry*> FindRunning(const std::string& id);
  static Status AwaitStop(RunningJob& job);

  const OptionMap& configuration_;
  std::vector<Entry> entries_;
};

}  // namespace sluice::engine
