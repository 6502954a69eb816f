#include "engine/session_jobs.h"

#include <algorithm>

#include "engine/definition/config_keys.h"

namespace sluice::engine {
namespace {

constexpr size_t kEndedJobsKept = 100;

/// Of a job that has ended.
std::string StatusText(const RunningJob& job) {
  if (job.status().code() == StatusCode::kCancelled) return "CANCELED";
  if (!job.status().ok()) return "FAILED";
  return job.resumable() ? "CANCELED" : "FINISHED";
}

}  // namespace

void SessionJobs::Add(std::shared_ptr<RunningJob> job, int64_t start_ms) {
  Sweep();
  const JobInfo info{job->id(), job->name(), "RUNNING", start_ms};
  entries_.push_back({info, std::move(job)});
}

void SessionJobs::Sweep() {
  size_t ended = 0;
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    if (entry->job && entry->job->WaitFor(0)) {
      entry->info.status = StatusText(*entry->job);
      entry->job.reset();
    }
    if (!entry->job && ++ended > kEndedJobsKept) entry->info.id.clear();
  }
  std::erase_if(entries_, [](const Entry& entry) { return entry.info.id.empty(); });
}

std::vector<JobInfo> SessionJobs::ListJobs() {
  Sweep();
  std::vector<JobInfo> jobs;
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    jobs.push_back(entry->info);
  }
  return jobs;
}

Result<const SessionJobs::Entry*> SessionJobs::FindRunning(const std::string& id) {
  Sweep();
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.info.id == id; });
  if (found == entries_.end()) return Status::NotFound("Job " + id + " does not exist.");
  if (found->job) return &*found;
  return Status::Validation("Job " + id + " (" + found->info.name + ") has ended already: it is " +
                            found->info.status + ".");
}

Status SessionJobs::AwaitStop(RunningJob& job) {
  job.WaitFor(-1);
  return Status(job.status()).WithContext("Job " + job.name() + " failed while it was stopped:");
}

Status SessionJobs::CancelJob(const std::string& id) {
  SLUICE_ASSIGN_OR_RETURN(const Entry* entry, FindRunning(id));
  entry->job->Stop();
  return AwaitStop(*entry->job);
}

Result<std::string> SessionJobs::StopJobWithSavepoint(const std::string& id, bool drain) {
  const std::optional<std::string> place =
      ReadConfig(configuration_).Text("execution.checkpointing.savepoint-dir");
  if (!place) return Status::Internal("no place for a savepoint");
  SLUICE_ASSIGN_OR_RETURN(const Entry* entry, FindRunning(id));
  RunningJob& job = *entry->job;
  job.StopWithSavepoint(*place, drain);
  SLUICE_RETURN_NOT_OK(AwaitStop(job));
  return job.savepoint();
}

}  // namespace sluice::engine
