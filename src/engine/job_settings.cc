#include "engine/job_settings.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <thread>

#include "common/random.h"
#include "common/stable_hash.h"
#include "common/text.h"
#include "engine/definition/config_keys.h"
#include "engine/definition/state_folder.h"

namespace sluice::engine {
namespace {

std::string FolderName(const std::string& name, const std::string& key) {
  std::string safe;
  for (const char c : name) {
    const bool plain =
        std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '_';
    safe += plain ? c : '_';
  }
  if (safe.size() > 80) safe.resize(80);
  return safe + "-" + Hex16(Fnv1a(key));
}

int64_t MachineMemoryBytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGE_SIZE);
  return pages > 0 && page_bytes > 0 ? static_cast<int64_t>(pages) * page_bytes : int64_t{4} << 30;
}

Result<runtime::RestartSettings> Restarts(const OptionReader& config,
                                          const OptionMap& configuration, bool checkpoints) {
  runtime::RestartSettings restart;
  std::string kind = checkpoints ? "exponential-delay" : "none";
  if (configuration.contains("restart-strategy.type")) {
    SLUICE_ASSIGN_OR_RETURN(kind, config.Enum("restart-strategy.type"));
  }
  if (kind == "none" || kind == "off" || kind == "disable")
    restart.kind = runtime::RestartKind::kNone;
  if (kind == "fixed-delay" || kind == "fixeddelay")
    restart.kind = runtime::RestartKind::kFixedDelay;
  if (kind == "failure-rate" || kind == "failurerate")
    restart.kind = runtime::RestartKind::kFailureRate;
  SLUICE_ASSIGN_OR_RETURN(restart.attempts,
                          config.Integer("restart-strategy.fixed-delay.attempts"));
  SLUICE_ASSIGN_OR_RETURN(restart.delay_ms,
                          config.DurationMillis(restart.kind == runtime::RestartKind::kFailureRate
                                                    ? "restart-strategy.failure-rate.delay"
                                                    : "restart-strategy.fixed-delay.delay"));
  SLUICE_ASSIGN_OR_RETURN(
      restart.initial_backoff_ms,
      config.DurationMillis("restart-strategy.exponential-delay.initial-backoff"));
  SLUICE_ASSIGN_OR_RETURN(restart.max_backoff_ms,
                          config.DurationMillis("restart-strategy.exponential-delay.max-backoff"));
  SLUICE_ASSIGN_OR_RETURN(
      restart.reset_threshold_ms,
      config.DurationMillis("restart-strategy.exponential-delay.reset-backoff-threshold"));
  restart.backoff_multiplier = std::atof(
      config.Text("restart-strategy.exponential-delay.backoff-multiplier").value_or("1.5").c_str());
  restart.jitter_factor = std::atof(
      config.Text("restart-strategy.exponential-delay.jitter-factor").value_or("0.1").c_str());
  if (configuration.contains("restart-strategy.exponential-delay.attempts-before-reset-backoff")) {
    SLUICE_ASSIGN_OR_RETURN(
        restart.attempts_before_reset,
        config.Integer("restart-strategy.exponential-delay.attempts-before-reset-backoff"));
  }
  SLUICE_ASSIGN_OR_RETURN(
      restart.max_failures_per_interval,
      config.Integer("restart-strategy.failure-rate.max-failures-per-interval"));
  SLUICE_ASSIGN_OR_RETURN(
      restart.failure_rate_interval_ms,
      config.DurationMillis("restart-strategy.failure-rate.failure-rate-interval"));
  return restart;
}

}  // namespace

Result<int> DefaultParallelism(const OptionMap& configuration) {
  const OptionReader config = ReadConfig(configuration);
  for (const std::string_view key :
       {"table.exec.resource.default-parallelism", "parallelism.default"}) {
    if (!config.Has(key)) continue;
    SLUICE_ASSIGN_OR_RETURN(const int64_t value, config.Integer(key));
    if (value == -1) continue;
    if (value < 1 || value > 4096) {
      return Status::InvalidArgument("'" + std::string(key) + "' must be from 1 to 4096, but is " +
                                     std::to_string(value) + ".");
    }
    return static_cast<int>(value);
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

std::string CheckpointRoot(const OptionMap& configuration) { return StateFolder(configuration); }

JobIdentity IdentityOf(const OptionMap& configuration, const std::string& script_name,
                       const std::string& default_name) {
  JobIdentity identity;
  const auto named = configuration.find("pipeline.name");
  const bool has_name = named != configuration.end() && !named->second.empty();
  identity.name = has_name ? named->second : default_name;
  const std::string key =
      has_name ? "name\n" + named->second : "script\n" + script_name + "\n" + default_name;
  identity.folder = CheckpointRoot(configuration) + "/" + FolderName(identity.name, key);
  return identity;
}

Result<runtime::JobSettings> MakeJobSettings(const OptionMap& configuration,
                                             const JobIdentity& identity, bool streaming,
                                             bool needs_checkpoints, bool durable) {
  const OptionReader config = ReadConfig(configuration);
  runtime::JobSettings settings;
  settings.random_seed = Random::SystemSeed();
  Random random(settings.random_seed);
  char id[33];
  std::snprintf(id, sizeof(id), "%016llx%016llx", static_cast<unsigned long long>(random.Next()),
                static_cast<unsigned long long>(random.Next()));
  settings.job_id = id;
  settings.name = identity.name;
  settings.worker_threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  settings.memory_limit_bytes = MachineMemoryBytes() / 4;
  if (config.Has("sluice.memory.limit")) {
    SLUICE_ASSIGN_OR_RETURN(settings.memory_limit_bytes, config.MemorySize("sluice.memory.limit"));
  }
  runtime::CheckpointSettings& checkpoints = settings.checkpoints;
  if (config.Has("execution.checkpointing.interval") && streaming && durable) {
    SLUICE_ASSIGN_OR_RETURN(const int64_t interval,
                            config.DurationMillis("execution.checkpointing.interval"));
    if (interval < 10) {
      return Status::InvalidArgument(
          "Checkpoint interval must be larger than or equal to 10 ms, but "
          "'execution.checkpointing.interval' is " +
          std::to_string(interval) + " ms.");
    }
    checkpoints.interval_ms = interval;
  } else if (streaming && needs_checkpoints) {
    checkpoints.interval_ms = 60'000;
  }
  SLUICE_ASSIGN_OR_RETURN(checkpoints.timeout_ms,
                          config.DurationMillis("execution.checkpointing.timeout"));
  SLUICE_ASSIGN_OR_RETURN(checkpoints.min_pause_ms,
                          config.DurationMillis("execution.checkpointing.min-pause"));
  SLUICE_ASSIGN_OR_RETURN(checkpoints.tolerable_failures,
                          config.Integer("execution.checkpointing.tolerable-failed-checkpoints"));
  SLUICE_ASSIGN_OR_RETURN(checkpoints.retained,
                          config.Integer("execution.checkpointing.num-retained"));
  if (durable) {
    checkpoints.durable_directory = identity.folder;
    checkpoints.restore_from = config.Text("execution.state-recovery.path").value_or("");
    SLUICE_ASSIGN_OR_RETURN(checkpoints.allow_unclaimed_state,
                            config.Boolean("execution.state-recovery.ignore-unclaimed-state"));
  }
  SLUICE_ASSIGN_OR_RETURN(
      settings.restart,
      Restarts(config, configuration, durable && checkpoints.interval_ms.has_value()));
  return settings;
}

}  // namespace sluice::engine
