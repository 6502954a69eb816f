// ALTER TABLE … ADD and DROP PARTITION, SHOW PARTITIONS. The partitions of a filesystem table are
// its directories: adding one makes the directory, dropping one removes it with its files.
#include <algorithm>
#include <set>

#include "common/nearest_name.h"
#include "common/text.h"
#include "connectors/filesystem/filesystem_connector.h"
#include "connectors/filesystem/partition/partition_path.h"
#include "connectors/filesystem/partition/partition_spellings.h"
#include "engine/definition/partition_spec.h"
#include "engine/definition/sink_states.h"
#include "engine/definition/state_folder.h"
#include "engine/definition/statements.h"
#include "sql/physical/table_access.h"

namespace sluice::engine {
namespace {

namespace filesystem = connectors::filesystem;

std::string DefaultName(const catalog::CatalogTable& table) {
  const auto written = table.options.find("partition.default-name");
  return written == table.options.end() ? std::string(filesystem::kDefaultPartitionName)
                                        : written->second;
}

Status NotPartitioned(const catalog::ObjectPath& path, const sql::SourceRange& range) {
  return Status::Validation("Table " + path.database + "." + path.object + " in catalog " +
                                path.catalog + " is not partitioned.",
                            range.begin);
}

/// The text a literal stands for in a directory name, as INSERT … PARTITION (k = literal) writes
/// it; nullopt is NULL.
std::optional<std::string> TextOf(const sql::Expr& value) {
  const auto& literal = value.As<sql::LiteralExpr>();
  if (literal.literal_kind == sql::LiteralKind::kNull) return std::nullopt;
  if (literal.literal_kind == sql::LiteralKind::kBoolean) return ToLowerAscii(literal.text);
  return literal.negative ? "-" + literal.text : literal.text;
}

/// "{a=1, b=2}" inside messages.
std::string SpecText(const sql::PartitionSpec& spec) {
  std::vector<std::string> parts;
  for (const sql::PartitionEntry& entry : spec) {
    parts.push_back(entry.name.name + "=" +
                    (entry.value ? TextOf(*entry.value).value_or("NULL") : std::string()));
  }
  return Join(parts, ", ");
}

struct Target {
  std::shared_ptr<fs::FileSystem> file_system;
  std::string directory;
  std::vector<std::string> existing;  // That, and what other programs have named otherwise.
};

Result<Target> Locate(const sql::PartitionToAdd& partition,
                      const catalog::CatalogManager::Found& found,
                      const connectors::ConnectorContext& context) {
  const catalog::CatalogTable& table = *found.table;
  SLUICE_ASSIGN_OR_RETURN(const SpecValues spec,
                          ReadPartitionSpec(partition.spec, table, found.path));
  std::vector<std::optional<std::string>> values;
  for (const auto& value : spec) {
    if (!value) {
      return Status::Validation("PartitionSpec CatalogPartitionSpec{{" + SpecText(partition.spec) +
                                    "}} does not match partition keys [" +
                                    Join(table.partition_keys, ", ") + "] of table " +
                                    found.path.database + "." + found.path.object + " in catalog " +
                                    found.path.catalog + ".",
                                partition.spec[0].name.range.begin);
    }
    values.push_back(*value);
  }
  const auto path = table.options.find("path");
  if (path == table.options.end()) {
    return Status::Validation("Table " + found.path.ToString() + " has no option 'path'.");
  }
  SLUICE_ASSIGN_OR_RETURN(fs::FileSystems::Located located,
                          connectors::FileSystemsOf(table.options, context)->Locate(path->second));
  Target target;
  target.directory = fs::JoinPath(
      located.path, filesystem::PartitionPath(table.partition_keys, values, DefaultName(table)));
  target.file_system = std::move(located.file_system);
  const Result<fs::FileInfo> info = target.file_system->Stat(target.directory);
  if (!info.ok() && info.status().code() != StatusCode::kNotFound) return info.status();
  if (info.ok() && info->is_directory) target.existing.push_back(target.directory);
  SLUICE_ASSIGN_OR_RETURN(
      const auto others,
      filesystem::FindOtherSpellings(*target.file_system, located.path, table.partition_keys,
                                     DefaultName(table), {values}));
  for (const filesystem::OtherSpelling& other : others) target.existing.push_back(other.path);
  return target;
}

std::string InCatalog(const sql::PartitionToAdd& partition, const catalog::ObjectPath& path) {
  return "Partition CatalogPartitionSpec{{" + SpecText(partition.spec) + "}} of table " +
         path.database + "." + path.object + " in catalog " + path.catalog;
}

}  // namespace

Result<SpecValues> ReadPartitionSpec(const sql::PartitionSpec& spec,
                                     const catalog::CatalogTable& table,
                                     const catalog::ObjectPath& path) {
  SpecValues values(table.partition_keys.size());
  for (const sql::PartitionEntry& entry : spec) {
    const auto& keys = table.partition_keys;
    const auto key = std::find(keys.begin(), keys.end(), entry.name.name);
    if (key == keys.end()) {
      return Status::Validation("'" + entry.name.name + "' is no partition key of table " +
                                    path.ToString() + ". Its keys are [" + Join(keys, ", ") + "]." +
                                    DidYouMean(entry.name.name, keys),
                                entry.name.range.begin);
    }
    auto& value = values[static_cast<size_t>(key - keys.begin())];
    if (value) {
      return Status::Validation("Partition key '" + entry.name.name + "' is given more than once.",
                                entry.name.range.begin);
    }
    if (entry.value == nullptr || entry.value->kind != sql::ExprKind::kLiteral) {
      return Status::Validation("Partition key '" + entry.name.name + "' needs a literal.",
                                entry.name.range.begin);
    }
    value = TextOf(*entry.value);
    // As directories and SHOW PARTITIONS name it: no text is both a value and the default name.
    if (value->value_or("").empty() || **value == DefaultName(table)) value->reset();
    const SqlType& type = table.columns[static_cast<size_t>(table.IndexOf(*key))].type;
    const Status fits = filesystem::PartitionValueFromText(type, *value).status();
    if (!fits.ok()) {
      return Status::Validation("Partition key '" + *key + "': " + fits.message(),
                                entry.value->range.begin);
    }
  }
  return values;
}

Status AlterPartitions(const sql::AlterTable& statement,
                       const catalog::CatalogManager::Found& found, const SessionState& state) {
  const bool adding = statement.action == sql::AlterTableKind::kAddPartitions;
  const catalog::CatalogTable& table = *found.table;
  if (table.partition_keys.empty()) return NotPartitioned(found.path, statement.table.range);
  const auto connector = table.options.find("connector");
  if (connector == table.options.end() || connector->second != "filesystem") {
    return Status::Unsupported(std::string(adding ? "ADD" : "DROP") +
                               " PARTITION is for tables of the connector 'filesystem': the "
                               "partitions of others are not "
                               "directories.")
        .At(statement.table.range.begin);
  }
  SLUICE_ASSIGN_OR_RETURN(const connectors::ConnectorContext context, state.MakeConnectorContext());
  // All are checked before the first is touched: a statement that fails has changed nothing.
  std::vector<Target> targets;
  for (const sql::PartitionToAdd& partition : statement.partitions) {
    const std::string what = "Could not execute ALTER TABLE " + found.path.ToString() +
                             (adding ? " ADD" : " DROP") + " PARTITION (" +
                             SpecText(partition.spec) + ")";
    if (!partition.options.empty()) {
      return Status::Unsupported(
                 "ADD PARTITION … WITH (…) is not supported yet: partitions have no options.")
          .At(partition.options[0].key_range.begin);
    }
    Result<Target> target = Locate(partition, found, context);
    if (!target.ok()) return Located(target.status(), statement.table.range).WithContext(what);
    if (!target->existing.empty() == adding) {
      if (statement.partition_if) continue;
      return Status::Validation(InCatalog(partition, found.path) +
                                    (adding ? " already exists." : " does not exist."),
                                partition.spec[0].name.range.begin)
          .WithContext(what);
    }
    targets.push_back(*std::move(target));
  }
  for (const Target& target : targets) {
    if (adding) SLUICE_RETURN_NOT_OK(target.file_system->CreateDirectories(target.directory));
    for (const std::string& directory : target.existing)
      SLUICE_RETURN_NOT_OK(target.file_system->DeleteTree(directory));
  }
  return {};
}

namespace {

/// The columns that tell how far the commit of a partition is, for tables that commit partitions.
class CommitColumns {
 public:
  CommitColumns(const catalog::CatalogManager::Found& found,
                const connectors::ConnectorContext& context, const SessionState& state)
      : info_(sql::MakeTableInfo(found.path, *found.table, found.table->options)),
        context_(context),
        status_(FindCommitStatus(StateFolder(state.configuration), found.path.ToString())) {
    const auto name = info_.options.find("sink.partition-commit.success-file.name");
    marker_ = name == info_.options.end() ? "_SUCCESS" : name->second;
  }

