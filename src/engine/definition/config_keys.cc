#include "engine/definition/config_keys.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "common/log.h"
#include "common/nearest_name.h"
#include "common/text.h"
#include "types/time_zone.h"

namespace sluice::engine {
namespace {

/// A quarter of what this process may use: the container's limit when there is one, else the
/// machine's memory.
std::string DefaultMemoryLimit() {
  int64_t bytes =
      static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<int64_t>(sysconf(_SC_PAGE_SIZE));
  for (const char* file :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    std::string text;
    if (std::ifstream stream(file); stream >> text) {
      if (const std::optional<int64_t> limit = ParseInt64(text); limit && *limit > 0)
        bytes = std::min(bytes, *limit);
    }
  }
  constexpr int64_t kMiB = int64_t{1} << 20;
  return std::to_string(std::max<int64_t>(64, bytes / 4 / kMiB)) + " mb";
}

const std::string& MemoryLimitText() {
  static const std::string text = DefaultMemoryLimit();
  return text;
}

const std::string& ParallelismText() {
  static const std::string text = std::to_string(std::max(1u, std::thread::hardware_concurrency()));
  return text;
}

using enum OptionType;
using Specs = std::vector<OptionSpec>;

void AddExecutionKeys(Specs* specs) {
  const Specs keys = {
      {.key = "execution.runtime-mode",
       .type = kEnum,
       .default_text = "STREAMING",
       .doc =
           "Whether queries and inserts run over changing (STREAMING) or complete (BATCH) input.",
       .allowed = {"STREAMING", "BATCH", "AUTOMATIC"}},
      {.key = "parallelism.default",
       .type = kInt,
       .default_text = ParallelismText(),
       .doc = "Subtasks of each operator. Sluice's default is the number of cores (Flink's is 1)."},
      {.key = "table.exec.resource.default-parallelism",
       .type = kInt,
       .default_text = "-1",
       .doc = "Overrides parallelism.default for SQL; -1 leaves it."},
      {.key = "pipeline.name", .doc = "Name of the next jobs, until RESET."},
      {.key = "pipeline.max-parallelism",
       .type = kInt,
       .default_text = "-1",
       .doc = "Accepted without effect."},
      {.key = "pipeline.auto-watermark-interval",
       .type = kDuration,
       .default_text = "200 ms",
       .doc = "How often watermarks are sent; 0 sends one with every batch."},
      {.key = "pipeline.operator-chaining.enabled",
       .type = kBoolean,
       .default_text = "true",
       .doc = "Accepted without effect."},
      {.key = "pipeline.object-reuse",
       .type = kBoolean,
       .default_text = "false",
       .doc = "Accepted without effect."},
      {.key = "execution.buffer-timeout.*", .doc = "Accepted without effect."},
      {.key = "execution.batch-shuffle-mode", .doc = "Accepted without effect."},
      {.key = "execution.batch.*", .doc = "Accepted without effect."},
      {.key = "execution.target", .doc = "Accepted without effect."},
      {.key = "execution.attached",
       .type = kBoolean,
       .default_text = "true",
       .doc = "Accepted without effect."},
      {.key = "execution.shutdown-on-attached-exit",
       .type = kBoolean,
       .default_text = "false",
       .doc = "Accepted without effect."},
      {.key = "sluice.memory.limit",
       .type = kMemorySize,
       .default_text = MemoryLimitText(),
       .doc =
           "Memory that one job may use for buffers, writers and state; a quarter of the machine."},
      {.key = "sluice.sink.max-open-files",
       .type = OptionType::kInt,
       .default_text = "16384",
       .doc = "Part files that one subtask of a file sink keeps open at once; above it the least "
              "recently used "
              "is closed and another one started later."},
      {.key = "sluice.remove-abandoned",
       .type = kBoolean,
       .default_text = "false",
       .doc = "Remove files of a newer state after going back to an older one."},
      {.key = "sluice.rowtime-null",
       .type = kEnum,
       .default_text = "ignore",
       .doc = "What a NULL in a rowtime column does: the row passes and does not move the "
              "watermark, or the job fails.",
       .allowed = {"ignore", "fail"}},
  };
  specs->insert(specs->end(), keys.begin(), keys.end());
}

void AddCheckpointKeys(Specs* specs) {
  const Specs keys = {
      {.key = "execution.checkpointing.interval",
       .type = kDuration,
       .doc = "Time between checkpoints. Not set: 60 s when a sink needs them to publish."},
      {.key = "execution.checkpointing.mode",
       .type = kEnum,
       .default_text = "EXACTLY_ONCE",
       .doc = "Guarantee of checkpoints.",
       .allowed = {"EXACTLY_ONCE", "AT_LEAST_ONCE"}},
      {.key = "execution.checkpointing.dir",
       .doc = "Directory of checkpoints; not set: the user's state folder."},
      {.key = "execution.checkpointing.savepoint-dir", .doc = "Directory of savepoints."},
      {.key = "execution.checkpointing.timeout",
       .type = kDuration,
       .default_text = "10 min",
       .doc = "A checkpoint that takes longer is given up."},
      {.key = "execution.checkpointing.min-pause",
       .type = kDuration,
       .default_text = "0 ms",
       .doc = "Least time between the end of a checkpoint and the start of the next."},
      {.key = "execution.checkpointing.max-concurrent-checkpoints",
       .type = kInt,
       .default_text = "1",
       .doc = "Sluice always has one checkpoint in flight; more is accepted without effect."},
      {.key = "execution.checkpointing.tolerable-failed-checkpoints",
       .type = kInt,
       .default_text = "0",
       .doc = "Failed checkpoints in a row before the job fails."},
      {.key = "execution.checkpointing.externalized-checkpoint-retention",
       .type = kEnum,
       .default_text = "NO_EXTERNALIZED_CHECKPOINTS",
       .doc = "What happens to checkpoints when the job is cancelled.",
       .allowed = {"DELETE_ON_CANCELLATION", "RETAIN_ON_CANCELLATION",
                   "NO_EXTERNALIZED_CHECKPOINTS"}},
      {.key = "execution.checkpointing.num-retained",
       .type = kInt,
       .default_text = "1",
       .doc = "Complete checkpoints that are kept."},
      {.key = "execution.checkpointing.unaligned.enabled",
       .type = kBoolean,
       .default_text = "false",
       .doc = "Accepted without effect: barriers are always aligned."},
      {.key = "execution.checkpointing.incremental",
       .type = kBoolean,
       .default_text = "false",
       .doc = "Accepted without effect."},
      {.key = "execution.checkpointing.checkpoints-after-tasks-finish",
       .type = kBoolean,
       .default_text = "true",
       .doc = "Accepted without effect: finished tasks always answer barriers."},
      {.key = "execution.state-recovery.path",
       .doc = "Savepoint or checkpoint that the next jobs start from, until RESET."},
      {.key = "execution.state-recovery.ignore-unclaimed-state",
       .type = kBoolean,
       .default_text = "false",
       .doc = "Start even when the savepoint holds state that no operator takes."},
      {.key = "execution.state-recovery.claim-mode",
       .type = kEnum,
       .default_text = "NO_CLAIM",
       .doc = "Who owns the savepoint that a job starts from.",
       .allowed = {"CLAIM", "NO_CLAIM", "LEGACY"}},
      {.key = "state.backend.type", .default_text = "hashmap", .doc = "Accepted without effect."},
      {.key = "state.backend.*", .doc = "Accepted without effect."},
  };
  specs->insert(specs->end(), keys.begin(), keys.end());
}

void AddRestartKeys(Specs* specs) {
  const Specs keys = {
      {.key = "restart-strategy.type",
       .type = kEnum,
       .doc = "What happens after a failure. Not set: exponential-delay with checkpoints, none "
              "without.",
       .allowed = {"none", "off", "disable", "fixed-delay", "fixeddelay", "failure-rate",
                   "failurerate", "exponential-delay", "exponentialdelay"}},
      {.key = "restart-strategy.fixed-delay.attempts",
       .type = kInt,
       .default_text = "1",
       .doc = "Restarts before giving up."},
      {.key = "restart-strategy.fixed-delay.delay",
       .type = kDuration,
       .default_text = "1 s",
       .doc = "Pause before each restart."},
      {.key = "restart-strategy.exponential-delay.initial-backoff",
       .type = kDuration,
       .default_text = "1 s",
       .doc = "First pause."},
      {.key = "restart-strategy.exponential-delay.max-backoff",
       .type = kDuration,
       .default_text = "1 min",
       .doc = "Longest pause."},
      {.key = "restart-strategy.exponential-delay.backoff-multiplier",
       .type = kDouble,
       .default_text = "1.5",
       .doc = "Factor from one pause to the next."},
      {.key = "restart-strategy.exponential-delay.reset-backoff-threshold",
       .type = kDuration,
       .default_text = "1 h",
       .doc = "Time without failure after which the pause starts anew."},
      {.key = "restart-strategy.exponential-delay.jitter-factor",
       .type = kDouble,
       .default_text = "0.1",
       .doc = "Random part of the pause."},
      {.key = "restart-strategy.exponential-delay.attempts-before-reset-backoff",
       .type = kInt,
       .default_text = "2147483647",
       .doc = "Restarts before giving up."},
      {.key = "restart-strategy.failure-rate.max-failures-per-interval",
       .type = kInt,
       .default_text = "1",
       .doc = "Failures within the interval before giving up."},
      {.key = "restart-strategy.failure-rate.failure-rate-interval",
       .type = kDuration,
       .default_text = "1 min",
       .doc = "Interval in which failures are counted."},
      {.key = "restart-strategy.failure-rate.delay",
       .type = kDuration,
       .default_text = "1 s",
       .doc = "Pause before each restart."},
  };
  specs->insert(specs->end(), keys.begin(), keys.end());
}

void AddTableKeys(Specs* specs) {
  const Specs keys = {
      {.key = "table.local-time-zone", .doc = "Session time zone; not set: the machine's."},
      {.key = "table.dml-sync",
       .type = kBoolean,
       .default_text = "false",
       .doc = "INSERT waits until its job has ended."},
      {.key = "table.sql-dialect",
       .type = kEnum,
       .default_text = "default",
       .doc = "SQL dialect.",
       .allowed = {"default"}},
      {.key = "table.dynamic-table-options.enabled",
       .type = kBoolean,
       .default_text = "true",
       .doc = "Whether OPTIONS hints are allowed."},
      {.key = "table.exec.source.idle-timeout",
       .type = kDuration,
       .default_text = "0 ms",
       .doc = "A split without rows for so long no longer holds the watermark back; 0: never."},
      {.key = "table.exec.sink.not-null-enforcer",
       .type = kEnum,
       .default_text = "ERROR",
       .doc = "What a NULL for a NOT NULL column does.",
       .allowed = {"ERROR", "DROP"}},
      {.key = "table.exec.sink.type-length-enforcer",
       .type = kEnum,
       .default_text = "IGNORE",
       .doc = "Whether text and bytes are cut and padded to the length of their column.",
       .allowed = {"IGNORE", "TRIM_PAD", "ERROR"}},
      {.key = "table.exec.sink.nested-constraint-enforcer",
       .type = kEnum,
       .default_text = "IGNORE",
       .doc = "Whether constraints inside nested types are checked.",
       .allowed = {"IGNORE", "ERROR"}},
      {.key = "table.exec.sink.upsert-materialize",
       .type = kEnum,
       .default_text = "AUTO",
       .doc = "Accepted without effect.",
       .allowed = {"NONE", "AUTO", "FORCE"}},
      {.key = "table.exec.sink.keyed-shuffle",
       .type = kEnum,
       .default_text = "AUTO",
       .doc = "Accepted without effect.",
       .allowed = {"NONE", "AUTO", "FORCE"}},
      {.key = "table.exec.state.ttl",
       .type = kDuration,
       .default_text = "0 ms",
       .doc = "Idle state is dropped after it."},
      {.key = "table.exec.mini-batch.enabled",
       .type = kBoolean,
       .default_text = "false",
       .doc = "Whether updating aggregates answer per bundle."},
      {.key = "table.exec.mini-batch.allow-latency",
       .type = kDuration,
       .default_text = "0 ms",
       .doc = "Longest time a bundle is held."},
      {.key = "table.exec.mini-batch.size",
       .type = kLong,
       .default_text = "-1",
       .doc = "Most rows of a bundle."},
      {.key = "table.exec.legacy-cast-behaviour",
       .type = kEnum,
       .default_text = "DISABLED",
       .doc = "Only DISABLED has an effect.",
       .allowed = {"ENABLED", "DISABLED"}},
      {.key = "table.exec.source.cdc-events-duplicate",
       .type = kBoolean,
       .default_text = "false",
       .doc = "Whether change events may come twice: repeats are taken out by primary key."},
      {.key = "table.optimizer.reuse-sub-plan-enabled",
       .type = kBoolean,
       .default_text = "true",
       .doc = "Whether equal parts of a statement set run once."},
      {.key = "table.optimizer.agg-phase-strategy",
       .type = kEnum,
       .default_text = "AUTO",
       .doc = "Accepted without effect.",
       .allowed = {"AUTO", "TWO_PHASE", "ONE_PHASE"}},
      {.key = "table.optimizer.distinct-agg.split.enabled",
       .type = kBoolean,
       .default_text = "false",
       .doc = "Accepted without effect."},
      {.key = "table.optimizer.join-reorder-enabled",
       .type = kBoolean,
       .default_text = "false",
       .doc = "Accepted without effect."},
      {.key = "table.optimizer.source.report-statistics-enabled",
       .type = kBoolean,
       .default_text = "true",
       .doc = "Whether files may be asked for statistics: 'false' is 'source.report-statistics' = "
              "'NONE' for every table."},
      {.key = "table.rtas-ctas.atomicity-enabled",
       .type = kBoolean,
       .default_text = "false",
       .doc = "Accepted without effect: a failing CREATE TABLE AS leaves the table."},
      {.key = "table.builtin-catalog-name",
       .default_text = "default_catalog",
       .doc = "Name of the built-in catalog."},
      {.key = "table.builtin-database-name",
       .default_text = "default_database",
       .doc = "Name of its database."},
  };
  specs->insert(specs->end(), keys.begin(), keys.end());
}

void AddClientKeys(Specs* specs) {
  const Specs keys = {
      {.key = "table.display.max-column-width",
       .type = kInt,
       .default_text = "30",
       .doc = "Widest column of printed results."},
      {.key = "sql-client.execution.result-mode",
       .type = kEnum,
       .default_text = "TABLE",
       .doc = "How results are shown.",
       .allowed = {"TABLE", "CHANGELOG", "TABLEAU"}},
      {.key = "sql-client.execution.max-table-result.rows",
       .type = kInt,
       .default_text = "1000000",
       .doc = "Most rows of a result that are kept for viewing."},
      {.key = "sql-client.display.color-schema",
       .default_text = "DEFAULT",
       .doc = "Accepted without effect."},
      {.key = "sql-client.display.print-time-cost",
       .type = kBoolean,
       .default_text = "true",
       .doc = "Whether the time that a result took is printed."},
      {.key = "sql-client.verbose",
       .type = kBoolean,
       .default_text = "false",
       .doc = "Whether errors show every cause."},
      {.key = "rest.port",
       .type = kInt,
       .default_text = "8081",
       .doc = "Port of the web page and its API."},
      {.key = "rest.*", .doc = "Accepted without effect."},
      {.key = "jobmanager.*", .doc = "Accepted without effect: there is no job manager."},
      {.key = "taskmanager.*", .doc = "Accepted without effect: there is no task manager."},
      {.key = "sql-gateway.*", .doc = "Accepted without effect."},
      {.key = "classloader.*", .doc = "Accepted without effect."},
      {.key = "env.*", .doc = "Accepted without effect."},
      {.key = "io.tmp.dirs",
       .doc = "Directories for rows of file sinks that do not fit into memory until a checkpoint, "
              "separated by ',' or ':'; each writer takes one. Checked when a job starts. Default: "
              "TMPDIR, else /tmp."},
      {.key = "security.kerberos.login.contexts",
       .doc = "Logins that use the keytab below: KafkaClient for Kafka."},
      {.key = "security.kerberos.login.keytab", .doc = "Keytab of the process's Kerberos login."},
      {.key = "security.kerberos.login.principal", .doc = "Principal of that keytab."},
      {.key = "security.*", .doc = "Accepted without effect."},
      {.key = "metrics.*", .doc = "Accepted without effect."},
      {.key = "high-availability.*", .doc = "Accepted without effect."},
      {.key = "cluster.*", .doc = "Accepted without effect."},
      {.key = "web.*", .doc = "Accepted without effect."},
      {.key = "s3.*", .doc = "Access to S3, for every table."},
      {.key = "s3a.*", .doc = "The same as s3.*."},
      {.key = "oss.*", .doc = "Access to OSS, for every table."},
      {.key = "fs.*", .doc = "Access to file systems, for every table."},
      {.key = "$internal.*", .doc = "Accepted without effect."},
  };
  specs->insert(specs->end(), keys.begin(), keys.end());
}

struct OlderName {
  std::string_view older;
  std::string_view key;
};

constexpr std::array kOlderNames = {
    OlderName{"execution.buffer-timeout", "execution.buffer-timeout.interval"},
    OlderName{"execution.savepoint-restore-mode", "execution.state-recovery.claim-mode"},
    OlderName{"execution.savepoint.ignore-unclaimed-state",
              "execution.state-recovery.ignore-unclaimed-state"},
    OlderName{"execution.savepoint.path", "execution.state-recovery.path"},
    OlderName{"execution.checkpointing.externalized-checkpoint-retention.mode",
              "execution.checkpointing.externalized-checkpoint-retention"},
    OlderName{"execution.checkpointing.unaligned", "execution.checkpointing.unaligned.enabled"},
    OlderName{"restart-strategy", "restart-strategy.type"},
    OlderName{"state.backend", "state.backend.type"},
    OlderName{"state.backend.incremental", "execution.checkpointing.incremental"},
    OlderName{"state.checkpoints.dir", "execution.checkpointing.dir"},
    OlderName{"state.checkpoints.num-retained", "execution.checkpointing.num-retained"},
    OlderName{"state.savepoints.dir", "execution.checkpointing.savepoint-dir"},
    OlderName{"sql-client.execution.mode", "execution.runtime-mode"},
};

}  // namespace

std::span<const OptionSpec> ConfigKeys() {
  static const Specs specs = [] {
    Specs all;
    AddExecutionKeys(&all);
    AddCheckpointKeys(&all);
    AddRestartKeys(&all);
    AddTableKeys(&all);
    AddClientKeys(&all);
    return all;
  }();
  return specs;
}

std::string_view CanonicalKey(std::string_view key) {
  const auto* found = std::find_if(kOlderNames.begin(), kOlderNames.end(),
                                   [&](const OlderName& name) { return name.older == key; });
  return found == kOlderNames.end() ? key : found->key;
}

namespace {

const OptionSpec* FindKey(std::string_view key) {
  const OptionSpec* family = nullptr;
  for (const OptionSpec& spec : ConfigKeys()) {
    if (spec.key == key) return &spec;
    if (spec.key.ends_with('*') && key.starts_with(spec.key.substr(0, spec.key.size() - 1)))
      family = &spec;
  }
  return family;
}

void WarnUnknownKey(const std::string& key) {
  std::vector<std::string> known;
  for (const OptionSpec& spec : ConfigKeys()) {
    if (!spec.key.ends_with('*')) known.emplace_back(spec.key);
  }
  Log(LogLevel::kWarning, "The configuration key '" + key + "' is not known and has no effect." +
                              DidYouMean(key, known));
}

Status CheckZone(const std::string& name) {
  if (name == "default") return {};
  const Status status = TimeZone::Find(name).status();
  if (status.ok()) return {};
  return Status::InvalidArgument("Could not parse value '" + name +
                                 "' for key 'table.local-time-zone'. " + status.message());
}

}  // namespace

Status ValidateConfiguration(const OptionMap& configuration) {
  for (const auto& [key, value] : configuration) {
    if (FindKey(key) == nullptr) {
      WarnUnknownKey(key);
      continue;
    }
    Status status = ValidateOptions("the session", {{key, value}}, ConfigKeys());
    if (status.ok() && key == "table.local-time-zone") status = CheckZone(value);
    if (!status.ok()) {
      return std::move(status).WithContext("Failed to set key " + key + " with value " +
                                           MaskSecret(key, value) + ".");
    }
  }
  return {};
}

OptionReader ReadConfig(const OptionMap& configuration) {
  return OptionReader(configuration, ConfigKeys());
}

}  // namespace sluice::engine
