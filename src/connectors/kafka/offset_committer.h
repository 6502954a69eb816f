// Writes the offsets of completed checkpoints to the consumer group, for people and tools that
// watch its lag. Reading never depends on it: a failure is a warning and a count.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/io_pool.h"
#include "common/log.h"
#include "connectors/kafka/kafka_client.h"
#include "runtime/metrics.h"

namespace sluice::connectors::kafka {

/// Thread-safe; must be held by a shared_ptr. One commit is in flight at a time; what comes
/// meanwhile is merged into the next.
class OffsetCommitter : public std::enable_shared_from_this<OffsetCommitter> {
 public:
  /// Once `*ending` (may be null) is set, brokers get half a second to answer.
  OffsetCommitter(std::shared_ptr<KafkaClient> client, std::string group, runtime::Metrics* metrics,
                  const std::atomic<bool>* ending = nullptr);

  /// Commits soon, on `pool`.
  void Commit(const std::vector<PartitionOffset>& offsets, IoPool* pool);

 private:
  void Run();
  rd_kafka_resp_err_t CommitNow(const std::map<PartitionId, int64_t>& offsets);

  const std::shared_ptr<KafkaClient> client_;
  const std::string group_;
  std::atomic<int64_t>& succeeded_;
  std::atomic<int64_t>& failed_;
  const std::atomic<bool>* const ending_;
  LimitedLog log_;
  std::mutex mutex_;
  std::map<PartitionId, int64_t> waiting_;
  bool running_ = false;
};

}  // namespace sluice::connectors::kafka
