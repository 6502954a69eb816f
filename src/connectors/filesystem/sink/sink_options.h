// The options of a filesystem table that its sink reads.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "connectors/connector.h"
#include "connectors/filesystem/compression/compression.h"
#include "connectors/filesystem/sink/rolling_policy.h"

namespace sluice::connectors::filesystem {

enum class TriggerKind { kProcessTime, kPartitionTime };
enum class PolicyKind { kSuccessFile, kMetastore, kCustom, kCommand, kHttp };
enum class ExtractorKind { kDefault, kCustom, kCommand, kHttp };
enum class LateRows {
  kAppend,  // They are written, and the partition is committed again.
  kDrop,    // They are counted and left out.
  kAside,   // They go into the same partition below another directory.
};

/// Code of the user that is called for a partition; which part is set depends on its kind.
struct HookOptions {
  std::string library;  // A shared library, see sluice/partition_hooks.h.
  std::vector<std::string> parameters;
  std::string command;  // For /bin/sh.
  std::string url;
  std::vector<std::string> headers;  // "Name: value"
  int64_t timeout_ms = 60'000;
};

struct PartitionCommitOptions {
  TriggerKind trigger = TriggerKind::kProcessTime;
  int64_t delay_ms = 0;
  TimeZone watermark_zone;
  bool zone_written = false;
  std::vector<PolicyKind> policies;  // In the order written; empty: nothing is ever committed.
  HookOptions policy_hook;
  std::string success_file_name = "_SUCCESS";
  bool success_file_json = false;  // Its content: rows, files and source positions; or nothing.
  bool early_checkpoint = true;    // When the watermark has passed a partition's end.
  LateRows late_rows = LateRows::kAppend;
  std::string late_rows_path;  // kAside.
  ExtractorKind extractor = ExtractorKind::kDefault;
  HookOptions extractor_hook;
  std::optional<std::string> timestamp_pattern;
  std::optional<std::string> timestamp_formatter;
};

/// Whether rows wait sorted by partition until the next checkpoint, instead of going into an open
/// file for each partition at once.
enum class SortRows {
  kAuto,  // When batches come with so many partitions that each gets a few rows only.
  kAlways,
  kNever,
};

enum class CompactionScope {
  kCheckpoint,  // Files of one checkpoint, as in Flink.
  kPartition,   // All files of a partition, before it is committed.
};

struct CompactionOptions {
  bool enabled = false;
  CompactionScope scope = CompactionScope::kCheckpoint;
  int64_t target_bytes = 128 << 20;
  int parallelism = 0;  // 0: that of the writers.
  /// Complete checkpoints that the job keeps: so long raw files stay after they were merged.
  int64_t retained_checkpoints = 1;
  bool journal = false;              // COMPACT TABLE on an object store.
  int64_t max_bytes_per_second = 0;  // Of all merges together; 0: not bounded.
};

struct SinkOptions {
  CompactionOptions compaction;
  RollingOptions rolling;  // `on_checkpoint` is set when the format is known.
  std::optional<bool> roll_on_checkpoint;
  PartitionCommitOptions commit;
  int parallelism = 0;  // 0: that of the input.
  bool shuffle_by_partition = false;
  SortRows sort_rows = SortRows::kAuto;
  Compression compression = Compression::kNone;  // Of text files.
  std::string part_prefix = "part";              // In front of the names of files.
  std::string part_suffix;                       // Behind them.
  bool record = false;                           // See table_record.h.
};

std::span<const OptionSpec> SinkOptionSpecs();

/// Reads and checks everything that one table tells. The values have passed ValidateOptions. Fails
/// with kInvalidArgument or, for what is not offered yet, kUnsupported.
Result<SinkOptions> ReadSinkOptions(const TableInfo& table);

}  // namespace sluice::connectors::filesystem
