#include "connectors/kafka/cluster.h"

#include <algorithm>

#include "connectors/kafka/topic_pattern.h"

namespace sluice::connectors::kafka {
namespace {

struct MetadataDeleter {
  void operator()(const rd_kafka_metadata_t* metadata) const {
    rd_kafka_metadata_destroy(metadata);
  }
};
using MetadataPtr = std::unique_ptr<const rd_kafka_metadata_t, MetadataDeleter>;

/// A job that is told to stop waits no longer: less where it is known that brokers are away.
constexpr int64_t kAttemptMs = 2'000;
constexpr int64_t kAttemptInTroubleMs = 500;
/// A topic made a moment ago may not be known to every broker yet.
constexpr int64_t kAbsentTopicMs = 2'000;

void AppendPartitions(const rd_kafka_metadata_topic_t& topic, std::vector<PartitionId>* found) {
  for (int i = 0; i < topic.partition_cnt; ++i)
    found->push_back({topic.topic, topic.partitions[i].id});
}

PartitionListPtr ToList(const std::vector<PartitionId>& partitions, int64_t offset) {
  PartitionListPtr list(rd_kafka_topic_partition_list_new(static_cast<int>(partitions.size())));
  for (const PartitionId& id : partitions) {
    rd_kafka_topic_partition_list_add(list.get(), id.topic.c_str(), id.partition)->offset = offset;
  }
  return list;
}

}  // namespace

Cluster::Cluster(std::shared_ptr<KafkaClient> client, const Clock* clock, int64_t timeout_ms,
                 std::function<void(const std::string&)> waiting, const std::atomic<bool>* ending)
    : client_(std::move(client)),
      clock_(clock),
      timeout_ms_(timeout_ms),
      waiting_(std::move(waiting)),
      ending_(ending) {}

Status Cluster::Retry(const std::string& what,
                      const std::function<Status(int timeout_ms)>& attempt) {
  const int64_t start_us = clock_->MonotonicMicros();
  for (int count = 1;; ++count) {
    const int64_t elapsed_ms = (clock_->MonotonicMicros() - start_us) / 1000;
    const int64_t left_ms = std::max<int64_t>(timeout_ms_ - elapsed_ms, 1);
    const int64_t most_ms = client_->trouble().empty() ? kAttemptMs : kAttemptInTroubleMs;
    Status status = attempt(static_cast<int>(std::min(most_ms, left_ms)));
    client_->Poll();
    const std::optional<Status> fatal = client_->fatal();
    if (fatal) status = *fatal;
    const bool absent = status.code() == StatusCode::kNotFound;
    const int64_t spent_ms = (clock_->MonotonicMicros() - start_us) / 1000;
    const bool ending = ending_ != nullptr && ending_->load();
    const bool give_up = !status.retriable() || ending ||
                         spent_ms >= (absent ? std::min(kAbsentTopicMs, timeout_ms_) : timeout_ms_);
    if (status.ok() || give_up) {
      if (waiting_) waiting_("");
      if (status.ok()) client_->ClearTrouble();
      if (status.ok() || fatal || absent) return status;
      const std::string trouble = client_->trouble();
      std::string context = what + " from the Kafka brokers " + client_->bootstrap_servers();
      if (!trouble.empty()) context += " (last error: " + trouble + ")";
      return std::move(status).WithContext(context);
    }
    if (waiting_) {
      const std::string trouble = client_->trouble();
      waiting_("broker " + client_->bootstrap_servers() + ": " +
               (trouble.empty() ? status.message() : trouble) + ", retry " + std::to_string(count));
    }
    // The library's calls return at once where it knows that there is no broker.
    if (spent_ms - elapsed_ms < 100) rd_kafka_poll(client_->handle(), 100);
  }
}

Result<std::vector<PartitionId>> Cluster::ListPartitions(
    const std::vector<std::string>& topics, const std::optional<std::string>& pattern) {
  std::vector<PartitionId> found;
  if (pattern) {
    SLUICE_RETURN_NOT_OK(Retry("Cannot list the topics", [&](int timeout_ms) {
      found.clear();
      return ListMatching(*pattern, timeout_ms, &found);
    }));
  }
  for (const std::string& topic : topics) {
    SLUICE_RETURN_NOT_OK(
        Retry("Cannot get the partitions of topic '" + topic + "'",
              [&](int timeout_ms) { return ListTopic(topic, timeout_ms, &found); }));
  }
  std::sort(found.begin(), found.end());
  return found;
}

Status Cluster::ListTopic(const std::string& topic, int timeout_ms,
                          std::vector<PartitionId>* found) {
  const TopicPtr handle(rd_kafka_topic_new(client_->handle(), topic.c_str(), nullptr));
  if (!handle) {
    return Status::InvalidArgument("'" + topic + "' is no name of a topic. Check option 'topic'.");
  }
  const rd_kafka_metadata_t* raw = nullptr;
  const rd_kafka_resp_err_t error =
      rd_kafka_metadata(client_->handle(), 0, handle.get(), &raw, timeout_ms);
  const std::string what = "Failed to get metadata for topics [" + topic + "]";
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return KafkaError(error, what);
  const MetadataPtr metadata(raw);
  for (int i = 0; i < metadata->topic_cnt; ++i) {
    const rd_kafka_metadata_topic_t& entry = metadata->topics[i];
    if (topic != entry.topic) continue;
    if (entry.err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) {
      return KafkaError(entry.err, what,
                        "Topic '" + topic + "' does not exist at " + client_->bootstrap_servers() +
                            ". Create it, or correct option 'topic'.");
    }
    if (entry.err != RD_KAFKA_RESP_ERR_NO_ERROR) return KafkaError(entry.err, what);
    AppendPartitions(entry, found);
    return {};
  }
  return KafkaError(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, what);
}

Status Cluster::ListMatching(const std::string& pattern, int timeout_ms,
                             std::vector<PartitionId>* found) {
  SLUICE_ASSIGN_OR_RETURN(const TopicPattern compiled, TopicPattern::Compile(pattern));
  const rd_kafka_metadata_t* raw = nullptr;
  const rd_kafka_resp_err_t error =
      rd_kafka_metadata(client_->handle(), 1, nullptr, &raw, timeout_ms);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
    return KafkaError(error, "Failed to get metadata of all topics");
  const MetadataPtr metadata(raw);
  for (int i = 0; i < metadata->topic_cnt; ++i) {
    const rd_kafka_metadata_topic_t& entry = metadata->topics[i];
    if (entry.err == RD_KAFKA_RESP_ERR_NO_ERROR && compiled.Matches(entry.topic))
      AppendPartitions(entry, found);
  }
  return {};
}

Result<OffsetMap> Cluster::OffsetsFor(const std::vector<PartitionId>& partitions,
                                      int64_t timestamp_ms) {
  OffsetMap offsets;
  if (partitions.empty()) return offsets;
  // The query takes times where a list has offsets, and the protocol's own numbers for the two
  // ends.
  SLUICE_RETURN_NOT_OK(
      Retry("Cannot get offsets of " + partitions.front().topic, [&](int timeout_ms) -> Status {
        const PartitionListPtr list = ToList(partitions, timestamp_ms);
        rd_kafka_resp_err_t error =
            rd_kafka_offsets_for_times(client_->handle(), list.get(), timeout_ms);
        for (int i = 0; i < list->cnt; ++i) {
          const rd_kafka_topic_partition_t& entry = list->elems[i];
          if (error == RD_KAFKA_RESP_ERR_NO_ERROR) error = entry.err;
          offsets[{entry.topic, entry.partition}] = entry.offset;
        }
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
        Status status = KafkaError(error, "Cannot get offsets of " + partitions.front().ToText());
        // A partition without a leader gets one again.
        if (error == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION) status = std::move(status).Retriable();
        return status;
      }));
  return offsets;
}

Result<OffsetMap> Cluster::CommittedOffsets(const std::vector<PartitionId>& partitions) {
  OffsetMap offsets;
  if (partitions.empty()) return offsets;
  SLUICE_RETURN_NOT_OK(
      Retry("Cannot get the committed offsets of the group", [&](int timeout_ms) -> Status {
        const PartitionListPtr list = ToList(partitions, RD_KAFKA_OFFSET_INVALID);
        rd_kafka_resp_err_t error = rd_kafka_committed(client_->handle(), list.get(), timeout_ms);
        offsets.clear();
        for (int i = 0; i < list->cnt; ++i) {
          const rd_kafka_topic_partition_t& entry = list->elems[i];
          if (error == RD_KAFKA_RESP_ERR_NO_ERROR) error = entry.err;
          if (entry.offset >= 0) offsets[{entry.topic, entry.partition}] = entry.offset;
        }
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
        return KafkaError(error, "Cannot get the committed offsets of the group");
      }));
  return offsets;
}

}  // namespace sluice::connectors::kafka