  /// state, rows that wait, visible files, what it waits for.
  Result<std::vector<std::optional<std::string>>> Of(const connectors::PartitionValues& values,
                                                     const std::string& default_name) const {
    SLUICE_ASSIGN_OR_RETURN(const auto located,
                            context_.file_systems->Locate(info_.options.at("path")));
    const std::string directory = fs::JoinPath(
        located.path, filesystem::PartitionPath(info_.partition_keys, values, default_name));
    int64_t files = 0;
    bool marked = false;
    auto entries = located.file_system->List(directory);
    if (entries.status().code() == StatusCode::kNotFound) {
      SLUICE_ASSIGN_OR_RETURN(const auto others, filesystem::FindOtherSpellings(
                                                     *located.file_system, located.path,
                                                     info_.partition_keys, default_name, {values}));
      if (!others.empty()) entries = located.file_system->List(others.front().path);
    }
    if (!entries.ok() && entries.status().code() != StatusCode::kNotFound) return entries.status();
    for (const fs::FileInfo& entry : entries.ok() ? *entries : std::vector<fs::FileInfo>()) {
      marked = marked || entry.name() == marker_;
      if (!fs::IsHiddenName(entry.name())) ++files;
    }
    const filesystem::PendingPartitions::Waiting* waiting = Find(values);
    if (waiting == nullptr) {
      return std::vector<std::optional<std::string>>{marked ? "committed" : "not committed",
                                                     std::nullopt, std::to_string(files),
                                                     std::nullopt};
    }
    SLUICE_ASSIGN_OR_RETURN(std::string why, filesystem::ExplainWaiting(info_, *status_, *waiting));
    return std::vector<std::optional<std::string>>{
        waiting->committed ? "committed, late rows wait" : "waiting",
        std::to_string(waiting->row_count), std::to_string(files), std::move(why)};
  }

