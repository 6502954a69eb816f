#include <algorithm>

#include "connectors/kafka/fetch/aborted_transactions.h"
#include "connectors/kafka/fetch/fetch_state.h"

namespace sluice::connectors::kafka::fetch {
namespace {

/// Errors after which the same bytes or rights are met again.
std::optional<Status> Lasting(const FetchedPartition& answer, const PartitionState& partition) {
  const std::string what = "Cannot read " + partition.name();
  switch (answer.error) {
    case ErrorCode::kOffsetOutOfRange: {
      std::string held;
      if (answer.log_start_offset >= 0) {
        held = " (it holds the offsets " + std::to_string(answer.log_start_offset) + " to " +
               std::to_string(answer.high_watermark) + ")";
      }
      return Status::IoError(what + " at offset " + std::to_string(partition.what.offset) +
                             ": the partition does not hold it" + held +
                             ". Its records were deleted before they were read, or the topic was "
                             "made anew. Start over with --fresh, or from an older checkpoint.")
          .Retriable(false);
    }
    case ErrorCode::kTopicAuthorizationFailed:
    case ErrorCode::kClusterAuthorizationFailed:
      return Status::InvalidArgument(what + ": " + ErrorName(answer.error) +
                                     ". Check the access rules of the cluster.");
    case ErrorCode::kUnsupportedCompressionType:
    case ErrorCode::kUnsupportedVersion:
      return Status::Unsupported(what + ": " + ErrorName(answer.error) +
                                 ". Set 'scan.fetch.implementation' = 'librdkafka'.");
    default:
      return std::nullopt;
  }
}

class BrokerThread {
 public:
  BrokerThread(FetchState* state, BrokerState* broker)
      : state_(*state),
        broker_(*broker),
        backoff_(state->settings().reconnect_backoff_ms,
                 state->settings().reconnect_backoff_max_ms) {}

  void Run() {
    while (WaitForWork()) {
      const Status status = Turn();
      Release();
      if (state_.stopping()) return;
      if (status.ok()) continue;
      connection_.reset();
      Disconnected(status);
    }
  }

 private:
  /// A partition that the leader before still has in a request waits for that answer.
  bool Fetchable(const PartitionState& partition) const {
    return !partition.done && !partition.busy && partition.leader == broker_.id;
  }

  /// Until a partition may be fetched and there is room. False when the fetch ends.
  bool WaitForWork() {
    std::unique_lock lock(state_.memory->mutex);
    while (!state_.stopping()) {
      const int64_t now_us = NowUs();
      int64_t next_us = INT64_MAX;
      for (const PartitionState& partition : state_.partitions) {
        if (Fetchable(partition)) next_us = std::min(next_us, partition.retry_us);
      }
      next_us = std::max(next_us, not_before_us_);
      if (next_us <= now_us && !state_.memory->full()) return true;
      state_.WaitUntil(lock, next_us <= now_us ? INT64_MAX : next_us);
    }
    return false;
  }

  /// One request and its answer.
  Status Turn() {
    if (!connection_ || connection_->expires()) {
      {
        const std::lock_guard lock(state_.memory->mutex);
        address_ = broker_.address;
      }
      connection_.reset();
      SLUICE_ASSIGN_OR_RETURN(connection_, Connection::Open(*state_.context, address_));
    }
    Claim();
    SLUICE_RETURN_NOT_OK(FindBeginnings());
    const std::vector<PartitionState*> asked = InTurn();
    if (asked.empty()) return {};
    const FetchSettings& settings = state_.settings();
    SLUICE_ASSIGN_OR_RETURN(const int16_t version, connection_->VersionOf(ApiKey::kFetch));
    // The other side waits as long as it was told to, so an answer may come that much later.
    SLUICE_ASSIGN_OR_RETURN(
        const Answer answer,
        connection_->Call(ApiKey::kFetch, version, EncodeFetch(version, MakeRequest(asked)),
                          settings.request_timeout_ms + settings.max_wait_ms));
    SLUICE_ASSIGN_OR_RETURN(const FetchAnswer fetched, DecodeFetch(version, answer.body));
    if (fetched.error != ErrorCode::kNone) {
      return Status::Unavailable(address_.ToText() + ": The broker answers a fetch with " +
                                 ErrorName(fetched.error))
          .Retriable();
    }
    Apply(fetched, asked, answer.buffer);
    backoff_.Reset();
    return {};
  }

