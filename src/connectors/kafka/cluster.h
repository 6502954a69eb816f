// Questions to a cluster that block until they are answered or time is up: partitions, log ends,
// offsets of a group. For the threads that start a job, and for the I/O pool.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/clock.h"
#include "connectors/kafka/kafka_client.h"
#include "connectors/kafka/kafka_options.h"

namespace sluice::connectors::kafka {

using OffsetMap = std::map<PartitionId, int64_t>;

class Cluster {
 public:
  /// `waiting` receives what the call waits for, "" when it no longer does; may be null. Once
  /// `*ending` (may be null) is set, nothing is tried again.
  Cluster(std::shared_ptr<KafkaClient> client, const Clock* clock, int64_t timeout_ms,
          std::function<void(const std::string&)> waiting = nullptr,
          const std::atomic<bool>* ending = nullptr);

  /// Partitions of the named topics, or of those that match; sorted. A named topic that is absent
  /// fails with kNotFound; a pattern may match nothing.
  Result<std::vector<PartitionId>> ListPartitions(const std::vector<std::string>& topics,
                                                  const std::optional<std::string>& pattern);

  /// First offset with a time at or after `timestamp_ms`, -1 where there is none;
  /// RD_KAFKA_OFFSET_BEGINNING or RD_KAFKA_OFFSET_END in its place give the ends of the log (with
  /// read_committed the last stable offset).
  Result<OffsetMap> OffsetsFor(const std::vector<PartitionId>& partitions, int64_t timestamp_ms);

  /// Offsets committed by the client's group; partitions without one are left out.
  Result<OffsetMap> CommittedOffsets(const std::vector<PartitionId>& partitions);

  const std::shared_ptr<KafkaClient>& client() const { return client_; }

 private:
  /// Calls `attempt` with a time limit in ms until it succeeds, fails for good, or time is up.
  Status Retry(const std::string& what, const std::function<Status(int timeout_ms)>& attempt);
  Status ListTopic(const std::string& topic, int timeout_ms, std::vector<PartitionId>* found);
  Status ListMatching(const std::string& pattern, int timeout_ms, std::vector<PartitionId>* found);

  std::shared_ptr<KafkaClient> client_;
  const Clock* clock_;
  int64_t timeout_ms_;
  std::function<void(const std::string&)> waiting_;
  const std::atomic<bool>* ending_;
};

}  // namespace sluice::connectors::kafka
