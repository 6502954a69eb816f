#include "connectors/filesystem/sink/sink_options.h"

#include "common/nearest_name.h"
#include "common/text.h"
#include "connectors/filesystem/sink/partition_time.h"

namespace sluice::connectors::filesystem {
namespace {

/// Built on first use: other static objects are made from it.
std::span<const OptionSpec> Specs() {
  static const OptionSpec kSpecs[] = {
      {.key = "sink.parallelism",
       .type = OptionType::kInt,
       .doc =
           "Subtasks that write; that of the input when absent or -1. Needs an insert-only input."},
      {.key = "sink.shuffle-by-partition.enable",
       .type = OptionType::kBoolean,
       .default_text = "false",
       .doc = "Send all rows of a partition to one subtask: fewest files, but a large partition is "
              "written by one core."},
      {.key = "sink.rolling-policy.file-size",
       .type = OptionType::kMemorySize,
       .default_text = "128 mb",
       .doc = "Streaming: a part file larger than this is closed before the next row."},
      {.key = "sink.rolling-policy.rollover-interval",
       .type = OptionType::kDuration,
       .default_text = "30 min",
       .doc = "Streaming: a part file is closed when it has been open this long."},
      {.key = "sink.rolling-policy.inactivity-interval",
       .type = OptionType::kDuration,
       .default_text = "30 min",
       .doc = "Streaming: a part file is closed when nothing was written to it for this long."},
      {.key = "sink.rolling-policy.check-interval",
       .type = OptionType::kDuration,
       .default_text = "1 min",
       .doc = "Streaming: how often the two intervals are looked at."},
      {.key = "sink.rolling-policy.on-checkpoint",
       .type = OptionType::kBoolean,
       .doc = "Streaming: close part files at every checkpoint, so that their rows become visible. "
              "Default: true for csv and parquet, false for json and raw."},
      {.key = "auto-compaction",
       .type = OptionType::kBoolean,
       .default_text = "false",
       .doc = "Streaming: merge small files. Not offered yet."},
      {.key = "compaction.file-size",
       .type = OptionType::kMemorySize,
       .doc = "Target size of merged files; that of rolling when absent. Not offered yet."},
      {.key = "sink.partition-commit.trigger",
       .type = OptionType::kEnum,
       .default_text = "process-time",
       .doc = "What decides that a partition is complete: the machine's clock, or the watermark "
              "against the time in the partition's name.",
       .allowed = {"process-time", "partition-time"}},
      {.key = "sink.partition-commit.delay",
       .type = OptionType::kDuration,
       .default_text = "0 s",
       .doc = "How long after its first row or its time a partition is committed."},
      {.key = "sink.partition-commit.watermark-time-zone",
       .type = OptionType::kString,
       .default_text = "UTC",
       .doc =
           "Zone in which partition times are compared with the watermark; the session's zone for "
           "a watermark on TIMESTAMP_LTZ."},
      {.key = "sink.partition-commit.policy.kind",
       .type = OptionType::kString,
       .doc = "What is done to commit a partition, a list with commas: success-file. Nothing is "
              "committed when absent."},
      {.key = "sink.partition-commit.policy.class",
       .type = OptionType::kString,
       .doc = "Class of the policy 'custom'. Not offered yet."},
      {.key = "sink.partition-commit.policy.class.parameters",
       .type = OptionType::kList,
       .doc = "Arguments of the policy 'custom'. Not offered yet."},
      {.key = "sink.partition-commit.success-file.name",
       .type = OptionType::kString,
       .default_text = "_SUCCESS",
       .doc = "Name of the empty file that the policy success-file writes."},
      {.key = "partition.time-extractor.kind",
       .type = OptionType::kString,
       .default_text = "default",
       .doc =
           "How the time of a partition is read from its values: default. 'custom' is not offered "
           "yet."},
      {.key = "partition.time-extractor.class",
       .type = OptionType::kString,
       .doc = "Class of the extractor 'custom'. Not offered yet."},
      {.key = "partition.time-extractor.timestamp-pattern",
       .type = OptionType::kString,
       .doc = "Text in which $key stands for the value of a partition key, e.g. '$dt $hour:00:00'; "
              "the first value alone when absent."},
      {.key = "partition.time-extractor.timestamp-formatter",
       .type = OptionType::kString,
       .doc = "Date-time pattern by which that text is read, e.g. 'yyyyMMdd HH:mm:ss'; otherwise "
              "yyyy-M-d with an optional time."},
  };
  return kSpecs;
}

Status BadOption(std::string_view key, std::string_view value, std::string_view reason) {
  return Status::InvalidArgument("Invalid value for option '" + std::string(key) + "': '" +
                                 std::string(value) + "'. " + std::string(reason));
}

Result<std::vector<PolicyKind>> ReadPolicies(const OptionReader& options) {
  constexpr std::string_view kKey = "sink.partition-commit.policy.kind";
  std::vector<PolicyKind> policies;
  const std::optional<std::string> text = options.Text(kKey);
  if (!text) return policies;
  for (const std::string_view element : Split(*text, ',')) {
    const std::string name = ToLowerAscii(TrimAscii(element));
    if (name == "success-file") {
      policies.push_back(PolicyKind::kSuccessFile);
    } else if (name == "metastore") {
      policies.push_back(PolicyKind::kMetastore);
    } else if (name == "custom") {
      return Status::Unsupported(
          "The partition commit policy 'custom' ('" + std::string(kKey) +
          "') runs a class of the user; custom commit policies (a command or an HTTP call in its "
          "place) are a later feature of Sluice. Use 'success-file'.");
    } else {
      const std::vector<std::string> known = {"metastore", "success-file", "custom"};
      return BadOption(kKey, *text,
                       "Unsupported policy: '" + name + "'. Known policies: " + Join(known, ", ") +
                           "." + DidYouMean(name, known));
    }
  }
  for (const std::string_view key :
       {"sink.partition-commit.policy.class", "sink.partition-commit.policy.class.parameters"}) {
    if (options.Has(key)) {
      return Status::Unsupported("Option '" + std::string(key) +
                                 "' belongs to the policy 'custom'; custom commit policies are a "
                                 "later feature of Sluice. Remove the option.");
    }
  }
  return policies;
}

Status CheckSuccessFileName(const std::string& name) {
  constexpr std::string_view kKey = "sink.partition-commit.success-file.name";
  if (name.empty() || name.find('/') != std::string::npos || name.find('\0') != std::string::npos ||
      name == "." || name == "..") {
    return BadOption(kKey, name, "It must be the name of one file, without '/'.");
  }
  return {};
}

Status CheckExtractorKind(const OptionReader& options) {
  constexpr std::string_view kKey = "partition.time-extractor.kind";
  const std::string kind = options.Text(kKey).value_or("default");
  if (kind == "custom" || options.Has("partition.time-extractor.class")) {
    return Status::Unsupported(
        "The partition time extractor 'custom' ('" + std::string(kKey) +
        "') runs a class of the user; custom extractors are a later feature of Sluice. Use "
        "'partition.time-extractor.timestamp-pattern' and "
        "'partition.time-extractor.timestamp-formatter'.");
  }
  if (kind == "default") return {};
  const std::vector<std::string> known = {"default", "custom"};
  return BadOption(kKey, kind,
                   "Unsupported extractor kind: '" + kind +
                       "'. Known kinds: default, custom (in lower case)." +
                       DidYouMean(kind, known));
}

Result<PartitionCommitOptions> ReadCommit(const TableInfo& table, const OptionReader& options) {
  PartitionCommitOptions commit;
  SLUICE_ASSIGN_OR_RETURN(const std::string trigger, options.Enum("sink.partition-commit.trigger"));
  if (trigger == "partition-time") commit.trigger = TriggerKind::kPartitionTime;
  SLUICE_ASSIGN_OR_RETURN(commit.delay_ms, options.DurationMillis("sink.partition-commit.delay"));

  constexpr std::string_view kZoneKey = "sink.partition-commit.watermark-time-zone";
  commit.zone_written = options.Has(kZoneKey);
  const std::string zone = options.Text(kZoneKey).value_or("UTC");
  auto found = TimeZone::Find(zone);
  if (!found.ok()) return BadOption(kZoneKey, zone, found.status().message());
  commit.watermark_zone = *found;

  SLUICE_ASSIGN_OR_RETURN(commit.policies, ReadPolicies(options));
  commit.success_file_name = options.Text("sink.partition-commit.success-file.name").value_or("");
  SLUICE_RETURN_NOT_OK(CheckSuccessFileName(commit.success_file_name));
  SLUICE_RETURN_NOT_OK(CheckExtractorKind(options));
  commit.timestamp_pattern = options.Text("partition.time-extractor.timestamp-pattern");
  commit.timestamp_formatter = options.Text("partition.time-extractor.timestamp-formatter");
  if (!table.partition_keys.empty()) {
    SLUICE_RETURN_NOT_OK(PartitionTimeExtractor::Make(table.partition_keys,
                                                      commit.timestamp_pattern,
                                                      commit.timestamp_formatter)
                             .status());
  }
  return commit;
}

}  // namespace

std::span<const OptionSpec> SinkOptionSpecs() { return Specs(); }

Result<SinkOptions> ReadSinkOptions(const TableInfo& table) {
  const OptionReader options(table.options, Specs());
  SinkOptions sink;
  SLUICE_ASSIGN_OR_RETURN(sink.rolling.file_size_bytes,
                          options.MemorySize("sink.rolling-policy.file-size"));
  SLUICE_ASSIGN_OR_RETURN(sink.rolling.rollover_interval_ms,
                          options.DurationMillis("sink.rolling-policy.rollover-interval"));
  SLUICE_ASSIGN_OR_RETURN(sink.rolling.inactivity_interval_ms,
                          options.DurationMillis("sink.rolling-policy.inactivity-interval"));
  SLUICE_ASSIGN_OR_RETURN(sink.rolling.check_interval_ms,
                          options.DurationMillis("sink.rolling-policy.check-interval"));
  SLUICE_RETURN_NOT_OK(RollingPolicy::Make(sink.rolling).status());
  if (options.Has("sink.rolling-policy.on-checkpoint")) {
    SLUICE_ASSIGN_OR_RETURN(sink.roll_on_checkpoint,
                            options.Boolean("sink.rolling-policy.on-checkpoint"));
  }

  SLUICE_ASSIGN_OR_RETURN(const bool compaction, options.Boolean("auto-compaction"));
  if (compaction) {
    return Status::Unsupported(
        "Option 'auto-compaction': merging of small files is a later feature of Sluice. Set it to "
        "'false'; 'sink.shuffle-by-partition.enable' or "
        "'sink.rolling-policy.on-checkpoint'='false' give fewer and larger files.");
  }
  if (options.Has("compaction.file-size")) {
    return Status::Unsupported(
        "Option 'compaction.file-size': merging of small files is a later feature of Sluice. "
        "Remove the option; 'sink.rolling-policy.file-size' bounds the files that are written.");
  }

  SLUICE_ASSIGN_OR_RETURN(sink.commit, ReadCommit(table, options));
  SLUICE_ASSIGN_OR_RETURN(sink.shuffle_by_partition,
                          options.Boolean("sink.shuffle-by-partition.enable"));
  if (options.Has("sink.parallelism")) {
    SLUICE_ASSIGN_OR_RETURN(const int64_t parallelism, options.Integer("sink.parallelism"));
    // As in Flink, -1 means the default.
    if (parallelism == 0 || parallelism < -1) {
      return BadOption("sink.parallelism", std::to_string(parallelism),
                       "The parallelism of an operator must be at least 1, or -1 (that of the "
                       "input).");
    }
    sink.parallelism = parallelism < 0 ? 0 : static_cast<int>(parallelism);
  }
  return sink;
}

}  // namespace sluice::connectors::filesystem