  /// Takes what may be fetched now. Pointers stay: partitions are never removed. Only the thread
  /// that has claimed a partition touches its offset.
  void Claim() {
    const std::lock_guard lock(state_.memory->mutex);
    const int64_t now_us = NowUs();
    for (PartitionState& partition : state_.partitions) {
      if (!Fetchable(partition) || partition.retry_us > now_us) continue;
      partition.busy = true;
      claimed_.push_back(&partition);
    }
  }

  void Release() {
    if (claimed_.empty()) return;
    const std::lock_guard lock(state_.memory->mutex);
    for (PartitionState* partition : claimed_) partition->busy = false;
    claimed_.clear();
    state_.memory->changed.notify_all();
  }

  /// Those with a known offset. Each turn begins with another one, since an answer is full at some
  /// point.
  std::vector<PartitionState*> InTurn() {
    std::vector<PartitionState*> due;
    for (PartitionState* partition : claimed_) {
      if (partition->what.offset >= 0) due.push_back(partition);
    }
    if (!due.empty()) {
      std::rotate(due.begin(), due.begin() + static_cast<ptrdiff_t>(turn_++ % due.size()),
                  due.end());
    }
    return due;
  }

  FetchRequest MakeRequest(const std::vector<PartitionState*>& asked) const {
    const FetchSettings& settings = state_.settings();
    const int64_t limit = state_.memory->limit_bytes();
    FetchRequest request;
    request.max_wait_ms = settings.max_wait_ms;
    request.min_bytes = settings.min_bytes;
    request.max_bytes = static_cast<int32_t>(std::min<int64_t>(settings.max_bytes, limit));
    request.partition_max_bytes =
        static_cast<int32_t>(std::min<int64_t>(settings.partition_max_bytes, limit));
    request.read_committed = settings.read_committed;
    for (const PartitionState* partition : asked)
      request.partitions.push_back(
          {partition->what.topic, partition->what.partition, partition->what.offset});
    return request;
  }

  /// Partitions that are to be read from their beginning get their first offset.
  Status FindBeginnings() {
    const bool none = std::all_of(claimed_.begin(), claimed_.end(),
                                  [](const PartitionState* p) { return p->what.offset >= 0; });
    if (none) return {};
    SLUICE_ASSIGN_OR_RETURN(const int16_t version, connection_->VersionOf(ApiKey::kListOffsets));
    for (PartitionState* partition : claimed_) {
      if (partition->what.offset >= 0) continue;
      const std::string body = EncodeListOffsets(version, state_.settings().read_committed,
                                                 partition->what.topic, partition->what.partition);
      SLUICE_ASSIGN_OR_RETURN(const Answer answer,
                              connection_->Call(ApiKey::kListOffsets, version, body,
                                                state_.settings().request_timeout_ms));
      SLUICE_ASSIGN_OR_RETURN(const ListOffsetsAnswer listed,
                              DecodeListOffsets(version, answer.body));
      const std::lock_guard lock(state_.memory->mutex);
      if (listed.error == ErrorCode::kNone && listed.offset >= 0) {
        partition->what.offset = listed.offset;
      } else {
        Retry(*partition, listed.error);
      }
    }
    return {};
  }

  void Apply(const FetchAnswer& fetched, const std::vector<PartitionState*>& asked,
             const std::shared_ptr<FetchBuffer>& buffer) {
    bool news = false;
    auto expected = asked.begin();  // Brokers answer in the order of the request.
    for (const FetchedPartition& answer : fetched.partitions) {
      const auto is_it = [&](const PartitionState* p) {
        return p->what.partition == answer.partition && p->what.topic == answer.topic;
      };
      auto place = std::find_if(expected, asked.end(), is_it);
      if (place == asked.end()) place = std::find_if(asked.begin(), expected, is_it);
      if (place == asked.end() || !is_it(*place)) continue;  // Never asked for: nothing of ours.
      expected = place + 1;
      PartitionState& partition = **place;
      Result<std::optional<FetchedChunk>> chunk = ReadAnswer(answer, partition, buffer);
      const std::lock_guard lock(state_.memory->mutex);
      if (!chunk.ok()) {
        state_.Fail(chunk.status());
        partition.done = true;
        news = true;
      } else if (*chunk) {
        partition.what.offset = (*chunk)->next_offset;
        partition.done = partition.what.offset >= partition.what.stop;
        state_.chunks.push_back(std::move(**chunk));
        news = true;
      } else if (answer.error != ErrorCode::kNone || !answer.records.empty()) {
        Retry(partition, answer.error);  // Or nothing new in what came: not again at once.
      }
    }
    {
      const std::lock_guard lock(state_.memory->mutex);
      news |= state_.troubles.erase(Name()) > 0;
      not_before_us_ = fetched.throttle_ms > 0 ? NowUs() + fetched.throttle_ms * int64_t{1000} : 0;
    }
    if (news) state_.wake();
  }

