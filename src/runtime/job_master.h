// Leads a job through its attempts: restore, run, checkpoints, restart after failures, stop. An
// actor like the tasks, so that a simulation drives it with them.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/random.h"
#include "fs/local/disk.h"
#include "runtime/attempt.h"
#include "runtime/checkpoint/checkpoint_store.h"
#include "runtime/clock_watch.h"
#include "runtime/restart_strategy.h"

namespace sluice::runtime {

// Invariants:
//  - At most one attempt exists; the next begins when every task of the last is gone and its I/O is
//  over.
//  - An attempt starts from the newest complete checkpoint of the store, or from the given
//  savepoint while there is none.
//  - After the final or the stopping checkpoint no other is taken; the attempt ends when everything
//  is published.
// Thread: Step on one thread at a time; Stop, Cancel and the events from any. State: none of its
// own.
class JobMaster final : public Actor, private TaskEvents {
 public:
  struct Parts {
    JobGraph graph;  // Fused.
    JobSettings settings;
    JobWorld world;
    std::unique_ptr<CheckpointStore> store;
    fs::Disk* disk = nullptr;  // For settings.checkpoints.restore_from.
    JobListener* listener = nullptr;
    /// Called once, from a step, when the job has ended.
    std::function<void(Status)> on_end;
  };
  explicit JobMaster(Parts parts);
  ~JobMaster() override;

  /// Called once before the first step.
  void SetWaker(std::shared_ptr<Waker> waker) { waker_ = std::move(waker); }
  StepResult Step() override;

  void Stop();
  void StopWithSavepoint(const std::string& directory, bool drain);
  void Cancel();
  /// After the end. Fails with kNotFound when none was asked for.
  Result<std::string> savepoint() const { return savepoint_; }
  /// Ended by Stop, with its last checkpoint kept.
  bool stopped() const { return stopped_.load(); }

 private:
  enum class State { kNew, kOpening, kRunning, kLeaving, kWaiting, kRemoving, kDone };

  void Post(std::function<void()> event);
  void SubmitIo(std::function<void()> work);

  void BeginAttempt();
  struct Opened {
    Status status;
    std::string restored_path;
    std::vector<std::string> state_mapping;  // Only for a checkpoint that the user named.
  };
  Status OpenAttempt(Opened* opened);
  Status ChooseStart(CheckpointStore::Loaded* loaded, bool* named);
  void OnOpened(const Opened& opened);
  void LeaveAttempt(Status outcome);
  void AfterAttempt();
  void MarkPublished();
  void RestartOrEnd();
  void End(Status status);

  void OnTimers(int64_t now_ms);
  /// All that waits for a moment would wait until the clock has come there again: timers, the ages
  /// of files, idleness. They begin anew with a new attempt.
  void OnClockSetBack(int64_t now_ms, int64_t by_ms);
  void MaybeTrigger(int64_t now_ms);
  void Trigger(const Barrier& barrier, int64_t now_ms);
  void MaybeWrite();
  bool WantsSavepoint(const CheckpointData& data) const;
  Result<std::string> WriteSavepointOf(const CheckpointData& data);
  void OnWritten(const std::shared_ptr<const CheckpointData>& data, const Status& status);
  void CheckpointFailed(Status status);
  void ArmTimer();

  void OnReaderSnapshot(CheckpointId id, const std::string& source_id, int subtask,
                        StateFields fields) override;
  void OnTaskSnapshot(CheckpointId id, int task_index, std::vector<OperatorState> states,
                      Counts counts) override;
  void OnInputEnded(int task_index) override;
  void OnTaskGone(int task_index, Status status) override;

  Parts parts_;
  std::shared_ptr<Waker> waker_;
  std::mutex events_mutex_;
  std::vector<std::function<void()>> events_;
  std::atomic<bool> stopped_{false};
  std::atomic<bool> ending_{false};  // Stop or Cancel was called.

  State state_ = State::kNew;
  Random random_;
  RestartStrategy restarts_;
  std::unique_ptr<Attempt> attempt_;
  std::unique_ptr<CheckpointCoordinator> coordinator_;
  CheckpointId next_id_ = 1;
  // The job's counts at the newest complete checkpoint of this process, and at later ones that may
  // turn out to be complete.
  std::map<CheckpointId, Counts> counts_at_;
  bool begun_ = false;  // An attempt of this process has begun.
  int tasks_left_ = 0;
  int inputs_left_ = 0;
  bool last_sent_ = false;       // The final or stopping barrier is out, or was restored.
  bool quiet_ = false;           // The attempt's I/O is over.
  int own_io_ = 0;               // Pieces of the master's own I/O under way.
  bool own_checkpoint_ = false;  // This process has completed one: restore_from has served.
  Status outcome_;               // Of the attempt that is being left.
  int64_t restart_at_ms_ = 0;
  ClockWatch clock_watch_;
  bool clock_set_back_ = false;  // Why the attempt is being left: no failure of the job.
  std::string started_from_;     // CheckpointData::started_from of what is written.
  bool stop_requested_ = false;
  bool drain_requested_ = false;
  CheckpointId stopping_id_ = 0;
  std::string savepoint_directory_;  // Empty: none is wanted.
  Result<std::string> savepoint_ = Status::NotFound("No savepoint was asked for.");
  bool cancel_requested_ = false;
};

}  // namespace sluice::runtime
