#include "runtime/task.h"

#include <algorithm>
#include <limits>

namespace sluice::runtime {
namespace {

constexpr int64_t kNoTimer = std::numeric_limits<int64_t>::max();

}  // namespace

// What wakers and other threads share with the task; outlives it.
struct Task::Signal {
  explicit Signal(size_t timer_count) : timers(timer_count) {
    for (auto& timer : timers) timer.store(kNoTimer);
  }

  void Ring() {
    poll.store(true);
    if (waker) waker->Wake();
  }

  void RingAt(size_t owner, int64_t at_ms) {
    int64_t pending = timers[owner].load();
    while (at_ms < pending && !timers[owner].compare_exchange_weak(pending, at_ms)) {
    }
    if (waker) waker->WakeAt(at_ms);
  }

  std::shared_ptr<Waker> waker;
  std::atomic<bool> poll{true};
  std::atomic<bool> cancelled{false};
  std::atomic<bool> has_mail{false};
  std::vector<std::atomic<int64_t>> timers;  // One per operator and one for the reader.
  std::mutex mail_mutex;
  std::vector<Mail> mail;
};

// Where the reader (next = 0) or operator next - 1 puts what it makes.
class Task::ChainOutput final : public Output {
 public:
  ChainOutput(Task* task, size_t next) : task_(*task), next_(next) {}

  Status Emit(Batch batch) override { return Deliver(0, std::move(batch)); }

  Status Deliver(int input_index, Batch batch) {
    if (batch.row_count() == 0) return {};
    if (Operator* const op = NextOperator()) {
      Status status = input_index == 0 && next_ > 0
                          ? op->Process(std::move(batch), NextOutput())
                          : op->ProcessInput(input_index, std::move(batch), NextOutput());
      return status.ok() ? status : task_.Named(std::move(status), next_);
    }
    auto& outputs = task_.parts_.outputs;
    for (size_t i = 0; i + 1 < outputs.size(); ++i) SLUICE_RETURN_NOT_OK(outputs[i]->Write(batch));
    return outputs.empty() ? Status() : outputs.back()->Write(std::move(batch));
  }

  Status EmitWatermark(int64_t millis) override {
    if (millis <= watermark_ms_) return {};
    watermark_ms_ = millis;
    if (Operator* const op = NextOperator()) {
      return task_.Named(op->ProcessWatermark(millis, NextOutput()), next_);
    }
    task_.SendControl(Watermark{millis});
    return {};
  }

  Status EmitIdle(bool idle) override {
    if (Operator* const op = NextOperator()) {
      return task_.Named(op->ProcessIdle(idle, NextOutput()), next_);
    }
    task_.SendControl(StreamStatus{idle});
    return {};
  }

  Status StopInput() override {
    task_.input_stopped_ = true;
    return {};
  }

 private:
  Operator* NextOperator() const {
    return next_ < task_.parts_.chain.size() ? task_.parts_.chain[next_].op.get() : nullptr;
  }
  Output& NextOutput() const { return *task_.outputs_of_[next_ + 1]; }

