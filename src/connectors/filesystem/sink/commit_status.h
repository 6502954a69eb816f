// What of a table is not committed, and why, read from the state that a job left in its newest
// checkpoint.
#pragma once

#include <string>
#include <vector>

#include "connectors/connector.h"
#include "connectors/filesystem/sink/pending_partitions.h"
#include "runtime/state.h"

namespace sluice::connectors::filesystem {

struct CommitStatus {
  std::vector<PendingPartitions::Waiting> waiting;
  int64_t watermark_ms = runtime::kMinWatermarkMs;  // At the barrier.
  std::string held_back_by;  // The source split with the lowest watermark; "" when not known.
};

/// `committer`: the fields of the one subtask of "sink:…:committer".
Result<CommitStatus> ReadCommitStatus(const runtime::StateReader& committer);

/// Why the partition waits: "needs a watermark after 2020-05-20 09:00:00.000, it is at … (UTC),
/// held back by orders-2".
Result<std::string> ExplainWaiting(const TableInfo& table, const CommitStatus& status,
                                   const PendingPartitions::Waiting& waiting);

}  // namespace sluice::connectors::filesystem
