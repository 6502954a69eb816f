// SET and RESET.
#include "common/log.h"
#include "engine/definition/config_keys.h"
#include "engine/definition/statements.h"

namespace sluice::engine {
namespace {

/// Keys whose value reaches further than a reader of the script expects (sql.md §3.10).
void WarnLasting(const std::string& key, const std::string& value) {
  if (key == "execution.state-recovery.path" && !value.empty()) {
    Log(LogLevel::kWarning, "Every later INSERT of this session starts from " + value +
                                " until RESET 'execution.state-recovery.path'.");
  }
}

}  // namespace

Result<TextTable> ExecuteSet(const sql::SetStatement& statement, SessionState* state) {
  if (!statement.key) {
    TextTable table{{"key", "value"}, {}};
    for (const auto& [key, value] : state->configuration)
      table.rows.push_back({key, MaskSecret(key, value)});
    return table;
  }
  const std::string key(CanonicalKey(*statement.key));
  if (key != *statement.key) {
    Log(LogLevel::kInfo,
        "The configuration key '" + *statement.key + "' is now called '" + key + "'.");
  }
  if (key == "table.sql-dialect" && statement.value != "default") {
    return Status::Unsupported("The SQL dialect '" + statement.value +
                               "' is not supported yet: only 'default' is.")
        .At(statement.value_range.begin);
  }
  const Status status = ValidateConfiguration({{key, statement.value}});
  if (!status.ok()) return Located(status, statement.value_range);
  state->configuration[key] = statement.value;
  WarnLasting(key, statement.value);
  return TextTable::Ok();
}

Status ExecuteReset(const sql::ResetStatement& statement, SessionState* state) {
  if (!statement.key) {
    state->configuration = state->initial_configuration;
    return {};
  }
  const std::string key(CanonicalKey(*statement.key));
  state->configuration.erase(key);
  if (const auto initial = state->initial_configuration.find(key);
      initial != state->initial_configuration.end()) {
    state->configuration[key] = initial->second;
  }
  return {};
}

}  // namespace sluice::engine
