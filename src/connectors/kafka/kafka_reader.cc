#include "connectors/kafka/kafka_reader.h"

#include <algorithm>
#include <unordered_map>

#include "common/log.h"
#include "connectors/kafka/fetcher.h"
#include "connectors/split_metrics.h"
#include "runtime/watermark.h"

namespace sluice::connectors::kafka {
namespace {

using runtime::Barrier;
using runtime::CheckpointId;
using runtime::Output;
using runtime::StateWriter;
using runtime::TaskContext;

/// A batch waits this long for more messages: half of the greatest age allowed.
constexpr int64_t kGatherMs = kMaxBatchAgeMillis / 2;
/// How often a reader in trouble asks whether the brokers are back.
constexpr int64_t kProbeMs = 3'000;

/// A partition being read.
struct ActiveSplit {
  KafkaSplit split;  // `next` = behind the last record emitted.
  std::string name;
  MessageBatch gathering;
  int64_t gathered_to = 0;  // Position behind what is gathered or handed to workers.
  int64_t gather_since_ms = 0;
  bool fetched_all = false;  // Up to the stop offset.
  bool done = false;
};

/// Flags of work on the I/O pool, which may outlive the reader.
struct BackgroundWork {
  std::atomic<bool> discovering{false};
};

class KafkaReader final : public runtime::SourceReader {
 public:
  KafkaReader(std::shared_ptr<const SourceCore> core, int subtask)
      : core_(std::move(core)),
        subtask_(subtask),
        background_(std::make_shared<BackgroundWork>()) {}

  ~KafkaReader() override {
    core_->board->OnNewSplit(subtask_, nullptr);
    // Messages go before the fetcher, whose library they may belong to.
    decode_.reset();
    splits_.clear();
    arrived_.clear();
  }

  Status Open(TaskContext& context) override;
  Result<PollResult> Poll(Output& out) override;
  Status Snapshot(const Barrier& barrier, StateWriter& state) override;
  Status CheckpointComplete(CheckpointId id) override;
  Result<bool> Drained() override {
    if (!quarantine_) return true;
    return quarantine_->Drained();
  }

 private:
  const KafkaTable& table() const { return core_->setup->table; }

  Status StartNewSplits();
  Status StartSplit(KafkaSplit split);
  /// Tells the counters of split_metrics.h.
  void ShowSplits();
  Result<bool> Fetch();
  void Gather(FetchedPiece piece);
  void Submit(ActiveSplit& split);
  void SubmitAged();
  void ReachStop(ActiveSplit& split);
  Result<bool> EmitNext(Output& out);
  void Count(const DecodeQueue::Finished& finished);
  Status EmitWatermark(Output& out);
  void Discover();
  void WatchTrouble(bool progressed);
  void WakeAt(int64_t at_ms) {
    if (context_->wake_at) context_->wake_at(at_ms);
  }

  const std::shared_ptr<const SourceCore> core_;
  const int subtask_;
  const std::shared_ptr<BackgroundWork> background_;

  TaskContext* context_ = nullptr;
  std::unique_ptr<Fetcher> fetcher_;
  std::vector<std::unique_ptr<ActiveSplit>> splits_;
  std::map<PartitionId, int> split_of_partition_;
  std::vector<FetchedPiece> arrived_;  // Scratch.

  std::optional<DecodeQueue> decode_;
  std::optional<runtime::SplitWatermarks> watermarks_;
  std::optional<QuarantineBuffer> quarantine_;
  std::vector<std::pair<CheckpointId, std::vector<PartitionOffset>>> snapshots_;
  int64_t next_discovery_ms_ = 0;
  int64_t next_probe_ms_ = 0;
  bool waiting_shown_ = false;
  bool null_row_time_told_ = false;
  LimitedLog bad_log_;

