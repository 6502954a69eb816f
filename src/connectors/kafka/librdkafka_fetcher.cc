#include <algorithm>
#include <atomic>
#include <map>

#include "common/text.h"
#include "connectors/kafka/fetcher.h"
#include "connectors/kafka/kafka_client.h"

namespace sluice::connectors::kafka {
namespace {

constexpr size_t kFetchMessages = 2048;

using MessagePtr = std::unique_ptr<rd_kafka_message_t, MessageDeleter>;

TimestampType TypeOf(rd_kafka_timestamp_type_t type) {
  switch (type) {
    case RD_KAFKA_TIMESTAMP_CREATE_TIME:
      return TimestampType::kCreateTime;
    case RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME:
      return TimestampType::kLogAppendTime;
    case RD_KAFKA_TIMESTAMP_NOT_AVAILABLE:
      break;
  }
  return TimestampType::kNone;
}

/// Messages of the library. They must be gone before their client.
class LibrdkafkaChunk final : public MessageChunk {
 public:
  explicit LibrdkafkaChunk(std::shared_ptr<KafkaClient> client) : client_(std::move(client)) {}
  ~LibrdkafkaChunk() override { messages_.clear(); }

  void Add(MessagePtr message) {
    byte_size_ += static_cast<int64_t>(message->len + message->key_len);
    messages_.push_back(std::move(message));
  }

  int64_t row_count() const override { return static_cast<int64_t>(messages_.size()); }
  int64_t byte_size() const override { return byte_size_; }

  Status AppendTo(const MessageParts& parts, arrow::MemoryPool*, Messages* out) override {
    for (const MessagePtr& message : messages_) {
      out->offsets.push_back(message->offset);
      out->values.push_back(View(message->payload, message->len));
      if (parts.keys) out->keys.push_back(View(message->key, message->key_len));
      if (parts.details) AddDetails(*message, out);
    }
    out->byte_size += byte_size_;
    return {};
  }

 private:
  static std::string_view View(const void* data, size_t size) {
    return data == nullptr ? std::string_view()
                           : std::string_view(static_cast<const char*>(data), size);
  }

  /// The leader's epoch this release of the library keeps to itself.
  static void AddDetails(const rd_kafka_message_t& message, Messages* out) {
    MessageDetails details;
    rd_kafka_timestamp_type_t type = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE;
    details.timestamp_ms = rd_kafka_message_timestamp(&message, &type);
    details.timestamp_type = TypeOf(type);
    details.first_header = static_cast<uint32_t>(out->headers.size());
    rd_kafka_headers_t* raw = nullptr;
    const char* name = nullptr;
    const void* value = nullptr;
    size_t size = 0;
    if (rd_kafka_message_headers(&message, &raw) == RD_KAFKA_RESP_ERR_NO_ERROR) {
      for (size_t i = 0;
           rd_kafka_header_get_all(raw, i, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR;
           ++i) {
        MessageHeader header{.name = name};
        if (value != nullptr) header.value = View(value, size);
        out->headers.push_back(header);
      }
    }
    details.header_count = static_cast<uint32_t>(out->headers.size()) - details.first_header;
    out->details.push_back(details);
  }

  const std::shared_ptr<KafkaClient> client_;
  std::vector<MessagePtr> messages_;
  int64_t byte_size_ = 0;
};

/// Bounds of the library's own queue, which the user's own settings replace. Returns the number of
/// messages.
int64_t BoundQueue(const FetcherContext& context, std::map<std::string, std::string>* settings) {
  constexpr int64_t kMebi = 1 << 20;
  // librdkafka 2.0 sleeps up to a second when its queue is full: the queue must outlast that, or
  // the cores run dry. Measured, 3 M JSON rows of one partition into 48 Parquet partitions: 3.7 s
  // with 64 MiB, 2.5 s with 512 MiB.
  constexpr int64_t kMostBytes = 512 * kMebi;
  int64_t bytes = 64 * kMebi;
  if (context.budget != nullptr) {
    bytes =
        std::clamp(context.budget->limit_bytes() / 8 / context.reader_count, 8 * kMebi, kMostBytes);
  }
  // Each message costs about half a kilobyte of bookkeeping there.
  constexpr int64_t kMessageBytes = 512;
  settings->try_emplace("queued.max.messages.kbytes", std::to_string(bytes / 1024));
  settings->try_emplace("queued.min.messages", std::to_string(bytes / kMessageBytes));
  return ParseInt64(settings->at("queued.min.messages")).value_or(bytes / kMessageBytes);
}

/// Flags of work on the I/O pool, which may outlive the fetcher.
struct BackgroundWork {
  std::atomic<bool> nudging{false};
  std::atomic<bool> probing{false};
};

class LibrdkafkaFetcher final : public Fetcher {
 public:
  explicit LibrdkafkaFetcher(FetcherContext context)
      : context_(std::move(context)), background_(std::make_shared<BackgroundWork>()) {}

