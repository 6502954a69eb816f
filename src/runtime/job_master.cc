#include "runtime/job_master.h"

#include <algorithm>
#include <limits>

#include "common/log.h"

namespace sluice::runtime {

JobMaster::JobMaster(Parts parts)
    : parts_(std::move(parts)),
      random_(parts_.settings.random_seed),
      restarts_(parts_.settings.restart, random_.Next()) {}

JobMaster::~JobMaster() = default;

void JobMaster::Post(std::function<void()> event) {
  {
    const std::lock_guard lock(events_mutex_);
    events_.push_back(std::move(event));
  }
  waker_->Wake();
}

// The master's own I/O; `work` posts what follows.
void JobMaster::SubmitIo(std::function<void()> work) {
  ++own_io_;
  parts_.world.io_pool->Submit([this, work = std::move(work)] {
    work();
    Post([this] {
      --own_io_;
      if (state_ == State::kLeaving) AfterAttempt();
    });
  });
}

StepResult JobMaster::Step() {
  if (state_ == State::kNew) BeginAttempt();
  std::vector<std::function<void()>> events;
  {
    const std::lock_guard lock(events_mutex_);
    events.swap(events_);
  }
  for (const auto& event : events) event();
  if (state_ == State::kDone) return StepResult::kDone;
  OnTimers(parts_.world.clock->NowMillis());
  if (state_ == State::kDone) return StepResult::kDone;
  ArmTimer();
  return StepResult::kBlocked;
}

void JobMaster::Stop() {
  ending_ = true;
  Post([this] {
    stop_requested_ = true;
    restart_at_ms_ = std::numeric_limits<int64_t>::min();  // Do not make the user wait.
  });
}

void JobMaster::StopWithSavepoint(const std::string& directory, bool drain) {
  Post([this, directory, drain] {
    savepoint_directory_ = directory;
    savepoint_ = Status::Unavailable("The job ended before its savepoint was complete.");
    drain_requested_ = drain;
    if (drain && state_ == State::kRunning) attempt_->EndSources();
  });
  Stop();
}

void JobMaster::Cancel() {
  ending_ = true;
  Post([this] {
    cancel_requested_ = true;
    const Status cancelled = Status::Cancelled("The job was cancelled.");
    if (state_ == State::kRunning) {
      LeaveAttempt(cancelled);
    } else if (state_ == State::kWaiting) {
      End(cancelled);
    }
  });
}

void JobMaster::BeginAttempt() {
  state_ = State::kOpening;
  quiet_ = false;
  SubmitIo([this] {
    Opened opened;
    opened.status = OpenAttempt(&opened);
    Post([this, opened = std::move(opened)] { OnOpened(opened); });
  });
}

// On an I/O thread while the master does nothing else.
Status JobMaster::OpenAttempt(Opened* opened) {
  SLUICE_ASSIGN_OR_RETURN(const CheckpointStore::JobId job,
                          parts_.store->ClaimJobId(parts_.settings.job_id));
  SLUICE_ASSIGN_OR_RETURN(CheckpointStore::Loaded loaded, parts_.store->LoadNewest());
  next_id_ = std::max(next_id_, loaded.highest_id + 1);
  bool named = false;
  SLUICE_RETURN_NOT_OK(ChooseStart(&loaded, &named));
  if (loaded.data) opened->restored_path = loaded.path;
  const auto counted = counts_at_.find(loaded.data ? loaded.data->id : 0);
  parts_.world.metrics->BeginWith(counted == counts_at_.end() ? Counts() : counted->second);
  Attempt::Parts attempt;
  attempt.graph = &parts_.graph;
  attempt.settings = &parts_.settings;
  attempt.world = parts_.world;
  attempt.id = random_.Uuid();
  attempt.job_id = job.id;
  attempt.begun_before = job.known || begun_;
  begun_ = true;
  attempt.random_seed = random_.Next();
  attempt.restored = std::move(loaded.data);
  attempt.events = this;
  attempt.ending = &ending_;
  attempt.request_checkpoint = [this] {
    Post([this] {
      if (state_ == State::kRunning) coordinator_->Request();
    });
  };
  attempt.on_quiet = [this] {
    Post([this] {
      quiet_ = true;
      if (state_ == State::kLeaving) AfterAttempt();
    });
  };
  attempt_ = std::make_unique<Attempt>(std::move(attempt));
  if (named) opened->state_mapping = attempt_->StateMapping();
  return attempt_->Open();
}

// The newest checkpoint, or the folder that the user named. A job that was started from that folder
// before and has written checkpoints since goes on from those: the command that is run again after
// a crash must not go back and write rows twice.
Status JobMaster::ChooseStart(CheckpointStore::Loaded* loaded, bool* named) {
  if (loaded->data) started_from_ = loaded->data->started_from;
  const std::string& restore_from = parts_.settings.checkpoints.restore_from;
  if (restore_from.empty() || own_checkpoint_) return {};
  SLUICE_ASSIGN_OR_RETURN(const std::string folder, CheckpointFolderPath(restore_from));
  if (loaded->data && started_from_ == folder) {
    Log(LogLevel::kInfo, "Job " + parts_.settings.name + " was started from " + folder +
                             " before and has written checkpoints since: it goes on from the "
                             "newest of them. --fresh goes back to " +
                             folder + ".");
    return {};
  }
  SLUICE_ASSIGN_OR_RETURN(CheckpointData data, ReadCheckpointFolder(folder, parts_.disk));
  loaded->data = std::make_shared<const CheckpointData>(std::move(data));
  loaded->path = folder;
  next_id_ = std::max(next_id_, loaded->data->id + 1);
  started_from_ = folder;
  *named = true;
  return {};
}

void JobMaster::OnOpened(const Opened& opened) {
  const Status& status = opened.status;
  coordinator_ = std::make_unique<CheckpointCoordinator>(parts_.settings.checkpoints,
                                                         parts_.world.clock->NowMillis());
  last_sent_ = false;
  tasks_left_ = 0;
  if (!status.ok() || cancel_requested_) {
    LeaveAttempt(status.ok() ? Status::Cancelled("The job was cancelled.") : status);
    return;
  }
  state_ = State::kRunning;
  tasks_left_ = attempt_->task_count();
  inputs_left_ = tasks_left_;
  last_sent_ = attempt_->only_publishes();
  parts_.world.metrics->SetWaiting("job", "");
  if (!opened.restored_path.empty() && parts_.listener != nullptr) {
    parts_.listener->OnRestored(attempt_->restored_id(), opened.restored_path);
    if (!opened.state_mapping.empty()) parts_.listener->OnStateMapped(opened.state_mapping);
  }
  attempt_->Start();
  if (drain_requested_) attempt_->EndSources();
}

void JobMaster::LeaveAttempt(Status outcome) {
  state_ = State::kLeaving;
  outcome_ = std::move(outcome);
  coordinator_->Abandon();
  if (attempt_) {
    attempt_->Cancel();
  } else {
    quiet_ = true;
  }
  AfterAttempt();
}

void JobMaster::AfterAttempt() {
  if (tasks_left_ > 0 || own_io_ > 0 || !quiet_) return;
  const bool only_published = attempt_ != nullptr && attempt_->only_publishes();
  attempt_.reset();
  if (cancel_requested_ && !outcome_.ok()) outcome_ = Status::Cancelled("The job was cancelled.");
  if (!outcome_.ok()) {
    RestartOrEnd();
  } else if (stopped_.load() && !only_published) {
    MarkPublished();
  } else {
    stopped_ = false;
    state_ = State::kRemoving;
    SubmitIo([this] {
      Status status = parts_.store->RemoveAll();
      Post([this, status = std::move(status)]() mutable {
        End(status.ok() ? std::move(status)
                        : std::move(status).WithContext(
                              "Everything was published, but the checkpoints of the job could not "
                              "be removed. Remove them before the job runs again:"));
      });
    });
  }
}

// A restart may then come when what was published has been moved away.
void JobMaster::MarkPublished() {
  state_ = State::kRemoving;
  const std::string copy = savepoint_.ok() ? *savepoint_ : "";
  SubmitIo([this, copy] {
    const Status marked = parts_.store->MarkPublished(stopping_id_, copy);
    // Without it the next start looks whether all is there, as after a crash.
    if (!marked.ok())
      Log(LogLevel::kWarning, "The last checkpoint stays without its mark: " + marked.ToString());
    Post([this] { End({}); });
  });
}

void JobMaster::RestartOrEnd() {
  const int64_t now_ms = parts_.world.clock->NowMillis();
  const bool may_restart = outcome_.retriable() && !stop_requested_ && !cancel_requested_;
  const bool at_once = std::exchange(clock_set_back_, false) && may_restart;
  const std::optional<int64_t> delay_ms = at_once       ? std::optional<int64_t>(0)
                                          : may_restart ? restarts_.OnFailure(now_ms)
                                                        : std::nullopt;
  if (!delay_ms) {
    const int count = restarts_.restart_count();
    End(count == 0 || !may_restart
            ? std::move(outcome_)
            : std::move(outcome_).WithContext("The job failed again and was not restarted after " +
                                              std::to_string(count) + " restarts:"));
    return;
  }
  parts_.world.metrics->Counter(metric::kRestarts).fetch_add(1);
  parts_.world.metrics->SetWaiting("job", "restart after: " + outcome_.message());
  if (parts_.listener != nullptr) {
    parts_.listener->OnRestart(outcome_, *delay_ms, restarts_.restart_count());
  }
  restart_at_ms_ = now_ms + *delay_ms;
  state_ = State::kWaiting;
}

void JobMaster::End(Status status) {
  state_ = State::kDone;
  parts_.world.metrics->SetWaiting("job", "");
  parts_.on_end(std::move(status));
}

void JobMaster::OnClockSetBack(int64_t now_ms, int64_t by_ms) {
  if (state_ == State::kWaiting) restart_at_ms_ = now_ms;
  const bool resumes = parts_.settings.checkpoints.interval_ms.has_value();
  if (state_ != State::kRunning || !resumes || last_sent_ || stop_requested_) return;
  clock_set_back_ = true;
  LeaveAttempt(Status::Unavailable("The machine's clock was set back by " +
                                   std::to_string(by_ms / 1000) +
                                   " s: the job begins anew from its last checkpoint, so that "
                                   "nothing waits for times that have passed already."));
}

void JobMaster::OnTimers(int64_t now_ms) {
  if (const int64_t by_ms = clock_watch_.SetBackBy(now_ms); by_ms > 0)
    OnClockSetBack(now_ms, by_ms);
  if (state_ == State::kWaiting && now_ms >= restart_at_ms_) BeginAttempt();
  if (state_ != State::kRunning) return;
  if (const std::optional<int64_t> timeout = coordinator_->TimeoutMs();
      timeout && now_ms >= *timeout) {
    CheckpointFailed(Status::Unavailable(
        "Checkpoint " + std::to_string(coordinator_->barrier().id) + " was not complete after " +
        std::to_string(parts_.settings.checkpoints.timeout_ms) +
        " ms: " + std::to_string(coordinator_->missing_answers()) + " of " +
        std::to_string(attempt_->task_count()) +
        " tasks had not answered. If the sink is slow rather than stuck, raise "
        "execution.checkpointing.timeout."));
  }
  MaybeTrigger(now_ms);
}

void JobMaster::MaybeTrigger(int64_t now_ms) {
  if (state_ != State::kRunning || last_sent_ || coordinator_->under_way()) return;
  if (inputs_left_ == 0) {
    Trigger({.id = next_id_++, .final = true}, now_ms);
  } else if (stop_requested_ && !drain_requested_) {
    Trigger({.id = next_id_++, .stopping = true}, now_ms);
  } else if (const std::optional<int64_t> due = coordinator_->NextTriggerMs();
             due && now_ms >= *due) {
    Trigger({.id = next_id_++}, now_ms);
  }
}

void JobMaster::Trigger(const Barrier& barrier, int64_t now_ms) {
  last_sent_ = barrier.final || barrier.stopping;
  coordinator_->Begin(barrier, now_ms, attempt_->task_count(), attempt_->sources());
  attempt_->TriggerCheckpoint(barrier);
}

void JobMaster::MaybeWrite() {
  std::unique_ptr<CheckpointData> complete = coordinator_->TakeComplete();
  if (complete == nullptr) return;
  complete->job_id = parts_.settings.job_id;
  complete->job_name = parts_.settings.name;
  complete->started_from = started_from_;
  Counts& counts = counts_at_[complete->id] = parts_.world.metrics->OwnCounts();
  for (const auto& [name, count] : complete->counts) counts[name] += count;
  const std::shared_ptr<const CheckpointData> data = std::move(complete);
  const bool savepoint = WantsSavepoint(*data);
  SubmitIo([this, data, savepoint] {
    const Status status = parts_.store->Write(data);
    if (!status.ok() || !savepoint) {
      Post([this, data, status] { OnWritten(data, status); });
      return;
    }
    Result<std::string> path = WriteSavepointOf(*data);
    Post([this, data, status, path = std::move(path)] {
      savepoint_ = path;
      OnWritten(data, status);
    });
  });
}

bool JobMaster::WantsSavepoint(const CheckpointData& data) const {
  return !savepoint_directory_.empty() && (data.stopping || data.final);
}

// A savepoint of a drained job is a place to go on from like any other: its sources begin behind
// what they have read.
Result<std::string> JobMaster::WriteSavepointOf(const CheckpointData& data) {
  CheckpointData copy = data;
  copy.stopping = true;
  copy.final = false;
  std::string random = random_.Uuid();
  std::erase(random, '-');
  const std::string name =
      "savepoint-" + parts_.settings.job_id.substr(0, 6) + "-" + random.substr(0, 12);
  Result<std::string> path = WriteSavepoint(savepoint_directory_, name, copy, parts_.disk);
  if (path.ok()) return path;
  return Status(path.status())
      .WithContext("The job has stopped and its last checkpoint is kept, but the savepoint below " +
                   savepoint_directory_ + " could not be written:");
}

void JobMaster::OnWritten(const std::shared_ptr<const CheckpointData>& data, const Status& status) {
  if (state_ != State::kRunning || !coordinator_->under_way()) return;  // The restart will find it.
  if (!status.ok()) {
    CheckpointFailed(status);
    return;
  }
  const int64_t duration_ms = coordinator_->EndWithSuccess(parts_.world.clock->NowMillis());
  own_checkpoint_ = true;
  counts_at_.erase(counts_at_.begin(), counts_at_.lower_bound(data->id));
  parts_.world.metrics->Counter(metric::kCheckpoint).store(data->id);
  parts_.world.metrics->Counter(metric::kCheckpointMs).store(duration_ms);
  stopped_ = data->stopping;
  if (data->stopping) stopping_id_ = data->id;
  if (parts_.listener != nullptr) parts_.listener->OnCheckpoint(data->id, duration_ms);
  attempt_->NotifyComplete(data->id, data->final || data->stopping);
  SubmitIo([this] {
    const Status retained = parts_.store->Retain(parts_.settings.checkpoints.retained);
    // They only take room: the next checkpoint tries again.
    if (!retained.ok()) Log(LogLevel::kWarning, "Old checkpoints stay: " + retained.ToString());
  });
}

void JobMaster::CheckpointFailed(Status status) {
  const CheckpointId id = coordinator_->barrier().id;
  last_sent_ = false;
  if (coordinator_->EndWithFailure(parts_.world.clock->NowMillis())) {
    Log(LogLevel::kWarning, "Checkpoint " + std::to_string(id) +
                                " failed and is tolerated; the job goes on: " + status.ToString());
    return;
  }
  LeaveAttempt(std::move(status));
}

void JobMaster::ArmTimer() {
  std::optional<int64_t> next;
  const auto at = [&next](std::optional<int64_t> time) {
    if (time && (!next || *time < *next)) next = time;
  };
  if (state_ == State::kWaiting) at(restart_at_ms_);
  if (state_ == State::kRunning) {
    if (!last_sent_) at(coordinator_->NextTriggerMs());
    at(coordinator_->TimeoutMs());
  }
  if (next) waker_->WakeAt(*next);
}

void JobMaster::OnReaderSnapshot(CheckpointId id, const std::string& source_id, int subtask,
                                 StateFields fields) {
  Post([this, id, source_id, subtask, fields = std::move(fields)]() mutable {
    if (state_ != State::kRunning) return;
    Status status = coordinator_->OnReaderSnapshot(id, source_id, subtask, std::move(fields));
    if (!status.ok()) CheckpointFailed(std::move(status));
  });
}

void JobMaster::OnTaskSnapshot(CheckpointId id, int task_index, std::vector<OperatorState> states,
                               Counts counts) {
  Post([this, id, task_index, states = std::move(states), counts = std::move(counts)]() mutable {
    if (state_ != State::kRunning) return;
    const Status status = coordinator_->OnTaskSnapshot(id, task_index, std::move(states), counts);
    if (status.ok()) {
      MaybeWrite();
    } else {
      LeaveAttempt(status);
    }
  });
}

void JobMaster::OnInputEnded(int task_index) {
  Post([this, task_index] {
    (void)task_index;
    if (state_ == State::kRunning) --inputs_left_;
  });
}

void JobMaster::OnTaskGone(int task_index, Status status) {
  Post([this, task_index, status = std::move(status)]() mutable {
    (void)task_index;
    --tasks_left_;
    if (state_ == State::kLeaving) {
      AfterAttempt();
    } else if (!status.ok()) {
      LeaveAttempt(std::move(status));
    } else if (tasks_left_ == 0) {
      LeaveAttempt({});
    }
  });
}

}  // namespace sluice::runtime
