#include "connectors/kafka/kafka_reader.h"

#include <algorithm>
#include <unordered_map>

#include "common/log.h"
#include "common/text.h"
#include "connectors/split_metrics.h"
#include "runtime/watermark.h"

namespace sluice::connectors::kafka {
namespace {

using runtime::Barrier;
using runtime::CheckpointId;
using runtime::Output;
using runtime::StateWriter;
using runtime::TaskContext;

constexpr size_t kFetchMessages = 2048;
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
  std::atomic<bool> nudging{false};
  std::atomic<bool> probing{false};
};

class KafkaReader final : public runtime::SourceReader {
 public:
  KafkaReader(std::shared_ptr<const SourceCore> core, int subtask)
      : core_(std::move(core)),
        subtask_(subtask),
        background_(std::make_shared<BackgroundWork>()) {}

  ~KafkaReader() override {
    core_->board->OnNewSplit(subtask_, nullptr);
    if (queue_) rd_kafka_queue_cb_event_enable(queue_.get(), nullptr, nullptr);
    // Messages go before the queue and the topics, those before the client.
    decode_.reset();
    splits_.clear();
    queue_.reset();
    topics_.clear();
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
  std::string waiting_name() const { return "kafka " + table().TopicsText(); }

  Status StartNewSplits();
  Status StartSplit(KafkaSplit split);
  void LearnNewPartition(const PartitionId& id);
  /// Tells the counters of split_metrics.h.
  void ShowSplits();
  Result<bool> Fetch();
  Status Handle(rd_kafka_message_t* message);
  Status HandleError(const rd_kafka_message_t& message);
  ActiveSplit* FindSplit(const rd_kafka_message_t& message);
  void Submit(ActiveSplit& split);
  void SubmitAged();
  void ReachStop(ActiveSplit& split);
  Result<bool> EmitNext(Output& out);
  void Count(const DecodeQueue::Finished& finished);
  Status EmitWatermark(Output& out);
  void Discover();
  void KeepFetching();
  void WatchTrouble(bool progressed);
  void WakeAt(int64_t at_ms) {
    if (context_->wake_at) context_->wake_at(at_ms);
  }

  const std::shared_ptr<const SourceCore> core_;
  const int subtask_;
  const std::shared_ptr<BackgroundWork> background_;

  TaskContext* context_ = nullptr;
  std::function<void()> wake_;  // The library's queue calls it: must outlive the client.
  std::shared_ptr<KafkaClient> client_;
  std::map<std::string, TopicPtr> topics_;
  QueuePtr queue_;
  std::vector<std::unique_ptr<ActiveSplit>> splits_;
  std::map<PartitionId, int> split_of_partition_;
  // Where the last messages came from: they come in runs of one partition.
  const rd_kafka_topic_t* last_topic_ = nullptr;
  int32_t last_partition_ = -1;
  int last_split_ = -1;
  std::vector<rd_kafka_message_t*> buffer_;

  std::optional<DecodeQueue> decode_;
  std::optional<runtime::SplitWatermarks> watermarks_;
  std::optional<QuarantineBuffer> quarantine_;
  std::vector<std::pair<CheckpointId, std::vector<PartitionOffset>>> snapshots_;
  int64_t next_discovery_ms_ = 0;
  int64_t next_probe_ms_ = 0;
  int64_t queue_limit_ = 0;  // Messages at which the library stops to fetch.
  bool queue_was_full_ = false;
  bool waiting_shown_ = false;
  bool null_row_time_told_ = false;
  LimitedLog bad_log_;

  std::atomic<int64_t>* rows_in_ = nullptr;
  std::atomic<int64_t>* bytes_in_ = nullptr;
  std::atomic<int64_t>* bad_records_ = nullptr;
  std::atomic<int64_t>* null_messages_ = nullptr;
  std::atomic<int64_t>* row_time_null_ = nullptr;
};

/// Bounds of the library's own queue, which the user's own settings replace. Returns the number of
/// messages.
int64_t BoundQueue(const TaskContext& context, int reader_count,
                   std::map<std::string, std::string>* settings) {
  constexpr int64_t kMebi = 1 << 20;
  // librdkafka 2.0 sleeps up to a second when its queue is full: the queue must outlast that, or
  // the cores run dry. Measured, 3 M JSON rows of one partition into 48 Parquet partitions: 3.7 s
  // with 64 MiB, 2.5 s with 512 MiB.
  constexpr int64_t kMostBytes = 512 * kMebi;
  int64_t bytes = 64 * kMebi;
  if (context.budget != nullptr) {
    bytes = std::clamp(context.budget->limit_bytes() / 8 / reader_count, 8 * kMebi, kMostBytes);
  }
  // Each message costs about half a kilobyte of bookkeeping there.
  constexpr int64_t kMessageBytes = 512;
  settings->try_emplace("queued.max.messages.kbytes", std::to_string(bytes / 1024));
  settings->try_emplace("queued.min.messages", std::to_string(bytes / kMessageBytes));
  return ParseInt64(settings->at("queued.min.messages")).value_or(bytes / kMessageBytes);
}

Status KafkaReader::Open(TaskContext& context) {
  context_ = &context;
  runtime::Metrics& metrics = *context.metrics;
  rows_in_ = &metrics.Counter(runtime::metric::kRowsIn);
  bytes_in_ = &metrics.Counter(runtime::metric::kBytesIn);
  bad_records_ = &metrics.Counter(runtime::metric::kBadRecords);
  null_messages_ = &metrics.Counter(runtime::metric::kNullMessages);
  row_time_null_ = &metrics.Counter(runtime::metric::kRowTimeNull);
  wake_ = context.wake ? context.wake : [] {};

  ClientConfig config = core_->setup->config;
  // Reading needs no group; a client that has one and reads by partition never ends its group's
  // thread.
  config.settings.erase("group.id");
  queue_limit_ = BoundQueue(context, core_->reader_count, &config.settings);
  if (const auto id = config.settings.find("client.id"); id != config.settings.end()) {
    id->second += "-" + std::to_string(subtask_);
  }
  // A bounded read that ends with control records learns so from an empty answer: no need to wait
  // long for it.
  if (table().is_bounded()) config.settings.try_emplace("fetch.wait.max.ms", "20");
  SLUICE_ASSIGN_OR_RETURN(client_, KafkaClient::Make(config, ClientRole::kConsumer));
  queue_.reset(rd_kafka_queue_new(client_->handle()));
  // Errors of the client come through the same queue, and wake the task as messages do.
  const QueuePtr main_queue(rd_kafka_queue_get_main(client_->handle()));
  rd_kafka_queue_forward(main_queue.get(), queue_.get());
  rd_kafka_queue_cb_event_enable(
      queue_.get(),
      [](rd_kafka_t*, void* opaque) { (*static_cast<std::function<void()>*>(opaque))(); }, &wake_);
  buffer_.resize(kFetchMessages);
  decode_.emplace(core_->setup, client_, &context);
  if (core_->quarantine) quarantine_.emplace(core_->quarantine, &context);
  watermarks_.emplace(core_->setup->options.watermark, context.clock);
  core_->board->OnNewSplit(subtask_, wake_);
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
  const PartitionId& id = active->split.id;
  split_of_partition_[id] = static_cast<int>(splits_.size());
  splits_.push_back(std::move(active));
  ActiveSplit& added = *splits_.back();
  if (added.split.finished()) {
    added.fetched_all = true;
    added.done = true;
    return {};
  }
  watermarks_->AddSplit(added.name);
  TopicPtr& topic = topics_[id.topic];
  if (!topic) topic.reset(rd_kafka_topic_new(client_->handle(), id.topic.c_str(), nullptr));
  if (!topic || rd_kafka_consume_start_queue(topic.get(), id.partition, added.split.next,
                                             queue_.get()) != 0) {
    return KafkaError(rd_kafka_last_error(), "Cannot begin to read " + added.name);
  }
  if (added.split.next == RD_KAFKA_OFFSET_BEGINNING) LearnNewPartition(added.split.id);
  return {};
}

/// The reader's client would hear of a new partition with its next refresh only, minutes later.
void KafkaReader::LearnNewPartition(const PartitionId& id) {
  if (context_->io_pool == nullptr) return;
  context_->io_pool->Submit([client = client_, id] {
    const TopicPtr topic(rd_kafka_topic_new(client->handle(), id.topic.c_str(), nullptr));
    const rd_kafka_metadata_t* metadata = nullptr;
    if (topic && rd_kafka_metadata(client->handle(), 0, topic.get(), &metadata, 5'000) ==
                     RD_KAFKA_RESP_ERR_NO_ERROR) {
      rd_kafka_metadata_destroy(metadata);
    }
  });
}

Result<runtime::SourceReader::PollResult> KafkaReader::Poll(Output& out) {
  SLUICE_RETURN_NOT_OK(StartNewSplits());
  SLUICE_ASSIGN_OR_RETURN(const bool more, Fetch());
  SLUICE_ASSIGN_OR_RETURN(const bool emitted, EmitNext(out));
  SLUICE_RETURN_NOT_OK(EmitWatermark(out));
  if (const std::optional<Status> fatal = client_->fatal()) return *fatal;
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
  bool drained = false;
  if (!decode_->Full()) {
    const ssize_t count =
        rd_kafka_consume_batch_queue(queue_.get(), 0, buffer_.data(), buffer_.size());
    Status status;
    for (ssize_t i = 0; i < count; ++i) {
      rd_kafka_message_t* const message = buffer_[static_cast<size_t>(i)];
      if (status.ok()) {
        status = Handle(message);
      } else {
        rd_kafka_message_destroy(message);
      }
    }
    SLUICE_RETURN_NOT_OK(status);
    drained = count < static_cast<ssize_t>(buffer_.size());
  }
  SubmitAged();
  KeepFetching();
  return !drained && !decode_->Full();
}

/// Takes ownership of `message`.
Status KafkaReader::Handle(rd_kafka_message_t* message) {
  std::unique_ptr<rd_kafka_message_t, MessageDeleter> owned(message);
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR &&
      message->err != RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    return HandleError(*message);
  }
  ActiveSplit* const split = FindSplit(*message);
  if (split == nullptr || split->fetched_all) return {};
  if (message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    // The position may be past control records, which are never delivered.
    split->gathered_to = std::max(split->gathered_to, message->offset);
    if (split->gathered_to >= split->split.stop) ReachStop(*split);
    return {};
  }
  if (message->offset >= split->split.stop) {
    ReachStop(*split);
    return {};
  }
  if (split->gathering.empty()) split->gather_since_ms = context_->clock->NowMillis();
  split->gathered_to = message->offset + 1;
  split->gathering.Add(owned.release());
  if (split->gathered_to >= split->split.stop) {
    ReachStop(*split);
  } else if (split->gathering.row_count() >= kTargetBatchRows ||
             split->gathering.byte_size() >= kTargetBatchBytes) {
    Submit(*split);
  }
  return {};
}

Status KafkaReader::HandleError(const rd_kafka_message_t& message) {
  const std::string detail = rd_kafka_message_errstr(&message);
  const ActiveSplit* const split = message.rkt == nullptr ? nullptr : FindSplit(message);
  const std::string name = split == nullptr ? table().TopicsText() : split->name;
  switch (message.err) {
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE: {
      int64_t low = 0;
      int64_t high = 0;
      std::string held;
      if (split != nullptr &&
          rd_kafka_get_watermark_offsets(client_->handle(), split->split.id.topic.c_str(),
                                         split->split.id.partition, &low,
                                         &high) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        held = " (last seen offsets: " + std::to_string(low) + " to " + std::to_string(high) + ")";
      }
      return Status::IoError("Cannot read " + name + " at offset " +
                             (split == nullptr ? "?" : std::to_string(split->gathered_to)) +
                             ": the partition does not hold it" + held +
                             ". Its records were deleted before they were read, or the topic was "
                             "made anew. Start "
                             "over with --fresh, or from an older checkpoint.")
          .Retriable(false);
    }
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
      return Status::DataError("The records of " + name + " behind offset " +
                               (split == nullptr ? "?" : std::to_string(split->gathered_to)) +
                               " are damaged: " + detail);
    default:
      break;
  }
  const Status status = KafkaError(message.err, "Cannot read " + name, detail);
  if (!status.retriable()) return status;
  // A partition that vanished, a leader that moves: the library goes on trying.
  bad_log_.Warn(status.message());
  return {};
}

ActiveSplit* KafkaReader::FindSplit(const rd_kafka_message_t& message) {
  if (message.rkt != last_topic_ || message.partition != last_partition_ || last_split_ < 0) {
    const auto found =
        split_of_partition_.find({rd_kafka_topic_name(message.rkt), message.partition});
    if (found == split_of_partition_.end()) return nullptr;
    last_topic_ = message.rkt;
    last_partition_ = message.partition;
    last_split_ = found->second;
  }
  return splits_[static_cast<size_t>(last_split_)].get();
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

/// A broker thread of the library that found the queue full sleeps for a second, however soon there
/// is room: a queue of moderate size would run empty. Any request wakes it, so one is sent when the
/// queue has become half empty.
void KafkaReader::KeepFetching() {
  const auto length = static_cast<int64_t>(rd_kafka_queue_length(queue_.get()));
  if (length >= queue_limit_) queue_was_full_ = true;
  if (!queue_was_full_ || length > queue_limit_ / 2 || context_->io_pool == nullptr) return;
  if (background_->nudging.exchange(true)) return;
  queue_was_full_ = false;
  PartitionListPtr list(rd_kafka_topic_partition_list_new(static_cast<int>(splits_.size())));
  for (const auto& split : splits_) {
    if (split->fetched_all) continue;
    const PartitionId& id = split->split.id;
    rd_kafka_topic_partition_list_add(list.get(), id.topic.c_str(), id.partition)->offset =
        RD_KAFKA_OFFSET_END;
  }
  context_->io_pool->Submit(
      [client = client_, background = background_,
       list = std::shared_ptr<rd_kafka_topic_partition_list_t>(std::move(list))] {
        rd_kafka_offsets_for_times(client->handle(), list.get(), 1'000);
        background->nudging = false;
      });
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
  const std::string trouble = client_->trouble();
  if (trouble.empty() || progressed) {
    if (!trouble.empty()) client_->ClearTrouble();
    if (waiting_shown_) context_->metrics->SetWaiting(waiting_name(), "");
    waiting_shown_ = false;
    return;
  }
  const int64_t now_ms = context_->clock->NowMillis();
  if (!waiting_shown_) next_probe_ms_ = now_ms + kProbeMs;
  waiting_shown_ = true;
  context_->metrics->SetWaiting(waiting_name(),
                                "broker " + client_->bootstrap_servers() + ": " + trouble);
  WakeAt(std::max(next_probe_ms_, now_ms + 1));
  if (now_ms < next_probe_ms_ || context_->io_pool == nullptr || splits_.empty()) return;
  next_probe_ms_ = now_ms + kProbeMs;
  if (background_->probing.exchange(true)) return;
  const PartitionId id = splits_.front()->split.id;
  context_->io_pool->Submit([client = client_, background = background_, wake = wake_, id] {
    int64_t low = 0;
    int64_t high = 0;
    const rd_kafka_resp_err_t error = rd_kafka_query_watermark_offsets(
        client->handle(), id.topic.c_str(), id.partition, &low, &high, 2'000);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) client->ClearTrouble();
    background->probing = false;
    wake();
  });
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
