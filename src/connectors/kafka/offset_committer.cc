#include "connectors/kafka/offset_committer.h"

namespace sluice::connectors::kafka {

OffsetCommitter::OffsetCommitter(std::shared_ptr<KafkaClient> client, std::string group,
                                 runtime::Metrics* metrics)
    : client_(std::move(client)),
      group_(std::move(group)),
      succeeded_(metrics->Counter("kafka_commits_succeeded")),
      failed_(metrics->Counter("kafka_commits_failed")) {}

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
    const PartitionListPtr list(
        rd_kafka_topic_partition_list_new(static_cast<int>(offsets.size())));
    for (const auto& [id, offset] : offsets) {
      rd_kafka_topic_partition_list_add(list.get(), id.topic.c_str(), id.partition)->offset =
          offset;
    }
    rd_kafka_resp_err_t error = rd_kafka_commit(client_->handle(), list.get(), /*async=*/0);
    for (int i = 0; i < list->cnt && error == RD_KAFKA_RESP_ERR_NO_ERROR; ++i)
      error = list->elems[i].err;
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

}  // namespace sluice::connectors::kafka
