// Decides when a checkpoint begins and collects the answers to it. At most one is under way.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/checkpoint/checkpoint_data.h"
#include "runtime/job.h"
#include "runtime/source.h"

namespace sluice::runtime {

/// A source of the running attempt.
struct SourceHandle {
  std::string id;
  std::shared_ptr<Source> source;
  int reader_count = 0;
};

// Steps of a checkpoint: Begin freezes the splits; each reader's answer; when a source's readers
// have all answered its coordinator part is taken and its splits thaw; each task's answer; when all
// are in, Complete gives the whole to be written; Ended closes the books. Thread: the master of one
// job. State: none of its own.
class CheckpointCoordinator {
 public:
  CheckpointCoordinator(const CheckpointSettings& settings, int64_t started_ms);

  /// Somebody has a reason for a checkpoint before its time. One that is under way does not count:
  /// its barrier may have passed already.
  void Request() { requested_ = true; }
  /// When the next checkpoint is due: nullopt without an interval or while one is under way. One
  /// that was requested is due at once, as long as there were few of them and they took little of
  /// the time.
  std::optional<int64_t> NextTriggerMs() const;
  /// When the one under way is given up: nullopt when none is, or when it is being written already.
  std::optional<int64_t> TimeoutMs() const;
  bool under_way() const { return pending_ != nullptr; }
  const Barrier& barrier() const { return pending_->barrier; }

  void Begin(const Barrier& barrier, int64_t now_ms, int task_count,
             std::vector<SourceHandle> sources);
  /// Answers to another checkpoint than the one under way came too late and are ignored.
  Status OnReaderSnapshot(CheckpointId id, const std::string& source_id, int subtask,
                          StateFields fields);
  Status OnTaskSnapshot(CheckpointId id, int task_index, std::vector<OperatorState> states,
                        const Counts& counts);
  /// All answers are in: the checkpoint to write. nullptr before that, and after it was taken.
  std::unique_ptr<CheckpointData> TakeComplete();
  /// How many tasks have not answered, for messages.
  int missing_answers() const;

  /// It is durable; returns its duration.
  int64_t EndWithSuccess(int64_t now_ms);
  /// It has failed; true when the job may go on (tolerated). Thaws what is frozen.
  bool EndWithFailure(int64_t now_ms);
  /// The attempt is over: forgets the one under way without counting it.
  void Abandon();

 private:
  struct Pending {
    Barrier barrier;
    int64_t started_ms = 0;
    bool requested = false;
    int task_count = 0;
    std::set<int> answered;
    std::vector<SourceHandle> sources;  // Those that are still frozen.
    std::map<std::string, int> reader_answers;
    std::unique_ptr<CheckpointData> data;  // Null once taken for writing.
  };
  void Thaw();

  const CheckpointSettings settings_;
  std::unique_ptr<Pending> pending_;
  bool requested_ = false;
  std::deque<int64_t> requested_ms_;  // When the last ones began that were requested.
  int64_t requested_pause_end_ms_ = std::numeric_limits<int64_t>::min();
  int64_t last_trigger_ms_;
  int64_t last_end_ms_;
  int64_t failures_in_a_row_ = 0;
};

}  // namespace sluice::runtime
