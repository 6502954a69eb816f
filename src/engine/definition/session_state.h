// What a session holds between statements.
#pragma once

#include <cstdint>
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

/// A job as SHOW JOBS lists it.
struct JobInfo {
  std::string id;  // 32 hex digits.
  std::string name;
  std::string status;  // "RUNNING", "FINISHED", …
  int64_t start_ms = 0;
};

/// The jobs that SHOW JOBS, DESCRIBE JOB and STOP JOB speak of; whoever runs jobs implements it.
class JobDirectory {
 public:
  virtual ~JobDirectory() = default;
  /// Newest first.
  virtual std::vector<JobInfo> ListJobs() = 0;
  virtual Status CancelJob(const std::string& id) = 0;
  /// Returns the path of the savepoint.
  virtual Result<std::string> StopJobWithSavepoint(const std::string& id, bool drain) = 0;
};

/// Catalogs and configuration of one session. Not thread-safe: one statement at a time.
struct SessionState {
  catalog::CatalogManager catalogs;
  OptionMap configuration;          // What SET has changed, over the defaults of config_keys.h.
  OptionMap initial_configuration;  // -D and the like: what RESET goes back to.
  JobDirectory* jobs = nullptr;     // Borrowed; null: there are no jobs to speak of.

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
