#include "connectors/kafka/kafka_sink.h"

#include <algorithm>

#include "common/text.h"
#include "connectors/kafka/kafka_client.h"
#include "connectors/kafka/record_encoder.h"
#include "connectors/kafka/topic_pattern.h"
#include "runtime/operator.h"

namespace sluice::connectors::kafka {
namespace {

using runtime::Barrier;
using runtime::Output;
using runtime::TaskContext;

struct HeadersDeleter {
  void operator()(rd_kafka_headers_t* headers) const { rd_kafka_headers_destroy(headers); }
};
using HeadersPtr = std::unique_ptr<rd_kafka_headers_t, HeadersDeleter>;

/// `sink.partitioner` = fixed: every row of a subtask goes to one partition. The opaque pointer is
/// the subtask's number.
int32_t FixedPartition(const rd_kafka_topic_t* topic, const void* key, size_t key_size,
                       int32_t partition_count, void* topic_opaque, void* message_opaque) {
  (void)topic, (void)key, (void)key_size, (void)message_opaque;
  return static_cast<int32_t>(*static_cast<const int*>(topic_opaque) % partition_count);
}

class KafkaSinkOperator final : public runtime::Operator {
 public:
  explicit KafkaSinkOperator(std::shared_ptr<const SinkSetup> setup) : setup_(std::move(setup)) {}

