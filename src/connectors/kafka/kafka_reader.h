// Reads the partitions of one source subtask.
//
// Messages come from a Fetcher (our own, or librdkafka), are gathered by partition into batches,
// decoded on the compute pool and emitted in the order they were gathered. Nothing here blocks: the
// fetcher and the workers wake the task.
//
// State: for each partition the offset behind the last record emitted, and the stop offset. What is
// gathered or being decoded is read again after a restore. Thread: called by the owning task only.
#pragma once

#include <memory>

#include "connectors/kafka/cluster.h"
#include "connectors/kafka/decode_queue.h"
#include "connectors/kafka/offset_committer.h"
#include "connectors/kafka/split_board.h"
#include "runtime/source.h"

namespace sluice::connectors::kafka {

/// What the readers of a source share with it.
struct SourceCore {
  std::shared_ptr<const ScanSetup> setup;
  std::shared_ptr<Cluster> cluster;  // Questions while running; used on the I/O pool.
  std::shared_ptr<SplitBoard> board;
  std::shared_ptr<OffsetCommitter> committer;  // Null: no group, or switched off.
  std::shared_ptr<Quarantine> quarantine;      // Null: no bad-records.* options.
  int reader_count = 1;

  /// Who waits when brokers do not answer.
  std::string WaitingName() const {
    return "table " + setup->table.identifier + ", kafka topic " + setup->table.TopicsText();
  }
};

constexpr std::string_view kSplitsField = "splits";
constexpr std::string_view kVersionField = "version";
constexpr int64_t kStateVersion = 1;

std::unique_ptr<runtime::SourceReader> MakeKafkaReader(std::shared_ptr<const SourceCore> core,
                                                       int subtask);

}  // namespace sluice::connectors::kafka
