#include "connectors/filesystem/sink/sink_options.h"

#include <algorithm>

#include "common/nearest_name.h"
#include "common/text.h"
#include "connectors/filesystem/sink/partition_time.h"
#include "fs/file_system.h"

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
      {.key = "sink.sort-by-partition",
       .type = OptionType::kEnum,
       .default_text = "auto",
       .doc = "'true': rows wait, sorted by partition and beyond an eighth of the memory limit on "
              "disk, and each partition is written at once at the next checkpoint or the end; "
              "'false': each partition has an open file; 'auto': the first where batches hold so "
              "many partitions that each gets a few rows only.",
       .allowed = {"auto", "true", "false"}},
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
              "'false' keeps them open until a limit of size or time is reached. Default: true for "
              "csv and parquet, false for json and raw."},
      {.key = "sink.compression",
       .type = OptionType::kEnum,
       .default_text = "none",
       .doc = "How text files (csv, json, raw and the change formats) are compressed; their names "
              "then end in .gz, .deflate, .bz2, .xz or .zst. Containers have options of their own.",
       .allowed = {"none", "gzip", "deflate", "bzip2", "xz", "zstd"}},
      {.key = "sink.part-prefix",
       .type = OptionType::kString,
       .default_text = "part",
       .doc = "What the names of files begin with."},
      {.key = "sink.part-suffix",
       .type = OptionType::kString,
       .default_text = "",
       .doc = "What the names of files end with, as in '.parquet'; that of 'sink.compression' "
              "follows."},
      {.key = "auto-compaction",
       .type = OptionType::kBoolean,
       .default_text = "false",
       .doc = "Streaming: merge the files that the writers close at checkpoints into larger ones "
              "before anybody sees them."},
      {.key = "compaction.file-size",
       .type = OptionType::kMemorySize,
       .doc = "Target size of merged files; 'sink.rolling-policy.file-size' when absent."},
      {.key = "compaction.parallelism",
       .type = OptionType::kInt,
       .doc = "Merges that run at once; as many as writers when absent, COMPACT TABLE: as cores."},
      {.key = "compaction.scope",
       .type = OptionType::kEnum,
       .default_text = "checkpoint",
       .doc = "What is merged together: the files of one checkpoint, or all files of a partition "
              "when it is committed (nothing of it is visible before).",
       .allowed = {"checkpoint", "partition"}},
      {.key = "compaction.switch",
       .type = OptionType::kEnum,
       .default_text = "exchange",
       .doc = "How COMPACT TABLE puts merged files in place: in one step for every reader, or "
              "refused where the file system cannot; or, on object stores, by a journal that "
              "readers of Sluice honour, while others may see old and new rows for a moment.",
       .allowed = {"exchange", "journal"}},
      {.key = "compaction.max-bytes-per-second",
       .type = OptionType::kMemorySize,
       .doc = "Bytes that merging writes in a second, over all merges of a job into the table; not "
              "bounded when absent."},
      {.key = "sink.record.enabled",
       .type = OptionType::kBoolean,
       .default_text = "false",
       .doc = "Leave a line of JSON in the hidden directory _sluice for every checkpoint that "
              "published something: files, rows, source positions. 'sluice verify' proves from it "
              "that nothing is missing and nothing is there twice."},
      {.key = "sink.partition-commit.trigger",
       .type = OptionType::kEnum,
       .default_text = "process-time",
       .doc = "What decides that a partition is complete: the machine's clock, or the watermark "
              "against the time in the partition's name.",
       .allowed = {"process-time", "partition-time"}},
      {.key = "sink.partition-commit.early-checkpoint",
       .type = OptionType::kBoolean,
       .default_text = "true",
       .doc = "With the trigger partition-time: take a checkpoint as soon as the watermark has "
              "passed a partition's end and its delay, so that it is committed then and not with "
              "the next periodic one. One a second on average at most."},
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
       .doc =
           "What is done to commit a partition, a list with commas, in this order: success-file, "
           "custom (a shared library), command, http. Nothing is committed when absent."},
      {.key = "sink.partition-commit.policy.class",
       .type = OptionType::kString,
       .doc = "Shared library of the policy 'custom', built with sluice/partition_hooks.h."},
      {.key = "sink.partition-commit.policy.class.parameters",
       .type = OptionType::kList,
       .doc = "Parameters of the policy 'custom', a list with semicolons."},
      {.key = "sink.partition-commit.policy.command",
       .type = OptionType::kString,
       .doc = "Command of the policy 'command', run by /bin/sh with the partition as JSON on its "
              "standard input; exit code 0 means committed."},
      {.key = "sink.partition-commit.policy.http.url",
       .type = OptionType::kString,
       .doc = "Where the policy 'http' posts the partition as JSON; any 2xx means committed."},
      {.key = "sink.partition-commit.policy.http.headers",
       .type = OptionType::kList,
       .doc = "More headers of that request, e.g. 'Authorization: Bearer …', with semicolons."},
      {.key = "sink.partition-commit.policy.timeout",
       .type = OptionType::kDuration,
       .default_text = "60 s",
       .doc = "How long a command or an HTTP call may take."},
      {.key = "sink.partition-commit.success-file.name",
       .type = OptionType::kString,
       .default_text = "_SUCCESS",
       .doc = "Name of the file that the policy success-file writes."},
      {.key = "sink.partition-commit.success-file.content",
       .type = OptionType::kEnum,
       .default_text = "empty",
       .doc = "What that file holds: nothing, or rows, files and source positions as JSON.",
       .allowed = {"empty", "json"}},
      {.key = "sink.partition-commit.late-rows",
       .type = OptionType::kEnum,
       .default_text = "append",
       .doc =
           "Streaming: what becomes of rows for a partition that was committed already: they are "
           "appended and the partition is committed again, they are dropped and counted, or they "
           "go "
           "aside into another table's directory.",
       .allowed = {"append", "drop", "aside"}},
      {.key = "sink.partition-commit.late-rows.path",
       .type = OptionType::kString,
       .doc = "Directory of a table of the same columns, format and partitions that gets late rows "
              "with 'aside'."},
      {.key = "partition.time-extractor.kind",
       .type = OptionType::kString,
       .default_text = "default",
       .doc = "How the time of a partition is read from its values: default (pattern and "
              "formatter), custom (a shared library), command, http."},
      {.key = "partition.time-extractor.class",
       .type = OptionType::kString,
       .doc = "Shared library of the extractor 'custom', built with sluice/partition_hooks.h."},
      {.key = "partition.time-extractor.class.parameters",
       .type = OptionType::kList,
       .doc = "Parameters of the extractor 'custom', a list with semicolons."},
      {.key = "partition.time-extractor.command",
       .type = OptionType::kString,
       .doc = "Command of the extractor 'command': gets keys and values as JSON, prints a time as "
              "yyyy-MM-dd HH:mm:ss or nothing."},
      {.key = "partition.time-extractor.http.url",
       .type = OptionType::kString,
       .doc = "Where the extractor 'http' posts keys and values as JSON; the answer is such a time "
              "or empty."},
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
      policies.push_back(PolicyKind::kCustom);
    } else if (name == "command") {
      policies.push_back(PolicyKind::kCommand);
    } else if (name == "http") {
      policies.push_back(PolicyKind::kHttp);
    } else {
      const std::vector<std::string> known = {"metastore", "success-file", "custom", "command",
                                              "http"};
      return BadOption(kKey, *text,
                       "Unsupported policy: '" + name + "'. Known policies: " + Join(known, ", ") +
                           "." + DidYouMean(name, known));
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

std::vector<std::string> ReadList(const OptionReader& options, std::string_view key) {
  const std::optional<std::string> text = options.Text(key);
  return text ? SplitListOption(*text) : std::vector<std::string>();
}

Status NotChosen(std::string_view key, std::string_view kind_key, std::string_view kind) {
  return Status::InvalidArgument("Option '" + std::string(key) + "' belongs to '" +
                                 std::string(kind) + "', which option '" + std::string(kind_key) +
                                 "' does not name.");
}

/// A list that belongs to one kind of hook: refused without it.
Status ReadHookList(const OptionReader& options, std::string_view key, std::string_view kind_key,
                    std::string_view kind, bool chosen, std::vector<std::string>* value) {
  *value = ReadList(options, key);
  return chosen || value->empty() ? Status() : NotChosen(key, kind_key, kind);
}

/// An option that belongs to one kind of hook: needed with it, refused without it.
Status ReadHookPart(const OptionReader& options, std::string_view key, std::string_view kind_key,
                    std::string_view kind, bool chosen, std::string* value) {
  const std::optional<std::string> written = options.Text(key);
  if (chosen && (!written || TrimAscii(*written).empty())) {
    return Status::InvalidArgument("Option '" + std::string(kind_key) + "' names '" +
                                   std::string(kind) + "', which needs option '" +
                                   std::string(key) + "'.");
  }
  if (!chosen && written) return NotChosen(key, kind_key, kind);
  if (written) *value = std::string(TrimAscii(*written));
  return {};
}

Status CheckUrl(std::string_view key, const std::string& url) {
  if (url.empty() || url.starts_with("http://") || url.starts_with("https://")) return {};
  return BadOption(key, url, "It must begin with http:// or https://.");
}

Status ReadPolicyHook(const OptionReader& options, PartitionCommitOptions* commit) {
  constexpr std::string_view kKind = "sink.partition-commit.policy.kind";
  const auto has = [commit](PolicyKind kind) {
    return std::count(commit->policies.begin(), commit->policies.end(), kind) > 0;
  };
  HookOptions& hook = commit->policy_hook;
  SLUICE_RETURN_NOT_OK(ReadHookPart(options, "sink.partition-commit.policy.class", kKind, "custom",
                                    has(PolicyKind::kCustom), &hook.library));
  SLUICE_RETURN_NOT_OK(ReadHookPart(options, "sink.partition-commit.policy.command", kKind,
                                    "command", has(PolicyKind::kCommand), &hook.command));
  SLUICE_RETURN_NOT_OK(ReadHookPart(options, "sink.partition-commit.policy.http.url", kKind, "http",
                                    has(PolicyKind::kHttp), &hook.url));
  SLUICE_RETURN_NOT_OK(CheckUrl("sink.partition-commit.policy.http.url", hook.url));
  SLUICE_RETURN_NOT_OK(ReadHookList(options, "sink.partition-commit.policy.class.parameters", kKind,
                                    "custom", has(PolicyKind::kCustom), &hook.parameters));
  SLUICE_RETURN_NOT_OK(ReadHookList(options, "sink.partition-commit.policy.http.headers", kKind,
                                    "http", has(PolicyKind::kHttp), &hook.headers));
  for (const std::string& header : hook.headers) {
    if (header.find(':') != std::string::npos &&
        header.find_first_of("\r\n") == std::string::npos) {
      continue;
    }
    return BadOption("sink.partition-commit.policy.http.headers", header,
                     "A header is written 'Name: value'.");
  }
  SLUICE_ASSIGN_OR_RETURN(hook.timeout_ms,
                          options.DurationMillis("sink.partition-commit.policy.timeout"));
  return {};
}

Status ReadExtractor(const OptionReader& options, PartitionCommitOptions* commit) {
  constexpr std::string_view kKey = "partition.time-extractor.kind";
  // As in Flink the kind is compared case-sensitively.
  const std::string kind = options.Text(kKey).value_or("default");
  const std::vector<std::string> known = {"default", "custom", "command", "http"};
  if (kind == "custom") {
    commit->extractor = ExtractorKind::kCustom;
  } else if (kind == "command") {
    commit->extractor = ExtractorKind::kCommand;
  } else if (kind == "http") {
    commit->extractor = ExtractorKind::kHttp;
  } else if (kind != "default") {
    return BadOption(kKey, kind,
                     "Unsupported extractor kind: '" + kind + "'. Known kinds: " +
                         Join(known, ", ") + " (in lower case)." + DidYouMean(kind, known));
  }
  HookOptions& hook = commit->extractor_hook;
  hook.timeout_ms = commit->policy_hook.timeout_ms;
  SLUICE_RETURN_NOT_OK(ReadHookPart(options, "partition.time-extractor.class", kKey, "custom",
                                    kind == "custom", &hook.library));
  SLUICE_RETURN_NOT_OK(ReadHookPart(options, "partition.time-extractor.command", kKey, "command",
                                    kind == "command", &hook.command));
  SLUICE_RETURN_NOT_OK(ReadHookPart(options, "partition.time-extractor.http.url", kKey, "http",
                                    kind == "http", &hook.url));
  SLUICE_RETURN_NOT_OK(CheckUrl("partition.time-extractor.http.url", hook.url));
  return ReadHookList(options, "partition.time-extractor.class.parameters", kKey, "custom",
                      kind == "custom", &hook.parameters);
}

Result<PartitionCommitOptions> ReadCommit(const TableInfo& table, const OptionReader& options) {
  PartitionCommitOptions commit;
  SLUICE_ASSIGN_OR_RETURN(const std::string trigger, options.Enum("sink.partition-commit.trigger"));
  if (trigger == "partition-time") commit.trigger = TriggerKind::kPartitionTime;
  SLUICE_ASSIGN_OR_RETURN(commit.early_checkpoint,
                          options.Boolean("sink.partition-commit.early-checkpoint"));
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
  SLUICE_RETURN_NOT_OK(ReadPolicyHook(options, &commit));
  SLUICE_RETURN_NOT_OK(ReadExtractor(options, &commit));
  SLUICE_ASSIGN_OR_RETURN(const std::string content,
                          options.Enum("sink.partition-commit.success-file.content"));
  commit.success_file_json = content == "json";
  if (commit.success_file_json && !fs::IsHiddenName(commit.success_file_name)) {
    return BadOption("sink.partition-commit.success-file.name", commit.success_file_name,
                     "With 'sink.partition-commit.success-file.content' = 'json' it must begin "
                     "with '.' or '_': readers take every other file for rows of the table.");
  }
  SLUICE_ASSIGN_OR_RETURN(const std::string late, options.Enum("sink.partition-commit.late-rows"));
  if (late == "drop") commit.late_rows = LateRows::kDrop;
  if (late == "aside") commit.late_rows = LateRows::kAside;
  SLUICE_RETURN_NOT_OK(ReadHookPart(options, "sink.partition-commit.late-rows.path",
                                    "sink.partition-commit.late-rows", "aside", late == "aside",
                                    &commit.late_rows_path));
  if (late != "append" && commit.policies.empty()) {
    return BadOption("sink.partition-commit.late-rows", late,
                     "Rows are late for a partition that was committed, and this table commits "
                     "none. Set 'sink.partition-commit.policy.kind'.");
  }
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

Result<CompactionOptions> ReadCompaction(const OptionReader& options, int64_t rolling_bytes) {
  CompactionOptions compaction;
  SLUICE_ASSIGN_OR_RETURN(compaction.enabled, options.Boolean("auto-compaction"));
  SLUICE_ASSIGN_OR_RETURN(const std::string scope, options.Enum("compaction.scope"));
  if (scope == "partition") compaction.scope = CompactionScope::kPartition;
  SLUICE_ASSIGN_OR_RETURN(const std::string change, options.Enum("compaction.switch"));
  compaction.journal = change == "journal";
  if (options.Has("compaction.max-bytes-per-second")) {
    SLUICE_ASSIGN_OR_RETURN(compaction.max_bytes_per_second,
                            options.MemorySize("compaction.max-bytes-per-second"));
    if (compaction.max_bytes_per_second <= 0) {
      return BadOption("compaction.max-bytes-per-second", "0", "It must be larger than 0.");
    }
  }
  compaction.target_bytes = rolling_bytes;
  if (options.Has("compaction.file-size")) {
    SLUICE_ASSIGN_OR_RETURN(compaction.target_bytes, options.MemorySize("compaction.file-size"));
    if (compaction.target_bytes <= 0) {
      return BadOption("compaction.file-size", "0", "It must be larger than 0.");
    }
  }
  if (options.Has("compaction.parallelism")) {
    SLUICE_ASSIGN_OR_RETURN(const int64_t parallelism, options.Integer("compaction.parallelism"));
    if (parallelism < 1 || parallelism > 1'024) {
      return BadOption("compaction.parallelism", std::to_string(parallelism),
                       "It must be between 1 and 1024.");
    }
    compaction.parallelism = static_cast<int>(parallelism);
  }
  for (const std::string_view key : {"compaction.file-size", "compaction.parallelism",
                                     "compaction.scope", "compaction.max-bytes-per-second"}) {
    if (compaction.enabled || !options.Has(key)) continue;
    if (key != "compaction.scope") continue;  // COMPACT TABLE reads the others.
    return Status::InvalidArgument("Option '" + std::string(key) +
                                   "' has no effect without 'auto-compaction' = 'true'.");
  }
  return compaction;
}

Result<SortRows> ReadSortRows(const OptionReader& options) {
  SLUICE_ASSIGN_OR_RETURN(const std::string text, options.Enum("sink.sort-by-partition"));
  if (text == "true") return SortRows::kAlways;
  return text == "false" ? SortRows::kNever : SortRows::kAuto;
}

/// Names that the table itself and other systems read as those of data files.
Status ReadPartNames(const OptionReader& options, SinkOptions* sink) {
  sink->part_prefix = options.Text("sink.part-prefix").value_or("part");
  sink->part_suffix = options.Text("sink.part-suffix").value_or("");
  for (const auto& [key, text] : {std::pair("sink.part-prefix", sink->part_prefix),
                                  std::pair("sink.part-suffix", sink->part_suffix)}) {
    const bool bad = std::any_of(text.begin(), text.end(), [](char c) {
      return c == '/' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    });
    if (bad) return BadOption(key, text, "It must hold no '/' and no control characters.");
    // A hidden name has both, an id, a number and a tag, in 255 bytes.
    if (text.size() > 50) return BadOption(key, text, "It may have 50 bytes at most.");
  }
  const std::string& prefix = sink->part_prefix;
  if (prefix.empty() || fs::IsHiddenName(prefix)) {
    return BadOption("sink.part-prefix", prefix,
                     "Files whose names begin with '.' or '_' are hidden from every reader.");
  }
  for (const std::string_view own : {"compacted-", "uncompacted-"}) {
    if ((prefix + "-").starts_with(own)) {
      return BadOption("sink.part-prefix", prefix,
                       "Merged files are known by '" + std::string(own) + "'.");
    }
  }
  if (CompressionOf(sink->part_suffix) != Compression::kNone) {
    return BadOption(
        "sink.part-suffix", sink->part_suffix,
        "Files are decompressed by that ending. Set 'sink.compression', which adds it.");
  }
  return {};
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

  SLUICE_ASSIGN_OR_RETURN(const std::string compression, options.Enum("sink.compression"));
  sink.compression = CompressionOfName(compression).value_or(Compression::kNone);
  SLUICE_RETURN_NOT_OK(ReadPartNames(options, &sink));
  SLUICE_ASSIGN_OR_RETURN(sink.compaction, ReadCompaction(options, sink.rolling.file_size_bytes));
  SLUICE_ASSIGN_OR_RETURN(sink.commit, ReadCommit(table, options));
  SLUICE_ASSIGN_OR_RETURN(sink.shuffle_by_partition,
                          options.Boolean("sink.shuffle-by-partition.enable"));
  SLUICE_ASSIGN_OR_RETURN(sink.sort_rows, ReadSortRows(options));
  SLUICE_ASSIGN_OR_RETURN(sink.record, options.Boolean("sink.record.enabled"));
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
