// COMPACT TABLE t [PARTITION (…)]: merges the small files of a table that lies still.
#include "engine/definition/compact_table.h"

#include <algorithm>

#include "common/text.h"
#include "connectors/filesystem/sink/table_compaction.h"
#include "engine/definition/partition_spec.h"
#include "engine/definition/statements.h"
#include "sql/physical/table_access.h"
#include "sql/syntax/parser.h"

namespace sluice::engine {
namespace {

namespace filesystem = connectors::filesystem;

/// The partitions that the statement names; one without values for a table without partitions.
Result<std::vector<connectors::PartitionValues>> FindPartitions(
    const sql::ShowStatement& statement, const catalog::CatalogManager::Found& found,
    const connectors::ConnectorContext& context) {
  const catalog::CatalogTable& table = *found.table;
  if (table.partition_keys.empty()) {
    if (statement.partition.empty()) return std::vector<connectors::PartitionValues>(1);
    return Status::Validation("Table " + found.path.ToString() + " is not partitioned.",
                              statement.object->range.begin);
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

constexpr std::string_view kStandIn = "SHOW PARTITIONS";

/// The first byte behind the two words.
size_t TargetOffset(const std::string& text) {
  const std::string upper = ToUpperAscii(text);
  return upper.find("TABLE", upper.find("COMPACT")) + std::string_view("TABLE").size();
}

/// What follows the two words is what follows SHOW PARTITIONS.
Result<sql::ParsedStatement> ParseTarget(const std::string& text) {
  return sql::ParseStatement(std::string(kStandIn) + text.substr(TargetOffset(text)));
}

/// Where a place of the text that ParseTarget parsed stands in the script.
SourcePosition InScript(const sql::UnsupportedStatement& written, SourcePosition parsed) {
  SourcePosition at = written.range.begin;
  for (const char c : std::string_view(written.text).substr(0, TargetOffset(written.text))) {
    if (c == '\n') {
      ++at.line;
      at.column = 1;
    } else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) {
      ++at.column;  // Columns count characters.
    }
  }
  if (parsed.line > 1) return {at.line + parsed.line - 1, parsed.column};
  at.column += std::max(0, parsed.column - 1 - static_cast<int>(kStandIn.size()));
  return at;
}

Result<TextTable> Execute(const sql::UnsupportedStatement& written, const SessionState& state) {
  SLUICE_ASSIGN_OR_RETURN(const sql::ParsedStatement parsed, ParseTarget(written.text));
  const auto& statement = parsed.statement->As<sql::ShowStatement>();
  SLUICE_ASSIGN_OR_RETURN(const catalog::CatalogManager::Found found,
                          FindObject(*statement.object, state, "Table '", "' doesn't exist."));
  const catalog::CatalogTable& table = *found.table;
  const auto connector = table.options.find("connector");
  if (connector == table.options.end() || connector->second != "filesystem") {
    return Status::Unsupported(
               "COMPACT TABLE merges the files of tables of the connector 'filesystem'.")
        .At(statement.object->range.begin);
  }
  SLUICE_ASSIGN_OR_RETURN(const connectors::ConnectorContext context, state.MakeConnectorContext());
  auto partitions = FindPartitions(statement, found, context);
  if (!partitions.ok()) {
    // A table that was never written has no directory yet.
    if (partitions.status().code() != StatusCode::kNotFound) {
      return Located(partitions.status(), statement.object->range);
    }
    partitions = std::vector<connectors::PartitionValues>();
  }
  const connectors::TableInfo info = sql::MakeTableInfo(found.path, table, table.options);
  auto compaction = filesystem::TableCompaction::Make(info, context);
  if (!compaction.ok()) return Located(compaction.status(), statement.object->range);

  TextTable answer{
      {"partition", "files before", "files after", "bytes before", "bytes after", "remark"}, {}};
  std::sort(partitions->begin(), partitions->end());
  for (const connectors::PartitionValues& values : *partitions) {
    auto result = (*compaction)->Compact(values);
    if (!result.ok()) return Located(result.status(), statement.object->range);
    answer.rows.push_back({result->partition, std::to_string(result->files_before),
                           std::to_string(result->files_after),
                           std::to_string(result->bytes_before),
                           std::to_string(result->bytes_after), result->remark});
  }
  return answer;
}

}  // namespace

bool IsCompactTable(const sql::UnsupportedStatement& statement) {
  return statement.feature == "COMPACT TABLE";
}

Result<TextTable> ExecuteCompactTable(const sql::UnsupportedStatement& written,
                                      const SessionState& state) {
  auto answer = Execute(written, state);
  if (answer.ok() || !answer.status().position().known()) return answer;
  const SourcePosition at = InScript(written, answer.status().position());
  return Status(answer.status()).At(at);
}

}  // namespace sluice::engine
