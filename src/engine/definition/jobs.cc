// SHOW JOBS, DESCRIBE JOB, STOP JOB: asked of the session's JobDirectory.
#include <algorithm>
#include <cctype>

#include "common/text.h"
#include "engine/definition/config_keys.h"
#include "engine/definition/statements.h"
#include "types/calendar.h"
#include "types/value_text.h"

namespace sluice::engine {
namespace {

std::vector<JobInfo> JobsOf(const SessionState& state) {
  return state.jobs == nullptr ? std::vector<JobInfo>() : state.jobs->ListJobs();
}

bool IsJobId(const std::string& id) {
  return id.size() == 32 &&
         std::all_of(id.begin(), id.end(), [](unsigned char c) { return std::isxdigit(c) != 0; });
}

/// By id or, for scripts that cannot know it, by the name of the newest job that has it.
Result<JobInfo> FindJob(const std::string& id, const SessionState& state) {
  if (!IsJobId(id)) {
    for (JobInfo& job : JobsOf(state)) {
      if (job.name == id) return std::move(job);
    }
    return Status::Validation("'" + id +
                              "' is no job id: 32 hex digits are expected, as SHOW JOBS lists "
                              "them, or the name of one of these jobs.");
  }
  for (JobInfo& job : JobsOf(state)) {
    if (EqualsIgnoreCaseAscii(job.id, id)) return std::move(job);
  }
  return Status::NotFound("Job " + id + " does not exist. SHOW JOBS lists those that do.");
}

/// "2026-11-30 09:58:08.311" on the session's wall clock.
std::string StartText(int64_t start_ms, const TimeZone& zone) {
  const int64_t local_ms = zone.InstantToLocalMillis(start_ms);
  std::string text;
  AppendTimestampText(FloorDiv(local_ms, 1'000),
                      static_cast<int32_t>(FloorMod(local_ms, 1'000) * 1'000'000), 3, &text);
  return text;
}

Result<TextTable> Rows(const std::vector<JobInfo>& jobs, const SessionState& state) {
  SLUICE_ASSIGN_OR_RETURN(const TimeZone zone, state.SessionZone());
  TextTable table{{"job id", "job name", "status", "start time"}, {}};
  for (const JobInfo& job : jobs)
    table.rows.push_back({job.id, job.name, job.status, StartText(job.start_ms, zone)});
  return table;
}

}  // namespace

Result<TextTable> ShowJobs(const SessionState& state) { return Rows(JobsOf(state), state); }

Result<TextTable> DescribeJob(const std::string& id, const SessionState& state) {
  SLUICE_ASSIGN_OR_RETURN(JobInfo job, FindJob(id, state));
  return Rows({std::move(job)}, state);
}

Result<TextTable> ExecuteStopJob(const sql::StopJobStatement& statement,
                                 const SessionState& state) {
  const Result<JobInfo> job = FindJob(statement.job_id, state);
  if (!job.ok()) return Located(job.status(), statement.range);
  if (!statement.with_savepoint) {
    if (statement.with_drain) {
      return Status::Validation("WITH DRAIN could only be used after WITH SAVEPOINT.",
                                statement.range.begin);
    }
    SLUICE_RETURN_NOT_OK(state.jobs->CancelJob(job->id));
    return TextTable::Ok();
  }
  const OptionReader config = ReadConfig(state.configuration);
  if (!config.Text("execution.checkpointing.savepoint-dir")) {
    return Status::Validation(
        "STOP JOB … WITH SAVEPOINT needs a place for the savepoint: SET "
        "'execution.checkpointing.savepoint-dir' = '…'.",
        statement.range.begin);
  }
  SLUICE_ASSIGN_OR_RETURN(std::string path,
                          state.jobs->StopJobWithSavepoint(job->id, statement.with_drain));
  return TextTable{{"savepoint path"}, {{std::move(path)}}};
}

}  // namespace sluice::engine