  Task& task_;
  const size_t next_;
  int64_t watermark_ms_ = kMinWatermarkMs;  // Never goes back, whatever an operator does.
};

Task::Task(TaskParts parts, TaskEvents* events)
    : parts_(std::move(parts)),
      events_(events),
      is_source_(parts_.inputs.empty()),
      input_order_(parts_.chain.empty() ? nullptr
                                        : dynamic_cast<InputOrder*>(parts_.chain[0].op.get())),
      signal_(std::make_shared<Signal>(parts_.chain.size() + 1)),
      watermarks_(parts_.inputs.size()),
      aligned_(parts_.inputs.size()),
      input_ended_(parts_.inputs.size()) {
  for (size_t i = 0; i <= parts_.chain.size(); ++i) {
    outputs_of_.push_back(std::make_unique<ChainOutput>(this, i));
  }
}

Task::~Task() = default;

void Task::SetWaker(std::shared_ptr<Waker> waker) {
  signal_->waker = waker;
  for (const TaskInput& input : parts_.inputs) input.channel->SetConsumer(waker);
  for (const auto& output : parts_.outputs) {
    for (const auto& channel : output->channels()) channel->SetProducer(waker);
  }
  const auto connect = [this](TaskContext& context, size_t owner) {
    context.wake = [signal = signal_] { signal->Ring(); };
    context.wake_at = [signal = signal_, owner](int64_t at_ms) { signal->RingAt(owner, at_ms); };
  };
  for (size_t i = 0; i < parts_.chain.size(); ++i) connect(parts_.chain[i].context, i);
  connect(parts_.reader_context, parts_.chain.size());
}

void Task::TriggerCheckpoint(const Barrier& barrier) {
  {
    const std::lock_guard lock(signal_->mail_mutex);
    signal_->mail.push_back({.trigger = barrier});
  }
  signal_->has_mail.store(true);
  signal_->waker->Wake();
}

void Task::EndSource() {
  {
    const std::lock_guard lock(signal_->mail_mutex);
    signal_->mail.push_back({.end_source = true});
  }
  signal_->has_mail.store(true);
  signal_->waker->Wake();
}

void Task::NotifyComplete(CheckpointId id, bool last) {
  {
    const std::lock_guard lock(signal_->mail_mutex);
    signal_->mail.push_back({.complete_id = id, .last = last});
  }
  signal_->has_mail.store(true);
  signal_->waker->Wake();
}

void Task::Cancel() {
  signal_->cancelled.store(true);
  if (signal_->waker) signal_->waker->Wake();  // Not yet started: it never will be.
}

StepResult Task::Step() {
  if (signal_->cancelled.load()) return Leave(Status::Cancelled("The task was cancelled."));
  Result<StepResult> result = Advance();
  if (!result.ok()) return Leave(result.status());
  if (*result == StepResult::kDone) return Leave({});
  if (*result == StepResult::kBlocked) RearmTimers();
  return *result;
}

StepResult Task::Leave(Status status) {
  // Before the master hears of it: a restart may begin only when nothing of this attempt is left.
  // What is left in the channels belongs to the job's memory.
  parts_.reader.reset();
  parts_.chain.clear();
  parts_.inputs.clear();
  parts_.outputs.clear();
  events_->OnTaskGone(parts_.task_index, std::move(status));
  return StepResult::kDone;
}

Result<StepResult> Task::Advance() {
  if (!started_) {
    SLUICE_RETURN_NOT_OK(Start());
    started_ = true;
    return StepResult::kProgress;
  }
  ReadMail();
  TakeDueTimers();
  // In a checkpoint the barrier must get out whatever the channels hold; otherwise what Poll may
  // emit waits for room.
  if (sequence_ == Sequence::kSnapshot || OutputsHaveRoom()) SLUICE_RETURN_NOT_OK(PollOperators());
  if (sequence_ == Sequence::kSnapshot) return AdvanceSnapshot();
  SLUICE_RETURN_NOT_OK(DeliverCompletes());
  if (sequence_ == Sequence::kFinish) return AdvanceFinish();
  if (!ReadyFrom(0)) return StepResult::kBlocked;
  if (!triggers_.empty()) {
    const Barrier barrier = triggers_.front();
    triggers_.pop_front();
    SLUICE_RETURN_NOT_OK(BeginSnapshot(barrier));
    return StepResult::kProgress;
  }
  StopInputWhenUnwanted();
  if (is_source_) {
    if (!ended_ && !halted_) return PollReader();
  } else {
    SLUICE_ASSIGN_OR_RETURN(const StepResult read, ReadInputs());
    if (read == StepResult::kProgress) return read;
  }
  const bool inputs_finished =
      std::all_of(parts_.inputs.begin(), parts_.inputs.end(),
                  [](const TaskInput& input) { return input.channel->finished(); });
  if (!last_complete_ || !completes_.empty() || !inputs_finished) return StepResult::kBlocked;
  SLUICE_ASSIGN_OR_RETURN(const bool drained, AllDrained());
  if (drained) {
    for (const auto& output : parts_.outputs) output->Close();
    return StepResult::kDone;
  }
  return StepResult::kBlocked;
}

Status Task::Start() {
  std::vector<ChainLink>& chain = parts_.chain;
  // Last first: an operator that emits while it opens finds the next one open.
  for (size_t i = chain.size(); i-- > 0;) {
    SLUICE_RETURN_NOT_OK(Named(chain[i].op->Open(chain[i].context), i));
  }
  if (parts_.reader) SLUICE_RETURN_NOT_OK(parts_.reader->Open(parts_.reader_context));
  if (parts_.restored == nullptr) return {};
  for (size_t i = 0; i < chain.size(); ++i) {
    SLUICE_RETURN_NOT_OK(Named(RestoreOperator(chain[i]), i));
  }
  completes_.push_back(parts_.restored->id);
  if (parts_.restored->final) {
    // Everything was read and every end was announced: only publishing is left.
    ended_ = true;
    last_complete_ = true;
  }
  parts_.restored.reset();  // It may be large, and everybody has taken what is his.
  return {};
}

Status Task::RestoreOperator(ChainLink& link) {
  const auto found = parts_.restored->operators.find(link.id);
  if (found == parts_.restored->operators.end()) return {};
  RestoredState state;
  state.checkpoint_id = parts_.restored->id;
  state.published = parts_.restored->published;
  for (const auto& [subtask, fields] : found->second) state.subtasks.emplace_back(link.id, fields);
  return link.op->Restore(state);
}

void Task::ReadMail() {
  if (!signal_->has_mail.exchange(false)) return;
  std::vector<Mail> mail;
  {
    const std::lock_guard lock(signal_->mail_mutex);
    mail.swap(signal_->mail);
  }
  for (const Mail& item : mail) {
    if (item.trigger) {
      triggers_.push_back(*item.trigger);
    } else if (item.end_source) {
      input_stopped_ = true;
    } else {
      completes_.push_back(item.complete_id);
      last_complete_ = last_complete_ || item.last;
    }
  }
}

// The last operator first, and none whose reports the next ones could not take.
Status Task::DeliverCompletes() {
  while (!completes_.empty()) {
    const CheckpointId id = completes_.front();
    while (complete_position_ < parts_.chain.size()) {
      const size_t link = parts_.chain.size() - 1 - complete_position_;
      if (!ReadyFrom(link + 1)) return {};
      SLUICE_RETURN_NOT_OK(
          Named(parts_.chain[link].op->CheckpointComplete(id, *outputs_of_[link + 1]), link));
      ++complete_position_;
    }
    if (parts_.reader) SLUICE_RETURN_NOT_OK(parts_.reader->CheckpointComplete(id));
    complete_position_ = 0;
    completes_.pop_front();
  }
  return {};
}

void Task::TakeDueTimers() {
  const int64_t now = parts_.clock->NowMillis();
  for (auto& timer : signal_->timers) {
    int64_t at_ms = timer.load();
    if (at_ms <= now && timer.compare_exchange_strong(at_ms, kNoTimer)) signal_->poll.store(true);
  }
}

// The last operator first, and none whose rows the next ones could not take.
Status Task::PollOperators() {
  const size_t first = sequence_ == Sequence::kSnapshot ? position_ : 0;
  const bool again = poll_held_back_ && ReadyFrom(first + 1);
  if (!signal_->poll.exchange(false) && !again) return {};
  poll_held_back_ = false;
  for (size_t i = parts_.chain.size(); i-- > first;) {
    if (!ReadyFrom(i + 1)) {
      poll_held_back_ = true;
      break;
    }
    SLUICE_RETURN_NOT_OK(Named(parts_.chain[i].op->Poll(*outputs_of_[i + 1]), i));
  }
  return {};
}

bool Task::ReadyFrom(size_t first) const {
  for (size_t i = first; i < parts_.chain.size(); ++i) {
    if (!parts_.chain[i].op->Ready()) return false;
  }
  return true;
}

Result<bool> Task::AllDrained() const {
  if (parts_.reader) {
    SLUICE_ASSIGN_OR_RETURN(const bool reader_drained, parts_.reader->Drained());
    if (!reader_drained) return false;
  }
  return std::all_of(parts_.chain.begin(), parts_.chain.end(),
                     [](const ChainLink& link) { return link.op->Drained(); });
}

bool Task::OutputsHaveRoom() const {
  return std::all_of(parts_.outputs.begin(), parts_.outputs.end(), [](const auto& output) {
    return output->HasRoom() || output->data_unwanted();
  });
}

void Task::StopInputWhenUnwanted() {
  const bool unwanted = !parts_.outputs.empty() &&
                        std::all_of(parts_.outputs.begin(), parts_.outputs.end(),
                                    [](const auto& output) { return output->data_unwanted(); });
  if (!unwanted && !input_stopped_) return;
  input_stopped_ = true;
  for (const TaskInput& input : parts_.inputs) input.channel->RefuseData();
}

Result<StepResult> Task::PollReader() {
  if (input_stopped_ || parts_.reader == nullptr) {
    SLUICE_RETURN_NOT_OK(BeginFinish());
    return StepResult::kProgress;
  }
  if (!OutputsHaveRoom()) return StepResult::kBlocked;
  SLUICE_ASSIGN_OR_RETURN(const SourceReader::PollResult polled,
                          parts_.reader->Poll(*outputs_of_[0]));
  if (polled == SourceReader::PollResult::kFinished) SLUICE_RETURN_NOT_OK(BeginFinish());
  return polled == SourceReader::PollResult::kWaiting ? StepResult::kBlocked
                                                      : StepResult::kProgress;
}

Result<StepResult> Task::ReadInputs() {
  const bool has_room = OutputsHaveRoom();
  const size_t count = parts_.inputs.size();
  // While a barrier is aligned every channel is read: the other barriers are behind the rows.
  const bool aligning =
      std::any_of(aligned_.begin(), aligned_.end(), [](bool seen) { return seen; });
  const int wanted = aligning || input_order_ == nullptr ? -1 : input_order_->WantedInput();
  for (size_t i = 0; i < count; ++i) {
    const size_t input = (next_input_ + i) % count;
    Channel& channel = *parts_.inputs[input].channel;
    if (aligned_[input] || channel.empty()) continue;
    const bool unwanted = wanted >= 0 && parts_.inputs[input].input_index != wanted;
    if ((!has_room || unwanted) && channel.DataIsNext()) continue;
    std::optional<StreamElement> element = channel.Pop();
    if (!element) continue;
    next_input_ = (input + 1) % count;
    SLUICE_RETURN_NOT_OK(Deliver(input, std::move(*element)));
    return StepResult::kProgress;
  }
  return StepResult::kBlocked;
}

Status Task::Deliver(size_t input, StreamElement element) {
  // Rows alone do not make an idle input active: writers report at every checkpoint, with rows from
  // their readers or without.
  if (Batch* const batch = std::get_if<Batch>(&element)) {
    return outputs_of_[0]->Deliver(parts_.inputs[input].input_index, std::move(*batch));
  }
  if (const auto* watermark = std::get_if<Watermark>(&element)) {
    watermarks_.OnWatermark(input, watermark->millis);
    return DeliverEventTime();
  }
  if (const auto* status = std::get_if<StreamStatus>(&element)) {
    watermarks_.OnIdle(input, status->idle);
    return DeliverEventTime();
  }
  if (const auto* barrier = std::get_if<Barrier>(&element)) return OnBarrier(input, *barrier);
  return OnEnd(input);
}

Status Task::OnEnd(size_t input) {
  watermarks_.OnEnd(input);
  input_ended_[input] = true;
  SLUICE_RETURN_NOT_OK(DeliverEventTime());
  const int index = parts_.inputs[input].input_index;
  bool one_ended = true;
  bool all_ended = true;
  for (size_t i = 0; i < input_ended_.size(); ++i) {
    all_ended = all_ended && input_ended_[i];
    one_ended = one_ended && (input_ended_[i] || parts_.inputs[i].input_index != index);
  }
  if (one_ended && input_order_ != nullptr) {
    SLUICE_RETURN_NOT_OK(Named(input_order_->FinishOneInput(index, *outputs_of_[1]), 0));
  }
  return all_ended ? BeginFinish() : Status();
}

Status Task::DeliverEventTime() {
  Output& head = *outputs_of_[0];
  const std::optional<bool> idle = watermarks_.IdleChange();
  if (idle && !*idle) SLUICE_RETURN_NOT_OK(head.EmitIdle(false));
  if (const std::optional<int64_t> moved = watermarks_.Advance()) {
    SLUICE_RETURN_NOT_OK(head.EmitWatermark(*moved));
  }
  return idle && *idle ? head.EmitIdle(true) : Status();
}

Status Task::OnBarrier(size_t input, const Barrier& barrier) {
  const bool first = std::none_of(aligned_.begin(), aligned_.end(), [](bool seen) { return seen; });
  if (!first && barrier.id != barrier_.id) {
    return Status::Internal("Task " + parts_.name + " met barrier " + std::to_string(barrier.id) +
                            " while it aligns barrier " + std::to_string(barrier_.id) + ".");
  }
  barrier_ = barrier;
  aligned_[input] = true;
  const bool all = std::all_of(aligned_.begin(), aligned_.end(), [](bool seen) { return seen; });
  return all ? BeginSnapshot(barrier) : Status();
}

Status Task::BeginSnapshot(const Barrier& barrier) {
  sequence_ = Sequence::kSnapshot;
  barrier_ = barrier;
  position_ = 0;
  prepared_ = false;
  states_.clear();
  if (parts_.reader) {
    StateWriter writer;
    SLUICE_RETURN_NOT_OK(parts_.reader->Snapshot(barrier, writer));
    events_->OnReaderSnapshot(barrier.id, parts_.source_id, parts_.reader_context.subtask,
                              std::move(writer).Take());
  }
  return {};
}

Result<StepResult> Task::AdvanceSnapshot() {
  while (position_ < parts_.chain.size()) {
    ChainLink& link = parts_.chain[position_];
    if (!ReadyFrom(position_)) return StepResult::kBlocked;
    if (!prepared_) {
      SLUICE_RETURN_NOT_OK(
          Named(link.op->PrepareSnapshot(barrier_, *outputs_of_[position_ + 1]), position_));
      prepared_ = true;
      if (!ReadyFrom(position_)) return StepResult::kBlocked;
    }
    StateWriter writer;
    SLUICE_RETURN_NOT_OK(Named(link.op->Snapshot(barrier_, writer), position_));
    StateFields fields = std::move(writer).Take();
    if (link.id.empty() && !fields.empty()) {
      return Status::Internal("Operator " + link.name +
                              " keeps state and has no id to find it again.");
    }
    states_.push_back({link.id, link.context.subtask, std::move(fields)});
    ++position_;
    prepared_ = false;
  }
  SendControl(barrier_);
  std::fill(aligned_.begin(), aligned_.end(), false);
  halted_ = halted_ || barrier_.stopping;
  sequence_ = Sequence::kNone;
  signal_->poll.store(true);  // Those that were not polled meanwhile.
  events_->OnTaskSnapshot(barrier_.id, parts_.task_index, std::move(states_),
                          parts_.metrics->OwnCounts());
  states_.clear();
  return StepResult::kProgress;
}

Status Task::BeginFinish() {
  sequence_ = Sequence::kFinish;
  position_ = 0;
  prepared_ = false;
  return is_source_ ? outputs_of_[0]->EmitWatermark(kMaxWatermarkMs) : Status();
}

Result<StepResult> Task::AdvanceFinish() {
  while (position_ < parts_.chain.size()) {
    if (!ReadyFrom(position_)) return StepResult::kBlocked;
    if (!prepared_) {
      prepared_ = true;
      SLUICE_RETURN_NOT_OK(
          Named(parts_.chain[position_].op->FinishInput(*outputs_of_[position_ + 1]), position_));
      if (!ReadyFrom(position_)) return StepResult::kBlocked;
    }
    ++position_;
    prepared_ = false;
  }
  SendControl(EndOfInput{});
  sequence_ = Sequence::kNone;
  ended_ = true;
  events_->OnInputEnded(parts_.task_index);
  return StepResult::kProgress;
}

void Task::SendControl(const StreamElement& element) {
  for (const auto& output : parts_.outputs) output->WriteControl(element);
}

Status Task::Named(Status status, size_t link) const {
  // What the user wrote or the data says speaks for itself; the outermost operator is named once.
  if (status.ok() || status.domain() == ErrorDomain::kUser || !status.context().empty()) {
    return status;
  }
  const TaskContext& context = parts_.chain[link].context;
  return std::move(status).WithContext("In " + parts_.chain[link].name + ", subtask " +
                                       std::to_string(context.subtask + 1) + " of " +
                                       std::to_string(context.parallelism) + ":");
}

void Task::RearmTimers() {
  int64_t next_ms = kNoTimer;
  for (const auto& timer : signal_->timers) next_ms = std::min(next_ms, timer.load());
  if (next_ms != kNoTimer) signal_->waker->WakeAt(next_ms);
}

}  // namespace sluice::runtime
