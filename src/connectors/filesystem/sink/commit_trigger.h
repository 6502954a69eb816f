// Decides when a partition is complete (filesystem.md §13.3). Asked by the writers, which close the
// partition's files first, and by the committer.
#pragma once

#include <cstdint>
#include <string>

#include "connectors/filesystem/sink/partition_time.h"
#include "connectors/filesystem/sink/sink_options.h"

namespace sluice::connectors::filesystem {

class CommitTrigger {
 public:
  static Result<CommitTrigger> Make(const PartitionCommitOptions& options,
                                    const std::vector<std::string>& partition_keys);

  enum class Answer {
    kDue,
    kNotYet,
    kNever,  // No time can be had from its values: only the end of input commits it.
  };
  /// `first_row_ms`: wall clock of the first row since the last commit.
  Answer Ask(const PartitionValues& values, int64_t first_row_ms, int64_t watermark_ms,
             int64_t now_ms) const;

  /// The watermark above which the partition is due; nullopt when no watermark makes it so.
  std::optional<int64_t> DueAfterWatermark(const PartitionValues& values) const;

  /// What the partition waits for, for status texts: "needs a watermark after 2020-05-20 09:00:00
  /// …".
  std::string Explain(const PartitionValues& values, int64_t first_row_ms,
                      int64_t watermark_ms) const;

 private:
  CommitTrigger(const PartitionCommitOptions& options, PartitionTimeExtractor extractor)
      : kind_(options.trigger),
        delay_ms_(options.delay_ms),
        zone_(options.watermark_zone),
        extractor_(std::move(extractor)) {}

  TriggerKind kind_;
  int64_t delay_ms_;
  TimeZone zone_;
  PartitionTimeExtractor extractor_;
};

}  // namespace sluice::connectors::filesystem
