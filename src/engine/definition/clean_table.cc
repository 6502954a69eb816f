// CLEAN TABLE t [OLDER THAN '…'] [DRY RUN]: removes what dead jobs have left in a table.
#include <algorithm>
#include <cstdio>

#include "common/clock.h"
#include "connectors/filesystem/sink/table_cleaning.h"
#include "engine/definition/sink_states.h"
#include "engine/definition/statements.h"
#include "sql/physical/table_access.h"

namespace sluice::engine {
namespace {

namespace filesystem = connectors::filesystem;

/// Longer than a file stays untouched by the default rolling rules (30 min), and than most stops of
/// a job whose state this machine does not see.
constexpr int64_t kMinAgeMs = 24 * 3'600'000;

std::string AgeText(int64_t age_ms) {
  const int64_t seconds = std::max<int64_t>(age_ms, 0) / 1000;
  char text[32];
  std::snprintf(text, sizeof(text), "%lldd %02lld:%02lld:%02lld",
                static_cast<long long>(seconds / 86'400),
                static_cast<long long>(seconds / 3'600 % 24),
                static_cast<long long>(seconds / 60 % 60), static_cast<long long>(seconds % 60));
  return text;
}

/// The table's root, and where it puts late rows.
std::vector<std::string> RootsOf(const OptionMap& options) {
  std::vector<std::string> roots = {options.at("path")};
  const auto aside = options.find("sink.partition-commit.late-rows.path");
  if (aside != options.end()) roots.push_back(aside->second);
  return roots;
}

}  // namespace

Result<TextTable> ExecuteCleanTable(const sql::CleanTableStatement& statement,
                                    const SessionState& state) {
  SLUICE_ASSIGN_OR_RETURN(const catalog::CatalogManager::Found found,
                          FindObject(statement.table, state, "Table '", "' doesn't exist."));
  const OptionMap& options = found.table->options;
  const auto connector = options.find("connector");
  if (connector == options.end() || connector->second != "filesystem" ||
      !options.contains("path")) {
    return Status::Unsupported(
               "CLEAN TABLE removes left-over files of tables of the connector 'filesystem'.")
        .At(statement.table.range.begin);
  }
  int64_t min_age_ms = kMinAgeMs;
  if (statement.older_than) {
    const auto parsed = ParseDurationMillis(*statement.older_than);
    if (!parsed.ok()) return Located(parsed.status(), statement.older_than_range);
    min_age_ms = *parsed;
  }
  SLUICE_ASSIGN_OR_RETURN(const connectors::ConnectorContext context, state.MakeConnectorContext());
  TextTable answer{{"kind", "path", "bytes", "age", "action", "why"}, {}};
  for (const std::string& uri : RootsOf(options)) {
    auto located = context.file_systems->Locate(uri);
    if (!located.ok()) return Located(located.status(), statement.table.range);
    fs::FileSystem& file_system = *located->file_system;
    auto leftovers = filesystem::ListLeftovers(file_system, located->path);
    if (!leftovers.ok()) return Located(leftovers.status(), statement.table.range);
    if (leftovers->empty()) continue;
    // Behind the listing: what a job begins from here on is not in the list.
    auto states = SurveyStates(state.configuration, file_system);
    if (!states.ok()) {
      return Located(std::move(states).status().WithContext(
                         "Nothing was removed: what a state names cannot be told."),
                     statement.table.range);
    }
    const int64_t now_ms = Clock::System().NowMillis();
    for (const filesystem::Leftover& leftover : *leftovers) {
      const filesystem::Verdict verdict = filesystem::Judge(leftover, *states, now_ms, min_age_ms);
      std::string action = "kept";
      if (verdict.remove && statement.dry_run) action = "would be removed";
      if (verdict.remove && !statement.dry_run) {
        const Status removed = filesystem::RemoveLeftover(file_system, leftover);
        action = removed.ok() ? "removed" : "not removed: " + removed.message();
      }
      answer.rows.push_back({std::string(filesystem::KindText(leftover.kind)), leftover.path,
                             std::to_string(leftover.size_bytes),
                             AgeText(now_ms - leftover.modified_ms), action, verdict.why});
    }
  }
  return answer;
}

}  // namespace sluice::engine
