#include "connectors/kafka/offset_committer.h"

namespace sluice::connectors::kafka {

OffsetCommitter::OffsetCommitter(std::shared_ptr<KafkaClient> client, std::string group,
                                 runtime::Metrics* metrics, const std::atomic<bool>* ending)
    : client_(std::move(client)),
      group_(std::move(group)),
      succeeded_(metrics->Counter("kafka_commits_succeeded")),
      failed_(metrics->Counter("kafka_commits_failed")),
      ending_(ending) {}

void OffsetCommitter::Commit(const std::vector<PartitionOffset>& offsets, IoPool* pool) {
  {
    const std::lock_guard lock(mutex_);
    for (const PartitionOffset& one : offsets) {
      if (one.offset >= 0) waiting_[one.id] = one.offset;
    }
    if (running_ || waiting_.empty()) return;
    running_ = true;
  }
  pool->Submit([self = shared_from_this()] { self->Run(); });
}

void OffsetCommitter::Run() {
  for (;;) {
    std::map<PartitionId, int64_t> offsets;
    {
      const std::lock_guard lock(mutex_);
      if (waiting_.empty()) {
        running_ = false;
        return;
      }
      offsets.swap(waiting_);
    }
    const rd_kafka_resp_err_t error = CommitNow(offsets);
    client_->Poll();
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
      succeeded_.fetch_add(1);
      continue;
    }
    failed_.fetch_add(1);
    log_.Warn("Cannot commit offsets to the Kafka group '" + group_ +
              "': " + rd_kafka_err2str(error) +
              ". Reading goes on: checkpoints hold the positions, the group only shows them.");
  }
}

/// Waits for the answer in small steps: the library itself would wait a minute for brokers that are
/// away, and a job that is told to stop with it.
rd_kafka_resp_err_t OffsetCommitter::CommitNow(const std::map<PartitionId, int64_t>& offsets) {
  constexpr int kStepMs = 100;
  constexpr int kSteps = 600;
  constexpr int kEndingSteps = 5;
  const PartitionListPtr list(rd_kafka_topic_partition_list_new(static_cast<int>(offsets.size())));
  for (const auto& [id, offset] : offsets) {
    rd_kafka_topic_partition_list_add(list.get(), id.topic.c_str(), id.partition)->offset = offset;
  }
  const QueuePtr answers(rd_kafka_queue_new(client_->handle()));
  const rd_kafka_resp_err_t sent =
      rd_kafka_commit_queue(client_->handle(), list.get(), answers.get(), nullptr, nullptr);
  if (sent != RD_KAFKA_RESP_ERR_NO_ERROR) return sent;
  for (int step = 0, ending_steps = 0; step < kSteps && ending_steps < kEndingSteps; ++step) {
    const EventPtr event(rd_kafka_queue_poll(answers.get(), kStepMs));
    if (ending_ != nullptr && ending_->load()) ++ending_steps;
    if (!event || rd_kafka_event_type(event.get()) != RD_KAFKA_EVENT_OFFSET_COMMIT) continue;
    rd_kafka_resp_err_t error = rd_kafka_event_error(event.get());
    const rd_kafka_topic_partition_list_t* const done =
        rd_kafka_event_topic_partition_list(event.get());
    for (int i = 0; done != nullptr && i < done->cnt && error == RD_KAFKA_RESP_ERR_NO_ERROR; ++i)
      error = done->elems[i].err;
    return error;
  }
  return RD_KAFKA_RESP_ERR__TIMED_OUT;
}

}  // namespace sluice::connectors::kafka
