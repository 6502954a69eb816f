#include "engine/running_job.h"

#include <algorithm>
#include <chrono>

#include "common/clock.h"
#include "common/log.h"
#include "engine/definition/sink_states.h"

namespace sluice::engine {

Result<std::shared_ptr<RunningJob>> RunningJob::Start(runtime::JobGraph graph,
                                                      runtime::JobSettings settings, Notice notice,
                                                      std::function<void(const Status&)> at_end) {
  std::shared_ptr<RunningJob> running(new RunningJob());
  running->id_ = settings.job_id;
  running->name_ = settings.name;
  const std::string& folder = settings.checkpoints.durable_directory;
  running->state_root_ = folder.substr(0, std::min(folder.rfind('/'), folder.size()));
  running->notice_ = std::move(notice);
  SLUICE_ASSIGN_OR_RETURN(running->job_, runtime::MakeJob(std::move(graph), std::move(settings),
                                                          &Clock::System(), running.get()));
  RunningJob* raw = running.get();
  running->thread_ = std::thread([raw, at_end = std::move(at_end)] {
    const Status status = raw->job_->Run();
    if (at_end) at_end(status);
    const std::lock_guard lock(raw->mutex_);
    raw->status_ = status;
    raw->done_ = true;
    raw->ended_.notify_all();
  });
  return running;
}

RunningJob::~RunningJob() {
  if (!thread_.joinable()) return;
  if (!WaitFor(0)) job_->Cancel();
  thread_.join();
}

bool RunningJob::WaitFor(int64_t timeout_ms) {
  std::unique_lock lock(mutex_);
  if (timeout_ms < 0) {
    ended_.wait(lock, [this] { return done_; });
    return true;
  }
  return ended_.wait_for(lock, std::chrono::milliseconds(timeout_ms), [this] { return done_; });
}

Status RunningJob::status() const {
  const std::lock_guard lock(mutex_);
  return status_;
}

void RunningJob::Stop() { job_->Stop(); }
void RunningJob::StopWithSavepoint(const std::string& directory, bool drain) {
  // Before it is there: CLEAN TABLE must know of it whatever happens then.
  if (!state_root_.empty()) NoteSavepointFolder(state_root_, directory);
  job_->StopWithSavepoint(directory, drain);
}
void RunningJob::Cancel() { job_->Cancel(); }

void RunningJob::OnRestored(runtime::CheckpointId id, const std::string& path) {
  if (notice_)
    notice_("Job " + name_ + " resumes from checkpoint " + std::to_string(id) + " (" + path + ").");
}

void RunningJob::OnStateMapped(const std::vector<std::string>& lines) {
  if (!notice_) return;
  for (const std::string& line : lines) notice_("  " + line);
}

void RunningJob::OnRestart(const Status& cause, int64_t delay_ms, int attempt) {
  Log(LogLevel::kWarning, "Job " + name_ + " failed and restarts in " + std::to_string(delay_ms) +
                              " ms (attempt " + std::to_string(attempt) + "): " + cause.ToString());
}

}  // namespace sluice::engine
