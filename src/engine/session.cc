#include "engine/session.h"

#include <filesystem>

#include "common/clock.h"
#include "common/log.h"
#include "common/text.h"
#include "engine/definition/config_keys.h"
#include "engine/definition/definition.h"
#include "engine/job_settings.h"
#include "runtime/checkpoint/directory_lock.h"
#include "sql/binder/binder.h"
#include "sql/physical/changelog.h"
#include "sql/physical/explain.h"
#include "sql/physical/push_aggregates.h"
#include "sql/physical/scan_source.h"
#include "sql/physical/table_access.h"
#include "sql/rules/rules.h"

namespace sluice::engine {
namespace {

void ForEachScan(const sql::PlanPtr& plan, const std::function<void(sql::ScanNode*)>& visit) {
  if (sql::ScanNode* scan = plan->If<sql::ScanNode>()) visit(scan);
  for (const sql::PlanPtr& input : plan->inputs) ForEachScan(input, visit);
}

std::string SinkLine(const sql::InsertPlan& insert) {
  std::vector<std::string> names;
  for (const Column& column : insert.query->schema.columns()) names.push_back(column.name);
  return "Sink(table=[" + insert.path.ToString() + "], fields=[" + Join(names, ", ") + "])";
}

std::string JobName(const std::vector<sql::InsertPlan>& inserts) {
  std::vector<std::string> names;
  for (const sql::InsertPlan& insert : inserts) names.push_back(insert.path.ToString());
  return "insert-into_" + Join(names, ",");
}

}  // namespace

Result<std::unique_ptr<Session>> Session::Open(SessionOptions options) {
  std::unique_ptr<Session> session(new Session(std::move(options)));
  SessionState& state = session->state_;
  for (const auto& [key, value] : session->options_.configuration) {
    state.configuration[std::string(CanonicalKey(key))] = value;
  }
  SLUICE_RETURN_NOT_OK(ValidateConfiguration(state.configuration));
  state.initial_configuration = state.configuration;
  SLUICE_RETURN_NOT_OK(state.Streaming().status());
  SLUICE_RETURN_NOT_OK(state.SessionZone().status());
  return session;
}

Result<Outcome> Session::Execute(const sql::ParsedStatement& parsed) {
  const sql::Statement& statement = *parsed.statement;
  switch (statement.kind) {
    case sql::StatementKind::kQuery:
      return ExecuteQuery(statement.As<sql::QueryStatement>());
    case sql::StatementKind::kInsert:
      return ExecuteInserts({&statement});
    case sql::StatementKind::kStatementSet: {
      std::vector<const sql::Statement*> members;
      for (const sql::StatementPtr& member : statement.As<sql::StatementSet>().statements)
        members.push_back(member.get());
      if (members.empty()) return Outcome(TextTable::Ok());
      return ExecuteInserts(members);
    }
    case sql::StatementKind::kCreateTable:
      if (statement.As<sql::CreateTable>().query)
        return ExecuteCreateAs(statement.As<sql::CreateTable>());
      break;
    case sql::StatementKind::kExplain:
      return ExecuteExplain(statement.As<sql::ExplainStatement>());
    default:
      break;
  }
  if (!IsDefinition(statement)) {
    if (const sql::UnsupportedStatement* unsupported = statement.If<sql::UnsupportedStatement>()) {
      return Status::Unsupported(unsupported->feature + " is not supported.")
          .At(statement.range.begin);
    }
    return Status::Unsupported("This statement is not supported here.").At(statement.range.begin);
  }
  SLUICE_ASSIGN_OR_RETURN(TextTable table, ExecuteDefinition(statement, &state_));
  return Outcome(std::move(table));
}

Result<sql::PhysicalContext> Session::MakePhysicalContext() {
  sql::PhysicalContext context;
  SLUICE_ASSIGN_OR_RETURN(context.connector, state_.MakeConnectorContext());
  SLUICE_ASSIGN_OR_RETURN(context.eval, state_.MakeEvalContext());
  SLUICE_ASSIGN_OR_RETURN(context.parallelism, DefaultParallelism(state_.configuration));
  return context;
}

Status Session::Plan(std::vector<sql::PlanPtr*> queries) {
  SLUICE_ASSIGN_OR_RETURN(const sql::PhysicalContext context, MakePhysicalContext());
  const auto repeats = state_.configuration.find("table.exec.source.cdc-events-duplicate");
  const bool normalize =
      repeats != state_.configuration.end() && EqualsIgnoreCaseAscii(repeats->second, "true");
  for (sql::PlanPtr* query : queries) {
    ForEachScan(*query, [&](sql::ScanNode* scan) {
      scan->normalize = normalize && scan->table->primary_key.has_value();
    });
    SLUICE_ASSIGN_OR_RETURN(*query, sql::Optimize(*query, context.eval));
  }
  sql::ShareScans(queries);
  Status status;
  for (sql::PlanPtr* query : queries) {
    ForEachScan(*query, [&](sql::ScanNode* scan) {
      if (status.ok()) status = sql::PrepareScan(scan, context.connector, context.eval);
    });
    if (status.ok() && !context.connector.streaming) sql::PushAggregates(*query);
  }
  return status;
}

Result<Outcome> Session::ExecuteQuery(const sql::QueryStatement& statement) {
  SLUICE_ASSIGN_OR_RETURN(const sql::BindContext bind, state_.MakeBindContext());
  SLUICE_ASSIGN_OR_RETURN(sql::PlanPtr plan, sql::Binder(bind).BindQuery(*statement.query));
  SLUICE_RETURN_NOT_OK(Plan({&plan}));
  SLUICE_ASSIGN_OR_RETURN(const sql::PhysicalContext context, MakePhysicalContext());
  QueryResult result;
  result.schema = plan->schema;
  result.streaming = context.connector.streaming;
  result.kinds = sql::KindsOf(*plan, result.streaming);
  result.zone = context.connector.session_zone;
  result.rows = std::make_shared<runtime::ResultQueue>();
  sql::JobBuilder builder(context);
  SLUICE_RETURN_NOT_OK(builder.AddQuery(plan, result.rows));
  SLUICE_ASSIGN_OR_RETURN(
      runtime::JobSettings settings,
      MakeJobSettings(state_.configuration, {"query", ""}, result.streaming, false, false));
  SLUICE_ASSIGN_OR_RETURN(
      result.job,
      RunningJob::Start(builder.TakeGraph(), std::move(settings), options_.notice,
                        [queue = result.rows](const Status& status) { queue->Close(status); }));
  return Outcome(std::move(result));
}

Result<std::vector<sql::InsertPlan>> Session::BindInserts(
    const std::vector<const sql::Statement*>& statements) {
  SLUICE_ASSIGN_OR_RETURN(const sql::BindContext bind, state_.MakeBindContext());
  std::vector<sql::InsertPlan> inserts;
  for (const sql::Statement* statement : statements) {
    const sql::InsertStatement* insert = statement->If<sql::InsertStatement>();
    if (insert == nullptr) {
      return Status::Unsupported(
                 "CREATE TABLE AS inside a statement set is not supported yet: make the table "
                 "before it.")
          .At(statement->range.begin);
    }
    SLUICE_ASSIGN_OR_RETURN(sql::InsertPlan plan, sql::Binder(bind).BindInsert(*insert));
    inserts.push_back(std::move(plan));
  }
  return inserts;
}

Result<Outcome> Session::ExecuteInserts(const std::vector<const sql::Statement*>& statements) {
  SLUICE_ASSIGN_OR_RETURN(std::vector<sql::InsertPlan> inserts, BindInserts(statements));
  return RunInserts(std::move(inserts));
}

Result<Outcome> Session::ExecuteCreateAs(const sql::CreateTable& statement) {
  SLUICE_ASSIGN_OR_RETURN(const catalog::ObjectPath path, CreateTableForQuery(statement, &state_));
  SLUICE_ASSIGN_OR_RETURN(const sql::BindContext bind, state_.MakeBindContext());
  SLUICE_ASSIGN_OR_RETURN(const catalog::CatalogManager::Found found,
                          state_.catalogs.Get({path.catalog, path.database, path.object}));
  SLUICE_ASSIGN_OR_RETURN(sql::InsertPlan insert,
                          sql::Binder(bind).BindCtasInsert(statement, path, found.table));
  std::vector<sql::InsertPlan> inserts;
  inserts.push_back(std::move(insert));
  return RunInserts(std::move(inserts));
}

Result<Outcome> Session::RunInserts(std::vector<sql::InsertPlan> inserts) {
  std::vector<sql::PlanPtr*> queries;
  for (sql::InsertPlan& insert : inserts) queries.push_back(&insert.query);
  SLUICE_RETURN_NOT_OK(Plan(std::move(queries)));
  SLUICE_ASSIGN_OR_RETURN(const sql::PhysicalContext context, MakePhysicalContext());
  sql::JobBuilder builder(context);
  InsertResult result;
  result.bounded = true;
  for (const sql::InsertPlan& insert : inserts) {
    SLUICE_RETURN_NOT_OK(builder.AddInsert(insert));
    result.bounded = result.bounded && sql::IsBounded(*insert.query);
  }
  for (const std::string& warning : builder.warnings()) Log(LogLevel::kWarning, warning);

  std::string name = JobName(inserts);
  if (const int use = ++job_names_[name]; use > 1) name += "#" + std::to_string(use);
  const JobIdentity identity = IdentityOf(state_.configuration, options_.script_name, name);
  const bool streaming = context.connector.streaming;
  SLUICE_ASSIGN_OR_RETURN(runtime::JobSettings settings,
                          MakeJobSettings(state_.configuration, identity, streaming,
                                          builder.needs_checkpoints(), true));
  if (!state_.configuration.contains("execution.checkpointing.interval") &&
      settings.checkpoints.interval_ms && !result.bounded && options_.notice) {
    options_.notice("Job " + identity.name +
                    " takes a checkpoint every 60 s: files appear then. Set "
                    "'execution.checkpointing.interval' to change it.");
  }
  WarnOfUsedRecoveryPath(settings.checkpoints.restore_from);
  if (options_.fresh) {
    std::error_code ignored;
    // Never the state of a job that runs.
    std::unique_ptr<runtime::DirectoryLock> lock;
    if (std::filesystem::exists(identity.folder, ignored)) {
      SLUICE_ASSIGN_OR_RETURN(lock, runtime::DirectoryLock::Acquire(identity.folder));
    }
    if (options_.notice && std::filesystem::exists(identity.folder, ignored)) {
      options_.notice("Job " + identity.name +
                      " starts over and forgets its state. Files that earlier runs published stay: "
                      "rows that are read again are written again.");
    }
    std::filesystem::remove_all(identity.folder, ignored);
  }
  result.in_background = !result.bounded;
  if (state_.configuration.contains("table.dml-sync")) {
    SLUICE_ASSIGN_OR_RETURN(const bool waits,
                            ReadConfig(state_.configuration).Boolean("table.dml-sync"));
    result.in_background = !waits;
  }
  SLUICE_ASSIGN_OR_RETURN(result.job, RunningJob::Start(builder.TakeGraph(), std::move(settings),
                                                        options_.notice, nullptr));
  jobs_.Add(result.job, Clock::System().NowMillis());
  return Outcome(std::move(result));
}

// The key stays set until RESET, as Flink's does: a second INSERT would take the first one's state.
void Session::WarnOfUsedRecoveryPath(const std::string& path) {
  if (!path.empty() && path == used_recovery_path_) {
    Log(LogLevel::kWarning,
        "'execution.state-recovery.path' is still set to " + path +
            ", from which an earlier job of this session was started. RESET it before an INSERT "
            "that should begin without state.");
  }
  used_recovery_path_ = path;
}

Result<std::string> Session::ExplainInserts(std::vector<sql::InsertPlan> inserts,
                                            const sql::ExplainStatement& statement) {
  SLUICE_ASSIGN_OR_RETURN(const bool streaming, state_.Streaming());
  sql::ExplainOptions options;
  options.streaming = streaming;
  std::string text = "== Abstract Syntax Tree ==\n";
  for (const sql::InsertPlan& insert : inserts)
    text += sql::ExplainPlan(insert.query, "Logical" + SinkLine(insert), options) + "\n";
  std::vector<sql::PlanPtr*> queries;
  for (sql::InsertPlan& insert : inserts) queries.push_back(&insert.query);
  SLUICE_RETURN_NOT_OK(Plan(std::move(queries)));
  SLUICE_ASSIGN_OR_RETURN(const sql::PhysicalContext context, MakePhysicalContext());
  sql::JobBuilder builder(context);
  for (const sql::InsertPlan& insert : inserts) SLUICE_RETURN_NOT_OK(builder.AddInsert(insert));
  options.physical = true;
  for (const sql::ExplainDetail detail : statement.details) {
    options.changelog_mode = options.changelog_mode || detail == sql::ExplainDetail::kChangelogMode;
  }
  std::string physical;
  for (const sql::InsertPlan& insert : inserts)
    physical += sql::ExplainPlan(insert.query, SinkLine(insert), options) + "\n";
  options.changelog_mode = false;
  std::string execution;
  for (const sql::InsertPlan& insert : inserts)
    execution += sql::ExplainPlan(insert.query, SinkLine(insert), options);
  return text + "== Optimized Physical Plan ==\n" + physical + "== Optimized Execution Plan ==\n" +
         execution;
}

Result<Outcome> Session::ExecuteExplain(const sql::ExplainStatement& statement) {
  std::string text;
  if (const sql::QueryStatement* query = statement.statement->If<sql::QueryStatement>()) {
    SLUICE_ASSIGN_OR_RETURN(const sql::BindContext bind, state_.MakeBindContext());
    SLUICE_ASSIGN_OR_RETURN(sql::PlanPtr plan, sql::Binder(bind).BindQuery(*query->query));
    sql::ExplainOptions options;
    options.streaming = bind.streaming;
    text = "== Abstract Syntax Tree ==\n" + sql::ExplainPlan(plan, "", options) + "\n";
    SLUICE_RETURN_NOT_OK(Plan({&plan}));
    SLUICE_RETURN_NOT_OK(sql::CheckQueryPlan(*plan, bind.streaming));
    options.physical = true;
    for (const sql::ExplainDetail detail : statement.details) {
      options.changelog_mode =
          options.changelog_mode || detail == sql::ExplainDetail::kChangelogMode;
    }
    text += "== Optimized Physical Plan ==\n" + sql::ExplainPlan(plan, "", options) + "\n";
    options.changelog_mode = false;
    text += "== Optimized Execution Plan ==\n" + sql::ExplainPlan(plan, "", options);
  } else {
    std::vector<const sql::Statement*> members;
    if (const sql::StatementSet* set = statement.statement->If<sql::StatementSet>()) {
      for (const sql::StatementPtr& member : set->statements) members.push_back(member.get());
    } else {
      members.push_back(statement.statement.get());
    }
    SLUICE_ASSIGN_OR_RETURN(std::vector<sql::InsertPlan> inserts, BindInserts(members));
    SLUICE_ASSIGN_OR_RETURN(text, ExplainInserts(std::move(inserts), statement));
  }
  return Outcome(TextTable{{"result"}, {{text}}});
}

}  // namespace sluice::engine