  ~LibrdkafkaFetcher() override {
    if (queue_) rd_kafka_queue_cb_event_enable(queue_.get(), nullptr, nullptr);
    queue_.reset();
    topics_.clear();
  }

  Status Open();
  Status Start(int index, const KafkaSplit& split) override;
  Result<bool> Take(std::vector<FetchedPiece>* pieces) override;
  void Tend() override;
  std::string trouble() const override { return client_->trouble(); }
  void ClearTrouble() override { client_->ClearTrouble(); }
  void Probe() override;

 private:
  struct SplitState {
    int index = 0;
    PartitionId id;
    int64_t next = 0;
    int64_t stop = 0;
    bool done() const { return next >= stop; }
  };
  /// Pieces being put together from a run of messages.
  class Gatherer;

  const KafkaTable& table() const { return context_.setup->table; }
  void LearnNewPartition(const PartitionId& id);
  Status Handle(MessagePtr message, Gatherer* gatherer);
  Status HandleError(const rd_kafka_message_t& message);
  SplitState* FindSplit(const rd_kafka_message_t& message);

  const FetcherContext context_;
  const std::shared_ptr<BackgroundWork> background_;
  std::shared_ptr<KafkaClient> client_;
  std::map<std::string, TopicPtr> topics_;
  QueuePtr queue_;
  std::map<PartitionId, SplitState> splits_;
  // Where the last messages came from: they come in runs of one partition.
  const rd_kafka_topic_t* last_topic_ = nullptr;
  int32_t last_partition_ = -1;
  SplitState* last_split_ = nullptr;
  std::vector<rd_kafka_message_t*> buffer_;
  int64_t queue_limit_ = 0;  // Messages at which the library stops to fetch.
  bool queue_was_full_ = false;
  LimitedLog log_;
};

class LibrdkafkaFetcher::Gatherer {
 public:
  Gatherer(const std::shared_ptr<KafkaClient>& client, std::vector<FetchedPiece>* pieces)
      : client_(client), pieces_(pieces) {}

  void Add(SplitState* split, MessagePtr message) {
    if (split != split_) Flush();
    if (!chunk_) chunk_ = std::make_unique<LibrdkafkaChunk>(client_);
    split_ = split;
    split->next = message->offset + 1;
    chunk_->Add(std::move(message));
    if (split->done()) Flush();
  }
  void MoveTo(SplitState* split, int64_t offset) {
    Flush();
    split->next = std::max(split->next, std::min(offset, split->stop));
    pieces_->push_back({split->index, nullptr, split->next});
  }
  void Flush() {
    if (chunk_) pieces_->push_back({split_->index, std::move(chunk_), split_->next});
    chunk_.reset();
  }

