#include "connectors/filesystem/sink/commit_status.h"

#include "connectors/filesystem/sink/sink_options.h"

namespace sluice::connectors::filesystem {

Result<CommitStatus> ReadCommitStatus(const runtime::StateReader& committer) {
  CommitStatus status;
  PendingPartitions partitions;
  SLUICE_ASSIGN_OR_RETURN(const std::string bytes, committer.GetBytes("partitions"));
  SLUICE_RETURN_NOT_OK(partitions.Decode(bytes));
  status.waiting = partitions.List();
  SLUICE_ASSIGN_OR_RETURN(status.watermark_ms, committer.GetI64("watermark_ms"));
  if (committer.Has("held_back_by")) {
    SLUICE_ASSIGN_OR_RETURN(status.held_back_by, committer.GetBytes("held_back_by"));
  }
  return status;
}

Result<std::string> ExplainWaiting(const TableInfo& table, const CommitStatus& status,
                                   const PendingPartitions::Waiting& waiting) {
  SLUICE_ASSIGN_OR_RETURN(const SinkOptions options, ReadSinkOptions(table));
  SLUICE_ASSIGN_OR_RETURN(const CommitTrigger trigger,
                          CommitTrigger::Make(options.commit, table.partition_keys));
  std::string text =
      trigger.Explain(waiting.partition.values, waiting.first_row_ms, status.watermark_ms);
  if (options.commit.trigger == TriggerKind::kPartitionTime && !status.held_back_by.empty()) {
    text += ", held back by " + status.held_back_by;
  }
  if (waiting.open) text += ", a file of it is open, whose rows are not counted yet";
  return text;
}

}  // namespace sluice::connectors::filesystem