  std::atomic<int64_t>* rows_in_ = nullptr;
  std::atomic<int64_t>* bytes_in_ = nullptr;
  std::atomic<int64_t>* bad_records_ = nullptr;
  std::atomic<int64_t>* null_messages_ = nullptr;
  std::atomic<int64_t>* row_time_null_ = nullptr;
};

Status KafkaReader::Open(TaskContext& context) {
  context_ = &context;
  runtime::Metrics& metrics = *context.metrics;
  rows_in_ = &metrics.Counter(runtime::metric::kRowsIn);
  bytes_in_ = &metrics.Counter(runtime::metric::kBytesIn);
  bad_records_ = &metrics.Counter(runtime::metric::kBadRecords);
  null_messages_ = &metrics.Counter(runtime::metric::kNullMessages);
  row_time_null_ = &metrics.Counter(runtime::metric::kRowTimeNull);
  const std::function<void()> wake = context.wake ? context.wake : [] {};
  FetcherContext fetching{.setup = core_->setup.get(),
                          .subtask = subtask_,
                          .reader_count = core_->reader_count,
                          .io_pool = context.io_pool,
                          .budget = context.budget,
                          .wake = wake};
  const std::optional<fetch::FetchSettings>& native = core_->setup->native;
  SLUICE_ASSIGN_OR_RETURN(fetcher_, native ? MakeNativeFetcher(std::move(fetching), *native)
                                           : MakeLibrdkafkaFetcher(std::move(fetching)));
  decode_.emplace(core_->setup, &context);
  if (core_->quarantine) quarantine_.emplace(core_->quarantine, &context);
  watermarks_.emplace(core_->setup->options.watermark, context.clock);
  core_->board->OnNewSplit(subtask_, wake);
  next_discovery_ms_ = context.clock->NowMillis() + table().discovery_interval_ms;
  return StartNewSplits();
}

Status KafkaReader::StartNewSplits() {
  for (KafkaSplit& split : core_->board->Take(subtask_)) {
    SLUICE_RETURN_NOT_OK(StartSplit(std::move(split)));
  }
  return {};
}

Status KafkaReader::StartSplit(KafkaSplit split) {
  auto active = std::make_unique<ActiveSplit>();
  active->name = split.id.ToText();
  active->gathered_to = split.next;
  active->split = std::move(split);
  const int index = static_cast<int>(splits_.size());
  split_of_partition_[active->split.id] = index;
  splits_.push_back(std::move(active));
  ActiveSplit& added = *splits_.back();
  if (added.split.finished()) {
    added.fetched_all = true;
    added.done = true;
    return {};
  }
  watermarks_->AddSplit(added.name);
  return fetcher_->Start(index, added.split);
}

Result<runtime::SourceReader::PollResult> KafkaReader::Poll(Output& out) {
  SLUICE_RETURN_NOT_OK(StartNewSplits());
  SLUICE_ASSIGN_OR_RETURN(const bool more, Fetch());
  SLUICE_ASSIGN_OR_RETURN(const bool emitted, EmitNext(out));
  SLUICE_RETURN_NOT_OK(EmitWatermark(out));
  WatchTrouble(more || emitted);
  if (table().is_bounded()) {
    const bool done =
        std::all_of(splits_.begin(), splits_.end(), [](const auto& split) { return split->done; });
    if (done) return PollResult::kFinished;
  } else {
    Discover();
  }
  if (more || emitted || decode_->NextIsDone()) return PollResult::kEmitted;
  return PollResult::kWaiting;
}

/// Takes messages while workers have room. True when there may be more at once.
Result<bool> KafkaReader::Fetch() {
  bool more = false;
  if (!decode_->Full()) {
    arrived_.clear();
    SLUICE_ASSIGN_OR_RETURN(more, fetcher_->Take(&arrived_));
    for (FetchedPiece& piece : arrived_) Gather(std::move(piece));
  }
  SubmitAged();
  fetcher_->Tend();
  return more && !decode_->Full();
}

void KafkaReader::Gather(FetchedPiece piece) {
  ActiveSplit& split = *splits_[static_cast<size_t>(piece.split)];
  if (split.fetched_all) return;
  split.gathered_to = std::max(split.gathered_to, piece.next_offset);
  if (piece.chunk) {
    if (split.gathering.empty()) split.gather_since_ms = context_->clock->NowMillis();
    split.gathering.Add(std::move(piece.chunk));
  }
  if (split.gathered_to >= split.split.stop) {
    ReachStop(split);
  } else if (split.gathering.row_count() >= kTargetBatchRows ||
             split.gathering.byte_size() >= kTargetBatchBytes) {
    Submit(split);
  }
}

void KafkaReader::Submit(ActiveSplit& split) {
  const int index = split_of_partition_.at(split.split.id);
  decode_->Submit({.split = index,
                   .id = split.split.id,
                   .messages = std::exchange(split.gathering, MessageBatch()),
                   .end_offset = split.gathered_to,
                   .last = split.fetched_all});
}

void KafkaReader::SubmitAged() {
  const int64_t now_ms = context_->clock->NowMillis();
  int64_t next_ms = INT64_MAX;
  for (const auto& split : splits_) {
    if (split->gathering.empty()) continue;
    const int64_t due_ms = split->gather_since_ms + kGatherMs;
    if (due_ms <= now_ms && !decode_->Full()) {
      Submit(*split);
    } else {
      next_ms = std::min(next_ms, due_ms);
    }
  }
  if (next_ms != INT64_MAX) WakeAt(std::max(next_ms, now_ms + 1));
}

/// Everything before the stop offset is gathered. Later records of the partition are dropped as
/// they come.
void KafkaReader::ReachStop(ActiveSplit& split) {
  split.fetched_all = true;
  split.gathered_to = split.split.stop;
  Submit(split);
}

Result<bool> KafkaReader::EmitNext(Output& out) {
  SLUICE_ASSIGN_OR_RETURN(std::optional<DecodeQueue::Finished> finished, decode_->TakeNext());
  if (!finished) return false;
  Count(*finished);
  ActiveSplit& split = *splits_[static_cast<size_t>(finished->split)];
  if (quarantine_) {
    SLUICE_RETURN_NOT_OK(quarantine_->Add(split.name, finished->message_count,
                                          finished->counts.bad_records,
                                          finished->counts.taken_out));
  }
  if (finished->batch.rows.row_count() > 0) {
    SLUICE_RETURN_NOT_OK(out.Emit(std::move(finished->batch.rows)));
    watermarks_->Observe(split.name, finished->batch.watermark_ms);
  }
  split.split.next = finished->end_offset;
  if (finished->last) {
    split.done = true;
    watermarks_->RemoveSplit(split.name);
  }
  return true;
}

void KafkaReader::Count(const DecodeQueue::Finished& finished) {
  rows_in_->fetch_add(finished.batch.rows.row_count(), std::memory_order_relaxed);
  bytes_in_->fetch_add(finished.message_bytes, std::memory_order_relaxed);
  if (finished.counts.null_messages > 0) null_messages_->fetch_add(finished.counts.null_messages);
  if (finished.counts.bad_records > 0) bad_records_->fetch_add(finished.counts.bad_records);
  for (const std::string& text : finished.counts.bad_texts) bad_log_.Warn(text);
  if (finished.counts.ignored_records > 0) {
    context_->metrics->Counter("ignored_records") += finished.counts.ignored_records;
  }
  if (finished.batch.null_row_times == 0) return;
  row_time_null_->fetch_add(finished.batch.null_row_times);
  if (null_row_time_told_) return;
  null_row_time_told_ = true;
  Log(LogLevel::kWarning,
      "Table " + table().identifier + " has rows without a row time, first in " +
          splits_[static_cast<size_t>(finished.split)]->name + " before offset " +
          std::to_string(finished.end_offset) +
          ". They pass and do not move the watermark; they are counted in rowtime_null.");
}

Status KafkaReader::EmitWatermark(Output& out) {
  SLUICE_ASSIGN_OR_RETURN(const std::optional<int64_t> again, watermarks_->EmitDue(out));
  if (again) WakeAt(*again);
  return {};
}

/// The first reader looks for new partitions on behalf of all.
void KafkaReader::Discover() {
  if (subtask_ != 0 || table().discovery_interval_ms <= 0 || context_->io_pool == nullptr) return;
  const int64_t now_ms = context_->clock->NowMillis();
  if (now_ms < next_discovery_ms_) return WakeAt(next_discovery_ms_);
  next_discovery_ms_ = now_ms + table().discovery_interval_ms;
  WakeAt(next_discovery_ms_);
  if (background_->discovering.exchange(true)) return;
  context_->io_pool->Submit([core = core_, background = background_] {
    const KafkaTable& table = core->setup->table;
    const auto partitions = core->cluster->ListPartitions(table.topics, table.topic_pattern);
    if (partitions.ok()) {
      for (const PartitionId& id : core->board->Discovered(*partitions)) {
        Log(LogLevel::kInfo,
            "Found the new Kafka partition " + id.ToText() + ": it is read from its beginning.");
      }
    } else {
      Log(LogLevel::kWarning,
          "Cannot look for new Kafka partitions now: " + partitions.status().ToString());
    }
    background->discovering = false;
  });
}

/// Shows trouble with brokers while it lasts. Without traffic nothing tells that it is over, so the
/// reader asks.
void KafkaReader::WatchTrouble(bool progressed) {
  const std::string trouble = fetcher_->trouble();
  if (trouble.empty() || progressed) {
    if (!trouble.empty()) fetcher_->ClearTrouble();
    if (waiting_shown_) context_->metrics->SetWaiting(core_->WaitingName(), "");
    waiting_shown_ = false;
    return;
  }
  const int64_t now_ms = context_->clock->NowMillis();
  if (!waiting_shown_) next_probe_ms_ = now_ms + kProbeMs;
  waiting_shown_ = true;
  context_->metrics->SetWaiting(
      core_->WaitingName(),
      core_->WaitingName() + ": broker " + core_->setup->config.bootstrap_servers + ": " + trouble);
  WakeAt(std::max(next_probe_ms_, now_ms + 1));
  if (now_ms < next_probe_ms_) return;
  next_probe_ms_ = now_ms + kProbeMs;
  fetcher_->Probe();
}

Status KafkaReader::Snapshot(const Barrier& barrier, StateWriter& state) {
  // A split that was handed over but not begun belongs to this reader already.
  SLUICE_RETURN_NOT_OK(StartNewSplits());
  std::vector<std::string> texts;
  std::vector<PartitionOffset> offsets;
  for (const auto& split : splits_) {
    texts.push_back(split->split.ToState());
    offsets.push_back({split->split.id, split->split.next});
  }
  ShowSplits();
  state.PutI64(kVersionField, kStateVersion);
  state.PutStrings(kSplitsField, texts);
  if (quarantine_) quarantine_->Snapshot(barrier.id, &state);
  if (core_->committer) snapshots_.emplace_back(barrier.id, std::move(offsets));
  return {};
}

void KafkaReader::ShowSplits() {
  const std::string slowest = watermarks_->SlowestSplit();
  for (const auto& split : splits_) {
    const std::string name = split->split.id.ToText();
    context_->metrics->Counter(std::string(kSplitPositionPrefix) + name) = split->split.next;
    if (slowest.empty()) continue;
    context_->metrics->Counter(std::string(kSplitWatermarkPrefix) + name) =
        split->name == slowest ? watermarks_->current_ms() : runtime::kMaxWatermarkMs;
  }
}

Status KafkaReader::CheckpointComplete(CheckpointId id) {
  if (quarantine_) quarantine_->CheckpointComplete(id);
  std::vector<PartitionOffset>* newest = nullptr;
  for (auto& [checkpoint, offsets] : snapshots_) {
    if (checkpoint <= id) newest = &offsets;
  }
  if (newest != nullptr && context_->io_pool != nullptr)
    core_->committer->Commit(*newest, context_->io_pool);
  std::erase_if(snapshots_, [id](const auto& entry) { return entry.first <= id; });
  return {};
}

}  // namespace

std::unique_ptr<runtime::SourceReader> MakeKafkaReader(std::shared_ptr<const SourceCore> core,
                                                       int subtask) {
  return std::make_unique<KafkaReader>(std::move(core), subtask);
}

}  // namespace sluice::connectors::kafka
