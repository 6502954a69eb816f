// Where the partitions known at a start begin and end: connectors.md's rules of start-up and
// bounded modes.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "connectors/kafka/cluster.h"
#include "connectors/kafka/kafka_options.h"

namespace sluice::connectors::kafka {

constexpr int64_t kNoStop = std::numeric_limits<int64_t>::max();

/// A partition with what is still to be read of it: offsets [next, stop).
struct KafkaSplit {
  PartitionId id;
  int64_t next = 0;
  int64_t stop = kNoStop;

  bool finished() const { return next >= stop; }
  /// "topic,partition,next,stop" ("-" for no stop).
  std::string ToState() const;
  /// Fails with kCorrupt.
  static Result<KafkaSplit> FromState(const std::string& text);
};

/// Splits of a job that starts without state. `warnings` gets what the user should know.
Result<std::vector<KafkaSplit>> ResolveSplits(const KafkaTable& table, const ClientConfig& config,
                                              const std::vector<PartitionId>& partitions,
                                              Cluster& cluster, std::vector<std::string>* warnings);

/// Positions of a fresh start that lie outside their partition's log (records of a committed or
/// given offset are gone) move as properties.auto.offset.reset says, or the start fails.
Status AdjustToLog(const KafkaTable& table, const ClientConfig& config, Cluster& cluster,
                   std::vector<KafkaSplit>* splits, std::vector<std::string>* warnings);

/// Fails when a restored position lies outside its partition's log, naming all three offsets.
Status CheckPositions(const std::vector<KafkaSplit>& splits, Cluster& cluster);

}  // namespace sluice::connectors::kafka
