// A session: executes statements one after another and wires everything together: binder, rules,
// physical plan, runtime.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "common/options.h"
#include "engine/definition/session_state.h"
#include "engine/running_job.h"
#include "engine/session_jobs.h"
#include "runtime/operators/result_queue.h"
#include "sql/syntax/parser.h"
#include "types/batch.h"
#include "types/schema.h"

namespace sluice::engine {

struct SessionOptions {
  OptionMap configuration;  // -D.
  /// Names the script for job identity: its absolute path, or for text on the command line the text
  /// and the working directory.
  std::string script_name;
  /// Forget the state of earlier runs of the same jobs.
  bool fresh = false;
  /// Receives life-cycle lines ("Resuming job … from checkpoint 12").
  std::function<void(const std::string&)> notice;
};

/// A running query: rows come out of `rows` until it ends.
struct QueryResult {
  Schema schema;
  RowKindSet kinds;
  bool streaming = true;
  TimeZone zone;
  std::shared_ptr<runtime::ResultQueue> rows;
  std::shared_ptr<RunningJob> job;
};

/// A submitted INSERT or statement set.
struct InsertResult {
  std::shared_ptr<RunningJob> job;
  bool bounded = false;  // Ends by itself.
  /// The next statement does not wait for it: table.dml-sync = false, or an unbounded job where
  /// that is not set.
  bool in_background = false;
};

using Outcome = std::variant<TextTable, QueryResult, InsertResult>;

class Session {
 public:
  static Result<std::unique_ptr<Session>> Open(SessionOptions options);

  /// Runs DDL to its end; starts queries and INSERTs. Errors carry positions in the text that was
  /// parsed.
  Result<Outcome> Execute(const sql::ParsedStatement& statement);

  SessionState& state() { return state_; }

 private:
  explicit Session(SessionOptions options) : options_(std::move(options)) { state_.jobs = &jobs_; }

  struct PlannedInsert {
    sql::InsertPlan insert;
  };
  Result<Outcome> ExecuteQuery(const sql::QueryStatement& statement);
  Result<Outcome> ExecuteInserts(const std::vector<const sql::Statement*>& statements);
  Result<Outcome> ExecuteCreateAs(const sql::CreateTable& statement);
  Result<Outcome> ExecuteExplain(const sql::ExplainStatement& statement);
  Result<Outcome> RunInserts(std::vector<sql::InsertPlan> inserts);
  void WarnOfUsedRecoveryPath(const std::string& path);
  Result<std::string> ExplainInserts(std::vector<sql::InsertPlan> inserts,
                                     const sql::ExplainStatement& statement);
  Result<std::vector<sql::InsertPlan>> BindInserts(
      const std::vector<const sql::Statement*>& statements);
  /// Optimises the queries together, shares scans, prepares sources.
  Status Plan(std::vector<sql::PlanPtr*> queries);
  Result<sql::PhysicalContext> MakePhysicalContext();

  SessionOptions options_;
  SessionState state_;
  std::string used_recovery_path_;  // Of the last job that was started from a named folder.
  SessionJobs jobs_{&state_.configuration};
  std::map<std::string, int>
      job_names_;  // How often a job name was used: two INSERTs into one table are two jobs.
};

}  // namespace sluice::engine