  /// Nothing when the answer holds nothing new.
  Result<std::optional<FetchedChunk>> ReadAnswer(const FetchedPartition& answer,
                                                 const PartitionState& partition,
                                                 const std::shared_ptr<FetchBuffer>& buffer) const {
    if (std::optional<Status> lasting = Lasting(answer, partition)) return *lasting;
    if (answer.error != ErrorCode::kNone || answer.records.empty())
      return std::optional<FetchedChunk>();
    const std::string where =
        "Cannot read " + partition.name() + " at offset " + std::to_string(partition.what.offset);
    std::vector<RawBatch> batches;
    if (Status status = SplitBatches(answer.records, &batches); !status.ok())
      return std::move(status).WithContext(where);
    if (batches.empty()) {
      return Status::DataError(where +
                               ": the broker sends a part of a record batch only. Raise "
                               "'properties.max.partition.fetch.bytes'.");
    }
    int64_t next_offset = partition.what.offset;
    // The first may begin before what was asked for: its records are skipped one by one.
    std::erase_if(batches, [&](const RawBatch& b) { return b.last_offset < next_offset; });
    for (const RawBatch& batch : batches) {
      const bool first = &batch == &batches.front();
      if (!first && batch.base_offset < next_offset) {
        return Status::DataError(where + ": the broker sends the offsets " +
                                 std::to_string(batch.base_offset) + " to " +
                                 std::to_string(batch.last_offset) + " behind offset " +
                                 std::to_string(next_offset) + ".");
      }
      next_offset = batch.last_offset + 1;
    }
    if (batches.empty()) return std::optional<FetchedChunk>();
    auto visible =
        VisibleBatches(std::move(batches), answer.aborted, state_.settings().read_committed);
    if (!visible.ok()) return visible.status().WithContext(where);
    FetchedChunk chunk{.tag = partition.what.tag,
                       .buffer = visible->empty() ? nullptr : buffer,
                       .batches = std::move(*visible),
                       .from = partition.what.offset,
                       .next_offset = next_offset};
    return std::optional<FetchedChunk>(std::move(chunk));
  }

  /// Another broker leads it, or it is not there for the moment. Only with the mutex held.
  void Retry(PartitionState& partition, ErrorCode error) {
    partition.retry_us = NowUs() + state_.settings().retry_backoff_ms * 1000;
    if (error == ErrorCode::kNone) return;
    partition.leader = kNoLeader;
    state_.leaders_wanted = true;
    state_.memory->changed.notify_all();
    state_.log.Warn("Cannot read " + partition.name() + " from " + address_.ToText() +
                    " now: " + ErrorName(error) + ".");
  }

  void Disconnected(const Status& status) {
    {
      const std::lock_guard lock(state_.memory->mutex);
      const bool damaged = status.code() == StatusCode::kDataError;
      if (status.retriable() || damaged) {
        state_.troubles[Name()] = status.message();
      } else {
        state_.Fail(status);
      }
      not_before_us_ = NowUs() + backoff_.NextUs();
      // Meanwhile another one may have taken over.
      state_.leaders_wanted = true;
      state_.memory->changed.notify_all();
    }
    state_.log.Warn("Kafka: " + status.message());
    state_.wake();
  }

  std::string Name() const { return "broker " + std::to_string(broker_.id); }

  FetchState& state_;
  BrokerState& broker_;
  Backoff backoff_;
  BrokerAddress address_;  // Of the connection: metadata may tell another one meanwhile.
  std::unique_ptr<Connection> connection_;
  std::vector<PartitionState*> claimed_;
  size_t turn_ = 0;
  int64_t not_before_us_ = 0;
};

}  // namespace

void RunBrokerThread(FetchState* state, BrokerState* broker) { BrokerThread(state, broker).Run(); }

}  // namespace sluice::connectors::kafka::fetch
