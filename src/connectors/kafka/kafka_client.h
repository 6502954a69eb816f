// A librdkafka client with its life cycle, callbacks and errors. The only place that makes or
// destroys one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <librdkafka/rdkafka.h>

#include "common/log.h"
#include "common/result.h"
#include "connectors/kafka/client_properties.h"

namespace sluice::connectors::kafka {

/// A partition of a topic. Topic names hold letters, digits, '.', '_' and '-' only.
struct PartitionId {
  std::string topic;
  int32_t partition = 0;

  /// "orders-0", as Kafka itself writes it.
  std::string ToText() const { return topic + "-" + std::to_string(partition); }
  friend auto operator<=>(const PartitionId&, const PartitionId&) = default;
};

struct PartitionOffset {
  PartitionId id;
  int64_t offset = 0;
};

struct MessageDeleter {
  void operator()(rd_kafka_message_t* message) const { rd_kafka_message_destroy(message); }
};
struct QueueDeleter {
  void operator()(rd_kafka_queue_t* queue) const { rd_kafka_queue_destroy(queue); }
};
struct TopicDeleter {
  void operator()(rd_kafka_topic_t* topic) const { rd_kafka_topic_destroy(topic); }
};
struct EventDeleter {
  void operator()(rd_kafka_event_t* event) const { rd_kafka_event_destroy(event); }
};
struct PartitionListDeleter {
  void operator()(rd_kafka_topic_partition_list_t* list) const {
    rd_kafka_topic_partition_list_destroy(list);
  }
};
using QueuePtr = std::unique_ptr<rd_kafka_queue_t, QueueDeleter>;
using TopicPtr = std::unique_ptr<rd_kafka_topic_t, TopicDeleter>;
using EventPtr = std::unique_ptr<rd_kafka_event_t, EventDeleter>;
using PartitionListPtr = std::unique_ptr<rd_kafka_topic_partition_list_t, PartitionListDeleter>;

/// The Status of `error`: what cannot work stays so (authentication, authorisation), the rest may
/// be tried again.
Status KafkaError(rd_kafka_resp_err_t error, std::string what, std::string_view detail = {});

/// Thread-safe. Queues, topics and messages of the client must be gone before it: keep a shared_ptr
/// beside them.
class KafkaClient {
 public:
  using DeliveryReport = std::function<void(const rd_kafka_message_t&)>;

  /// Makes a client; threads start, connections come with the first use. `delivered` is called by
  /// Poll (producers).
  static Result<std::shared_ptr<KafkaClient>> Make(const ClientConfig& config, ClientRole role,
                                                   DeliveryReport delivered = nullptr);
  /// Waits for the library's threads for a second. A consumer of librdkafka 2.0 cannot end while
  /// its broker is away: then they are left to themselves (ThreadsLeftBehind).
  ~KafkaClient();
  KafkaClient(const KafkaClient&) = delete;
  KafkaClient& operator=(const KafkaClient&) = delete;

  rd_kafka_t* handle() const { return handle_; }
  const std::string& bootstrap_servers() const { return shared_->bootstrap_servers; }

  /// Serves callbacks that are due; never blocks.
  void Poll() { rd_kafka_poll(handle_, 0); }

  /// The newest trouble with brokers ("127.0.0.1:9092: Connect … failed: Connection refused"), ""
  /// after ClearTrouble. Callbacks must have been served.
  std::string trouble() const;
  void ClearTrouble();
  /// An error after which retrying is pointless (credentials refused, a fatal error of the
  /// producer).
  std::optional<Status> fatal() const;

 private:
  /// What the library's callbacks use: lives as long as the library may call them.
  struct Shared {
    std::string bootstrap_servers;
    DeliveryReport delivered;
    std::mutex mutex;
    std::string trouble;
    std::optional<Status> fatal;
    LimitedLog log;
  };

  KafkaClient() = default;
  static void OnError(rd_kafka_t* handle, int error, const char* reason, void* opaque);
  static void OnLog(const rd_kafka_t* handle, int level, const char* facility, const char* text);
  static void OnDelivery(rd_kafka_t* handle, const rd_kafka_message_t* message, void* opaque);

  rd_kafka_t* handle_ = nullptr;
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
};

}  // namespace sluice::connectors::kafka