  ~KafkaSinkOperator() override {
    if (client_ == nullptr) return;
    rd_kafka_queue_cb_event_enable(events_.get(), nullptr, nullptr);
    // What is not acknowledged belongs to no checkpoint: a restart writes it again.
    rd_kafka_purge(client_->handle(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    events_.reset();
    topics_.clear();
  }

  Status Open(TaskContext& task) override;
  Status Process(Batch batch, Output& out) override;
  Status Poll(Output& out) override;
  bool Ready() const override { return !pending_ && (!flushing_ || acknowledged_ == sent_); }
  Status FinishInput(Output& out) override { return Flush(out); }
  Status PrepareSnapshot(const Barrier& barrier, Output& out) override {
    (void)barrier;
    if (table().guarantee == DeliveryGuarantee::kNone) return {};
    return Flush(out);
  }

 private:
  const KafkaTable& table() const { return setup_->table; }
  std::string waiting_name() const { return "kafka sink " + table().TopicsText(); }

  Status Flush(Output& out) {
    flushing_ = true;
    return Poll(out);
  }
  Status SendPending();
  /// Hands one message to the library; kUnavailable when its queue is full.
  rd_kafka_resp_err_t Send(rd_kafka_topic_t* topic, const EncodedBatch& batch, int64_t row);
  Result<rd_kafka_topic_t*> TopicOf(const EncodedBatch& batch, int64_t row);
  Result<rd_kafka_topic_t*> FindTopic(std::string_view name);
  void OnDelivered(const rd_kafka_message_t& message);
  void ShowTrouble();

  const std::shared_ptr<const SinkSetup> setup_;
  std::optional<TopicPattern> pattern_;
  std::unique_ptr<RecordEncoder> encoder_;
  std::function<void()> wake_;
  int subtask_ = 0;
  std::shared_ptr<KafkaClient> client_;
  QueuePtr events_;
  std::map<std::string, TopicPtr, std::less<>> topics_;

  struct Pending {
    EncodedBatch batch;
    int64_t next = 0;
  };
  std::optional<Pending> pending_;  // What the library's queue had no room for.
  int64_t sent_ = 0;
  int64_t acknowledged_ = 0;  // Failed ones included.
  bool flushing_ = false;
  bool waiting_shown_ = false;
  Status failure_;
  std::atomic<int64_t>* rows_out_ = nullptr;
};

Status KafkaSinkOperator::Open(TaskContext& task) {
  SLUICE_RETURN_NOT_OK(Operator::Open(task));
  subtask_ = task.subtask;
  rows_out_ = &task.metrics->Counter(runtime::metric::kRowsOut);
  wake_ = task.wake ? task.wake : [] {};
  if (table().topic_pattern) {
    SLUICE_ASSIGN_OR_RETURN(TopicPattern pattern, TopicPattern::Compile(*table().topic_pattern));
    pattern_ = std::move(pattern);
  }
  SLUICE_ASSIGN_OR_RETURN(
      encoder_, RecordEncoder::Make(table(), setup_->metadata_keys, setup_->session_zone));
  ClientConfig config = setup_->config;
  // Java bounds its buffer by bytes (buffer.memory, 32 MiB), the library by messages as well.
  config.settings.try_emplace("queue.buffering.max.kbytes", "32768");
  config.settings.try_emplace("queue.buffering.max.messages", "500000");
  // The library's sticky choice for messages without key comes before any partitioner.
  if (table().partitioner == Partitioner::kFixed) {
    config.settings["sticky.partitioning.linger.ms"] = "0";
  }
  SLUICE_ASSIGN_OR_RETURN(client_, KafkaClient::Make(config, ClientRole::kProducer,
                                                     [this](const rd_kafka_message_t& message) {
                                                       OnDelivered(message);
                                                     }));
  events_.reset(rd_kafka_queue_get_main(client_->handle()));
  rd_kafka_queue_cb_event_enable(
      events_.get(),
      [](rd_kafka_t*, void* opaque) { (*static_cast<std::function<void()>*>(opaque))(); }, &wake_);
  return {};
}

Result<rd_kafka_topic_t*> KafkaSinkOperator::FindTopic(std::string_view name) {
  if (const auto known = topics_.find(name); known != topics_.end()) return known->second.get();
  const std::vector<std::string>& topics = table().topics;
  if (pattern_ && !pattern_->Matches(name)) {
    return Status::DataError(
        "The topic of the sink record is not valid. Expected topic to match: " +
        *table().topic_pattern + " but was: " + std::string(name));
  }
  if (!pattern_ && std::find(topics.begin(), topics.end(), name) == topics.end()) {
    return Status::DataError(
        "The topic of the sink record is not valid. Expected topic to be in: [" +
        Join(topics, ", ") + "] but was: " + std::string(name));
  }
  rd_kafka_topic_conf_t* conf = rd_kafka_default_topic_conf_dup(client_->handle());
  if (table().partitioner == Partitioner::kFixed) {
    rd_kafka_topic_conf_set_opaque(conf, &subtask_);
    rd_kafka_topic_conf_set_partitioner_cb(conf, &FixedPartition);
  }
  TopicPtr topic(rd_kafka_topic_new(client_->handle(), std::string(name).c_str(), conf));
  if (!topic) {
    return KafkaError(rd_kafka_last_error(),
                      "Cannot write to Kafka topic '" + std::string(name) + "'");
  }
  return topics_.emplace(name, std::move(topic)).first->second.get();
}

Result<rd_kafka_topic_t*> KafkaSinkOperator::TopicOf(const EncodedBatch& batch, int64_t row) {
  if (const std::optional<std::string_view> topic = batch.topic(row)) return FindTopic(*topic);
  if (table().topics.size() == 1) return FindTopic(table().topics.front());
  return Status::DataError("The topic of the sink record is not valid. Table " +
                           table().identifier +
                           " has several topics and a row names none: column 'topic' is NULL.");
}

Status KafkaSinkOperator::Process(Batch batch, Output& out) {
  SLUICE_ASSIGN_OR_RETURN(EncodedBatch encoded, encoder_->Encode(batch));
  pending_ = Pending{.batch = std::move(encoded)};
  return Poll(out);
}

rd_kafka_resp_err_t KafkaSinkOperator::Send(rd_kafka_topic_t* topic, const EncodedBatch& batch,
                                            int64_t row) {
  // The library copies; its C interface takes no pointers to constants.
  const std::optional<std::string_view> key = batch.key(row);
  const std::optional<std::string_view> value = batch.value(row);
  char* const value_data = value ? const_cast<char*>(value->data()) : nullptr;
  const size_t value_size = value ? value->size() : 0;
  const char* const key_data = key ? key->data() : nullptr;
  const size_t key_size = key ? key->size() : 0;
  if (batch.plain()) {
    const int failed = rd_kafka_produce(topic, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY,
                                        value_data, value_size, key_data, key_size, nullptr);
    return failed == 0 ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_last_error();
  }
  HeadersPtr headers(rd_kafka_headers_new(4));
  for (const MessageHeader& header : batch.headers(row)) {
    rd_kafka_header_add(headers.get(), header.name.data(), static_cast<ssize_t>(header.name.size()),
                        header.value ? header.value->data() : nullptr,
                        header.value ? static_cast<ssize_t>(header.value->size()) : 0);
  }
  const int64_t timestamp_ms = batch.timestamp_ms(row).value_or(0);  // 0: the time of sending.
  const rd_kafka_resp_err_t error = rd_kafka_producev(
      client_->handle(), RD_KAFKA_V_RKT(topic), RD_KAFKA_V_PARTITION(RD_KAFKA_PARTITION_UA),
      RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_VALUE(value_data, value_size),
      RD_KAFKA_V_KEY(key_data, key_size), RD_KAFKA_V_TIMESTAMP(timestamp_ms),
      RD_KAFKA_V_HEADERS(headers.get()), RD_KAFKA_V_END);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) (void)headers.release();  // The message owns them now.
  return error;
}

Status KafkaSinkOperator::SendPending() {
  const EncodedBatch& batch = pending_->batch;
  for (int64_t& row = pending_->next; row < batch.row_count(); ++row) {
    SLUICE_ASSIGN_OR_RETURN(rd_kafka_topic_t* const topic, TopicOf(batch, row));
    const rd_kafka_resp_err_t error = Send(topic, batch, row);
    if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) return {};
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
      return KafkaError(
          error, std::string("Cannot write to Kafka topic '") + rd_kafka_topic_name(topic) + "'",
          error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE
              ? "The row is larger than 'properties.max.request.size'."
              : "");
    }
    ++sent_;
  }
  rows_out_->fetch_add(batch.row_count(), std::memory_order_relaxed);
  pending_.reset();
  return {};
}

Status KafkaSinkOperator::Poll(Output& out) {
  (void)out;
  client_->Poll();
  if (pending_) SLUICE_RETURN_NOT_OK(SendPending());
  if (pending_) client_->Poll();
  SLUICE_RETURN_NOT_OK(failure_);
  if (const std::optional<Status> fatal = client_->fatal()) return *fatal;
  if (flushing_ && !pending_ && acknowledged_ == sent_) flushing_ = false;
  ShowTrouble();
  // Reports of delivery wake the task; the timer covers errors that bring none.
  if (!Ready() && context().wake_at) context().wake_at(context().clock->NowMillis() + 100);
  return {};
}

/// Called from Poll, on the task's thread.
void KafkaSinkOperator::OnDelivered(const rd_kafka_message_t& message) {
  ++acknowledged_;
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    if (waiting_shown_) client_->ClearTrouble();
    return;
  }
  if (!failure_.ok()) return;
  std::string what =
      std::string("Cannot write to Kafka topic '") + rd_kafka_topic_name(message.rkt) + "'";
  if (message.partition >= 0) what += ", partition " + std::to_string(message.partition);
  std::string detail;
  if (message.err == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
      message.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) {
    detail = "Create the topic, or correct option 'topic'.";
  } else if (message.err == RD_KAFKA_RESP_ERR__MSG_TIMED_OUT) {
    detail = "No acknowledgement within 'properties.delivery.timeout.ms'.";
    if (const std::string trouble = client_->trouble(); !trouble.empty())
      detail += " Last error: " + trouble;
  }
  failure_ = KafkaError(message.err, what, detail);
}

void KafkaSinkOperator::ShowTrouble() {
  const std::string trouble = client_->trouble();
  if (trouble.empty() && !waiting_shown_) return;
  waiting_shown_ = !trouble.empty();
  context().metrics->SetWaiting(
      waiting_name(),
      trouble.empty() ? "" : "broker " + client_->bootstrap_servers() + ": " + trouble);
}

}  // namespace

std::unique_ptr<runtime::Operator> MakeKafkaSinkOperator(std::shared_ptr<const SinkSetup> setup) {
  return std::make_unique<KafkaSinkOperator>(std::move(setup));
}

}  // namespace sluice::connectors::kafka
