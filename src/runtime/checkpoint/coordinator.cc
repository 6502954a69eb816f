#include "runtime/checkpoint/coordinator.h"

#include <algorithm>

namespace sluice::runtime {
namespace {

// Requested checkpoints: one a second on average, some at once now and then.
constexpr size_t kRequestedAtOnce = 10;
constexpr int64_t kRequestedWithinMs = 10'000;
// Writers take no rows while their files are made durable: requested checkpoints may take a tenth
// of the time, so that a job that catches up on old partitions is not held up by each of them.
constexpr int64_t kPauseOfDuration = 9;

void AddState(CheckpointData* data, const std::string& id, int subtask, StateFields fields) {
  data->operators[id][subtask] = std::move(fields);
}

// Stateless operators would only swell the file, and their absence after an edit of the script
// would be an error.
void DropStateless(CheckpointData* data) {
  std::erase_if(data->operators, [](const auto& entry) {
    return std::all_of(entry.second.begin(), entry.second.end(),
                       [](const auto& subtask) { return subtask.second.empty(); });
  });
}

}  // namespace

CheckpointCoordinator::CheckpointCoordinator(const CheckpointSettings& settings, int64_t started_ms)
    : settings_(settings), last_trigger_ms_(started_ms), last_end_ms_(started_ms) {}

std::optional<int64_t> CheckpointCoordinator::NextTriggerMs() const {
  if (!settings_.interval_ms || pending_) return std::nullopt;
  int64_t due_ms = last_trigger_ms_ + *settings_.interval_ms;
  if (requested_) {
    const bool few = requested_ms_.size() < kRequestedAtOnce;
    const int64_t room_ms = few ? last_trigger_ms_ : requested_ms_.front() + kRequestedWithinMs;
    due_ms = std::min(due_ms, std::max(room_ms, requested_pause_end_ms_));
  }
  return std::max(due_ms, last_end_ms_ + settings_.min_pause_ms);
}

std::optional<int64_t> CheckpointCoordinator::TimeoutMs() const {
  if (!pending_ || !pending_->data) return std::nullopt;
  return pending_->started_ms + settings_.timeout_ms;
}

void CheckpointCoordinator::Begin(const Barrier& barrier, int64_t now_ms, int task_count,
                                  std::vector<SourceHandle> sources) {
  pending_ = std::make_unique<Pending>();
  pending_->barrier = barrier;
  pending_->started_ms = now_ms;
  pending_->task_count = task_count;
  pending_->sources = std::move(sources);
  pending_->data = std::make_unique<CheckpointData>();
  pending_->data->id = barrier.id;
  pending_->data->created_ms = now_ms;
  pending_->data->stopping = barrier.stopping;
  pending_->data->final = barrier.final;
  if (std::exchange(requested_, false) &&
      now_ms < last_trigger_ms_ + settings_.interval_ms.value_or(0)) {
    pending_->requested = true;
    requested_ms_.push_back(now_ms);
    if (requested_ms_.size() > kRequestedAtOnce) requested_ms_.pop_front();
  }
  last_trigger_ms_ = now_ms;
  for (const SourceHandle& source : pending_->sources) source.source->FreezeSplits();
}

Status CheckpointCoordinator::OnReaderSnapshot(CheckpointId id, const std::string& source_id,
                                               int subtask, StateFields fields) {
  if (!pending_ || !pending_->data || pending_->barrier.id != id) return {};
  AddState(pending_->data.get(), source_id, subtask, std::move(fields));
  const int answers = ++pending_->reader_answers[source_id];
  const auto found =
      std::find_if(pending_->sources.begin(), pending_->sources.end(),
                   [&source_id](const SourceHandle& source) { return source.id == source_id; });
  if (found == pending_->sources.end() || answers < found->reader_count) return {};
  StateWriter writer;
  const Status status = found->source->Snapshot(pending_->barrier, writer);
  found->source->ThawSplits();
  pending_->sources.erase(found);
  if (status.ok()) {
    AddState(pending_->data.get(), source_id, kCoordinatorSubtask, std::move(writer).Take());
  }
  return status;
}

Status CheckpointCoordinator::OnTaskSnapshot(CheckpointId id, int task_index,
                                             std::vector<OperatorState> states,
                                             const Counts& counts) {
  if (!pending_ || !pending_->data || pending_->barrier.id != id) return {};
  for (OperatorState& state : states) {
    if (state.operator_id.empty()) continue;
    AddState(pending_->data.get(), state.operator_id, state.subtask, std::move(state.fields));
  }
  if (!pending_->answered.insert(task_index).second) {
    return Status::Internal("Task " + std::to_string(task_index) + " answered checkpoint " +
                            std::to_string(id) + " twice.");
  }
  for (const auto& [name, count] : counts) pending_->data->counts[name] += count;
  return {};
}

std::unique_ptr<CheckpointData> CheckpointCoordinator::TakeComplete() {
  if (!pending_ || !pending_->data || missing_answers() > 0) return nullptr;
  DropStateless(pending_->data.get());
  return std::move(pending_->data);
}

int CheckpointCoordinator::missing_answers() const {
  return pending_ ? pending_->task_count - static_cast<int>(pending_->answered.size()) : 0;
}

int64_t CheckpointCoordinator::EndWithSuccess(int64_t now_ms) {
  const int64_t duration_ms = now_ms - pending_->started_ms;
  if (pending_->requested) requested_pause_end_ms_ = now_ms + kPauseOfDuration * duration_ms;
  pending_.reset();
  last_end_ms_ = now_ms;
  failures_in_a_row_ = 0;
  return duration_ms;
}

bool CheckpointCoordinator::EndWithFailure(int64_t now_ms) {
  Thaw();
  const bool stopping = pending_->barrier.stopping;
  pending_.reset();
  last_end_ms_ = now_ms;
  ++failures_in_a_row_;
  // The sources have stopped for good behind a stopping barrier.
  return !stopping && failures_in_a_row_ <= settings_.tolerable_failures;
}

void CheckpointCoordinator::Abandon() {
  if (!pending_) return;
  Thaw();
  pending_.reset();
}

void CheckpointCoordinator::Thaw() {
  for (const SourceHandle& source : pending_->sources) source.source->ThawSplits();
  pending_->sources.clear();
}

}  // namespace sluice::runtime
