// COMPACT TABLE t [PARTITION (…)]: merges the small files of a table that lies still.
#include <algorithm>

#include "connectors/filesystem/sink/table_compaction.h"
#include "engine/definition/config_keys.h"
#include "engine/definition/partition_spec.h"
#include "engine/definition/statements.h"
#include "sql/physical/table_access.h"

namespace sluice::engine {
namespace {

namespace filesystem = connectors::filesystem;

/// The partitions that the statement names; one without values for a table without partitions.
Result<std::vector<connectors::PartitionValues>> FindPartitions(
    const sql::CompactTableStatement& statement, const catalog::CatalogManager::Found& found,
    const connectors::ConnectorContext& context) {
  const catalog::CatalogTable& table = *found.table;
  if (table.partition_keys.empty()) {
    if (statement.partition.empty()) return std::vector<connectors::PartitionValues>(1);
    return Status::Validation("Table " + found.path.ToString() + " is not partitioned.",
                              statement.table.range.begin);
  }
  SLUICE_ASSIGN_OR_RETURN(const SpecValues wanted,
                          ReadPartitionSpec(statement.partition, table, found.path));
  SLUICE_ASSIGN_OR_RETURN(const auto source,
                          sql::OpenTableSource(found.path, table, table.options, context));
  SLUICE_ASSIGN_OR_RETURN(const auto partitions, source->ListPartitions());
  std::vector<connectors::PartitionValues> kept;
  if (!partitions) return kept;
  for (const connectors::PartitionValues& values : *partitions) {
    bool keep = true;
    for (size_t i = 0; i < values.size(); ++i)
      keep = keep && (!wanted[i] || *wanted[i] == values[i]);
    if (keep) kept.push_back(values);
  }
  return kept;
}

}  // namespace

Result<TextTable> ExecuteCompactTable(const sql::CompactTableStatement& statement,
                                      const SessionState& state) {
  SLUICE_ASSIGN_OR_RETURN(const catalog::CatalogManager::Found found,
                          FindObject(statement.table, state, "Table '", "' doesn't exist."));
  const catalog::CatalogTable& table = *found.table;
  const auto connector = table.options.find("connector");
  if (connector == table.options.end() || connector->second != "filesystem") {
    return Status::Unsupported(
               "COMPACT TABLE merges the files of tables of the connector 'filesystem'.")
        .At(statement.table.range.begin);
  }
  SLUICE_ASSIGN_OR_RETURN(const connectors::ConnectorContext context, state.MakeConnectorContext());
  auto partitions = FindPartitions(statement, found, context);
  if (!partitions.ok()) {
    // A table that was never written has no directory yet.
    if (partitions.status().code() != StatusCode::kNotFound) {
      return Located(partitions.status(), statement.table.range);
    }
    partitions = std::vector<connectors::PartitionValues>();
  }
  if (partitions->empty() && !statement.partition.empty()) {
    return Status::Validation("Table " + found.path.ToString() +
                                  " has no such partition. SHOW PARTITIONS lists those it has.",
                              statement.partition[0].name.range.begin);
  }
  const connectors::TableInfo info = sql::MakeTableInfo(found.path, table, table.options);
  SLUICE_ASSIGN_OR_RETURN(const int64_t memory_bytes,
                          ReadConfig(state.configuration).MemorySize("sluice.memory.limit"));
  auto compaction = filesystem::TableCompaction::Make(info, context, memory_bytes);
  if (!compaction.ok()) return Located(compaction.status(), statement.table.range);

  TextTable answer{
      {"partition", "files before", "files after", "bytes before", "bytes after", "remark"}, {}};
  std::sort(partitions->begin(), partitions->end());
  const auto results = (*compaction)->CompactAll(*partitions);
  if (!results.ok()) return Located(results.status(), statement.table.range);
  for (const filesystem::CompactedPartition& result : *results) {
    answer.rows.push_back({result.partition, std::to_string(result.files_before),
                           std::to_string(result.files_after), std::to_string(result.bytes_before),
                           std::to_string(result.bytes_after), result.remark});
  }
  return answer;
}

}  // namespace sluice::engine
