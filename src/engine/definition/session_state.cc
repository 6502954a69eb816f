#include "engine/definition/session_state.h"

#include "engine/definition/config_keys.h"
#include "fs/all_file_systems.h"

namespace sluice::engine {

Result<bool> SessionState::Streaming() const {
  SLUICE_ASSIGN_OR_RETURN(const std::string mode,
                          ReadConfig(configuration).Enum("execution.runtime-mode"));
  if (mode == "streaming") return true;
  if (mode == "batch") return false;
  return Status::Unsupported(
      "Unsupported mode 'AUTOMATIC' for 'execution.runtime-mode'. Only an explicit BATCH or "
      "STREAMING mode is supported in "
      "SQL.");
}

Result<TimeZone> SessionState::SessionZone() const {
  const std::optional<std::string> name = ReadConfig(configuration).Text("table.local-time-zone");
  // "default" is how Flink writes "the machine's".
  if (!name || *name == "default") return TimeZone::Local();
  Result<TimeZone> zone = TimeZone::Find(*name);
  if (!zone.ok())
    return zone.status().WithContext("Invalid value for option 'table.local-time-zone'.");
  return zone;
}

Result<sql::BindContext> SessionState::MakeBindContext() const {
  sql::BindContext context;
  context.catalogs = &catalogs;
  context.configuration = &configuration;
  SLUICE_ASSIGN_OR_RETURN(context.session_zone, SessionZone());
  SLUICE_ASSIGN_OR_RETURN(context.streaming, Streaming());
  SLUICE_ASSIGN_OR_RETURN(context.hints_enabled,
                          ReadConfig(configuration).Boolean("table.dynamic-table-options.enabled"));
  return context;
}

Result<connectors::ConnectorContext> SessionState::MakeConnectorContext() const {
  connectors::ConnectorContext context;
  SLUICE_ASSIGN_OR_RETURN(context.session_zone, SessionZone());
  SLUICE_ASSIGN_OR_RETURN(context.streaming, Streaming());
  context.configuration = &configuration;
  context.file_systems = &fs::FileSystemsFor(configuration);
  return context;
}

Result<expr::EvalContext> SessionState::MakeEvalContext() const {
  expr::EvalContext context;
  SLUICE_ASSIGN_OR_RETURN(context.session_zone, SessionZone());
  SLUICE_ASSIGN_OR_RETURN(const bool streaming, Streaming());
  if (!streaming) context.fixed_now_ms = context.clock->NowMillis();
  return context;
}

}  // namespace sluice::engine
