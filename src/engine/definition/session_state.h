// What a session holds between statements.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "common/options.h"
#include "connectors/connector.h"
#include "expr/expr.h"
#include "sql/binder/binder.h"
#include "sql/physical/job_builder.h"

namespace sluice::engine {

/// Catalogs and configuration of one session. Not thread-safe: one statement at a time.
struct SessionState {
  catalog::CatalogManager catalogs;
  OptionMap configuration;          // What SET has changed, over the defaults of config_keys.h.
  OptionMap initial_configuration;  // -D and the like: what RESET goes back to.

  /// execution.runtime-mode; fails for unknown modes.
  Result<bool> Streaming() const;
  /// table.local-time-zone, the machine's when not set.
  Result<TimeZone> SessionZone() const;

  Result<sql::BindContext> MakeBindContext() const;
  Result<connectors::ConnectorContext> MakeConnectorContext() const;
  Result<expr::EvalContext> MakeEvalContext() const;
};

/// Rows of text: what DDL, SHOW, DESCRIBE and EXPLAIN answer. nullopt is NULL.
struct TextTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::optional<std::string>>> rows;
  /// The one-row answer of DDL: column `result`, `OK`.
  static TextTable Ok() { return {{"result"}, {{"OK"}}}; }
};

}  // namespace sluice::engine
