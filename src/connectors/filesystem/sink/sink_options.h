// The options of a filesystem table that its sink reads.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "connectors/connector.h"
#include "connectors/filesystem/sink/rolling_policy.h"

namespace sluice::connectors::filesystem {

enum class TriggerKind { kProcessTime, kPartitionTime };
enum class PolicyKind { kSuccessFile, kMetastore };

struct PartitionCommitOptions {
  TriggerKind trigger = TriggerKind::kProcessTime;
  int64_t delay_ms = 0;
  TimeZone watermark_zone;
  bool zone_written = false;
  std::vector<PolicyKind> policies;  // In the order written; empty: nothing is ever committed.
  std::string success_file_name = "_SUCCESS";
  std::optional<std::string> timestamp_pattern;
  std::optional<std::string> timestamp_formatter;
};

struct SinkOptions {
  RollingOptions rolling;  // `on_checkpoint` is set when the format is known.
  std::optional<bool> roll_on_checkpoint;
  PartitionCommitOptions commit;
  int parallelism = 0;  // 0: that of the input.
  bool shuffle_by_partition = false;
};

std::span<const OptionSpec> SinkOptionSpecs();

/// Reads and checks everything that one table tells. The values have passed ValidateOptions. Fails
/// with kInvalidArgument or, for what is not offered yet, kUnsupported.
Result<SinkOptions> ReadSinkOptions(const TableInfo& table);

}  // namespace sluice::connectors::filesystem