 private:
  const std::shared_ptr<KafkaClient>& client_;
  std::vector<FetchedPiece>* const pieces_;
  SplitState* split_ = nullptr;
  std::unique_ptr<LibrdkafkaChunk> chunk_;
};

Status LibrdkafkaFetcher::Open() {
  ClientConfig config = context_.setup->config;
  // Reading needs no group; a client that has one and reads by partition never ends its group's
  // thread.
  config.settings.erase("group.id");
  queue_limit_ = BoundQueue(context_, &config.settings);
  if (const auto id = config.settings.find("client.id"); id != config.settings.end()) {
    id->second += "-" + std::to_string(context_.subtask);
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
      [](rd_kafka_t*, void* opaque) { (*static_cast<std::function<void()>*>(opaque))(); },
      const_cast<std::function<void()>*>(&context_.wake));
  buffer_.resize(kFetchMessages);
  return {};
}

Status LibrdkafkaFetcher::Start(int index, const KafkaSplit& split) {
  const PartitionId& id = split.id;
  splits_[id] = {.index = index, .id = id, .next = split.next, .stop = split.stop};
  TopicPtr& topic = topics_[id.topic];
  if (!topic) topic.reset(rd_kafka_topic_new(client_->handle(), id.topic.c_str(), nullptr));
  if (!topic ||
      rd_kafka_consume_start_queue(topic.get(), id.partition, split.next, queue_.get()) != 0) {
    return KafkaError(rd_kafka_last_error(), "Cannot begin to read " + id.ToText());
  }
  if (split.next == RD_KAFKA_OFFSET_BEGINNING) LearnNewPartition(id);
  return {};
}

/// The client would hear of a new partition with its next refresh only, minutes later.
void LibrdkafkaFetcher::LearnNewPartition(const PartitionId& id) {
  if (context_.io_pool == nullptr) return;
  context_.io_pool->Submit([client = client_, id] {
    const TopicPtr topic(rd_kafka_topic_new(client->handle(), id.topic.c_str(), nullptr));
    const rd_kafka_metadata_t* metadata = nullptr;
    if (topic && rd_kafka_metadata(client->handle(), 0, topic.get(), &metadata, 5'000) ==
                     RD_KAFKA_RESP_ERR_NO_ERROR) {
      rd_kafka_metadata_destroy(metadata);
    }
  });
}

Result<bool> LibrdkafkaFetcher::Take(std::vector<FetchedPiece>* pieces) {
  const ssize_t count =
      rd_kafka_consume_batch_queue(queue_.get(), 0, buffer_.data(), buffer_.size());
  if (const std::optional<Status> fatal = client_->fatal()) {
    for (ssize_t i = 0; i < count; ++i) rd_kafka_message_destroy(buffer_[static_cast<size_t>(i)]);
    return *fatal;
  }
  Gatherer gatherer(client_, pieces);
  Status status;
  for (ssize_t i = 0; i < count; ++i) {
    MessagePtr message(buffer_[static_cast<size_t>(i)]);
    if (status.ok()) status = Handle(std::move(message), &gatherer);
  }
  gatherer.Flush();
  SLUICE_RETURN_NOT_OK(status);
  return count == static_cast<ssize_t>(buffer_.size());
}

Status LibrdkafkaFetcher::Handle(MessagePtr message, Gatherer* gatherer) {
  const bool at_end = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR && !at_end) return HandleError(*message);
  SplitState* const split = FindSplit(*message);
  if (split == nullptr || split->done()) return {};
  // At its end the position may be past control records, which are never delivered.
  if (at_end || message->offset >= split->stop) {
    gatherer->MoveTo(split, message->offset);
  } else {
    gatherer->Add(split, std::move(message));
  }
  return {};
}

Status LibrdkafkaFetcher::HandleError(const rd_kafka_message_t& message) {
  const std::string detail = rd_kafka_message_errstr(&message);
  const SplitState* const split = message.rkt == nullptr ? nullptr : FindSplit(message);
  const std::string name = split == nullptr ? table().TopicsText() : split->id.ToText();
  const std::string offset = split == nullptr ? "?" : std::to_string(split->next);
  switch (message.err) {
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE: {
      int64_t low = 0;
      int64_t high = 0;
      std::string held;
      if (split != nullptr && rd_kafka_get_watermark_offsets(
                                  client_->handle(), split->id.topic.c_str(), split->id.partition,
                                  &low, &high) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        held = " (last seen offsets: " + std::to_string(low) + " to " + std::to_string(high) + ")";
      }
      return Status::IoError("Cannot read " + name + " at offset " + offset +
                             ": the partition does not hold it" + held +
                             ". Its records were deleted before they were read, or the topic was "
                             "made anew. Start over with --fresh, or from an older checkpoint.")
          .Retriable(false);
    }
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
      return Status::DataError("The records of " + name + " behind offset " + offset +
                               " are damaged: " + detail);
    default:
      break;
  }
  const Status status = KafkaError(message.err, "Cannot read " + name, detail);
  if (!status.retriable()) return status;
  // A partition that vanished, a leader that moves: the library goes on trying.
  log_.Warn(status.message());
  return {};
}

LibrdkafkaFetcher::SplitState* LibrdkafkaFetcher::FindSplit(const rd_kafka_message_t& message) {
  if (message.rkt != last_topic_ || message.partition != last_partition_ ||
      last_split_ == nullptr) {
    const auto found = splits_.find({rd_kafka_topic_name(message.rkt), message.partition});
    if (found == splits_.end()) return nullptr;
    last_topic_ = message.rkt;
    last_partition_ = message.partition;
    last_split_ = &found->second;
  }
  return last_split_;
}

/// A broker thread of the library that found the queue full sleeps for a second, however soon there
/// is room: a queue of moderate size would run empty. Any request wakes it, so one is sent when the
/// queue has become half empty.
void LibrdkafkaFetcher::Tend() {
  const auto length = static_cast<int64_t>(rd_kafka_queue_length(queue_.get()));
  if (length >= queue_limit_) queue_was_full_ = true;
  if (!queue_was_full_ || length > queue_limit_ / 2 || context_.io_pool == nullptr) return;
  if (background_->nudging.exchange(true)) return;
  queue_was_full_ = false;
  PartitionListPtr list(rd_kafka_topic_partition_list_new(static_cast<int>(splits_.size())));
  for (const auto& [id, split] : splits_) {
    if (split.done()) continue;
    rd_kafka_topic_partition_list_add(list.get(), id.topic.c_str(), id.partition)->offset =
        RD_KAFKA_OFFSET_END;
  }
  context_.io_pool->Submit(
      [client = client_, background = background_,
       list = std::shared_ptr<rd_kafka_topic_partition_list_t>(std::move(list))] {
        rd_kafka_offsets_for_times(client->handle(), list.get(), 1'000);
        background->nudging = false;
      });
}

// By the call that keeps to its time: rd_kafka_query_watermark_offsets of 2.0 waits for an answer
// to a request that is queued for a broker that has gone, however long that is.
void LibrdkafkaFetcher::Probe() {
  if (context_.io_pool == nullptr || splits_.empty() || background_->probing.exchange(true)) return;
  const PartitionId id = splits_.begin()->first;
  context_.io_pool->Submit([client = client_, background = background_, wake = context_.wake, id] {
    const PartitionListPtr list(rd_kafka_topic_partition_list_new(1));
    rd_kafka_topic_partition_t* const asked =
        rd_kafka_topic_partition_list_add(list.get(), id.topic.c_str(), id.partition);
    asked->offset = RD_KAFKA_OFFSET_END;
    const rd_kafka_resp_err_t error =
        rd_kafka_offsets_for_times(client->handle(), list.get(), 2'000);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR && asked->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
      client->ClearTrouble();
    }
    background->probing = false;
    wake();
  });
}

}  // namespace

Result<std::unique_ptr<Fetcher>> MakeLibrdkafkaFetcher(FetcherContext context) {
  auto fetcher = std::make_unique<LibrdkafkaFetcher>(std::move(context));
  SLUICE_RETURN_NOT_OK(fetcher->Open());
  return fetcher;
}

}  // namespace sluice::connectors::kafka