  /// Those that a job keeps from view still.
  std::vector<connectors::PartitionValues> WaitingValues() const {
    std::vector<connectors::PartitionValues> values;
    if (!status_) return values;
    for (const auto& waiting : status_->waiting) {
      if (waiting.partition.values.size() == info_.partition_keys.size()) {
        values.push_back(waiting.partition.values);
      }
    }
    return values;
  }

 private:
  const filesystem::PendingPartitions::Waiting* Find(
      const connectors::PartitionValues& values) const {
    if (!status_) return nullptr;
    for (const auto& waiting : status_->waiting) {
      if (waiting.partition.values == values) return &waiting;
    }
    return nullptr;
  }

  const connectors::TableInfo info_;
  const connectors::ConnectorContext& context_;
  const std::optional<filesystem::CommitStatus> status_;
  std::string marker_;
};

}  // namespace

Result<TextTable> ShowPartitions(const sql::ShowStatement& statement, const SessionState& state) {
  SLUICE_ASSIGN_OR_RETURN(const catalog::CatalogManager::Found found,
                          FindObject(*statement.object, state, "Table '", "' doesn't exist."));
  const catalog::CatalogTable& table = *found.table;
  if (table.partition_keys.empty()) return NotPartitioned(found.path, statement.object->range);
  SLUICE_ASSIGN_OR_RETURN(const SpecValues wanted,
                          ReadPartitionSpec(statement.partition, table, found.path));
  SLUICE_ASSIGN_OR_RETURN(const connectors::ConnectorContext context, state.MakeConnectorContext());
  Result<std::unique_ptr<connectors::TableSource>> source =
      sql::OpenTableSource(found.path, table, table.options, context);
  if (!source.ok()) return Located(source.status(), statement.object->range);
  std::optional<CommitColumns> commit;
  const auto policy = table.options.find("sink.partition-commit.policy.kind");
  const auto connector = table.options.find("connector");
  if (policy != table.options.end() && connector != table.options.end() &&
      connector->second == "filesystem") {
    commit.emplace(found, context, state);
  }
  TextTable answer{{"partition name"}, {}};
  if (commit) {
    for (const char* name : {"state", "rows waiting", "files", "waits for"}) {
      answer.columns.emplace_back(name);
    }
  }
  Result<std::optional<std::vector<connectors::PartitionValues>>> partitions =
      (*source)->ListPartitions();
  // A table that was never written has no directory yet.
  if (!partitions.ok() && partitions.status().code() != StatusCode::kNotFound) {
    return Located(partitions.status(), statement.object->range);
  }
  std::set<connectors::PartitionValues> all;
  if (partitions.ok() && *partitions) all.insert((*partitions)->begin(), (*partitions)->end());
  if (commit) {
    for (connectors::PartitionValues& values : commit->WaitingValues()) {
      all.insert(std::move(values));
    }
  }
  const std::string default_name = DefaultName(table);
  for (const connectors::PartitionValues& values : all) {
    std::vector<std::string> parts;
    bool keep = true;
    for (size_t i = 0; i < values.size(); ++i) {
      keep = keep && (!wanted[i] || *wanted[i] == values[i]);
      parts.push_back(table.partition_keys[i] + "=" + values[i].value_or(default_name));
    }
    if (!keep) continue;
    answer.rows.push_back({Join(parts, "/")});
    if (!commit) continue;
    SLUICE_ASSIGN_OR_RETURN(auto columns, commit->Of(values, default_name));
    for (auto& column : columns) answer.rows.back().push_back(std::move(column));
  }
  std::sort(answer.rows.begin(), answer.rows.end());
  return answer;
}

}  // namespace sluice::engine
