#include "oracle.h"

#include <map>
#include <set>

#include <arrow/array/array_binary.h>
#include <arrow/array/array_primitive.h>
#include <arrow/io/memory.h>

#include "common/text.h"
#include "formats/parquet/parquet_format.h"

namespace sluice::sim {
namespace {

struct Seen {
  std::map<int64_t, std::string> file_of;  // By id.
  std::set<std::string> committed;         // Partitions with a marker.
  std::string problem;
};

/// The rows of a Parquet file as the csv lines they would be; a problem in the first line.
std::string LinesOfParquet(const Scenario& scenario, const std::string& content) {
  formats::ReadSchema schema{RowSchema(), {0, 1}};
  if (scenario.partitioned) {
    schema.physical = schema.physical.Select({0, 1});
  } else {
    schema.projection = {0, 1, 2, 3};
  }
  const auto file = formats::kParquetFormat.open_bulk_file(
      {{}, "parquet."}, schema,
      std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(content)), {});
  if (!file.ok()) return file.status().message() + "\n";
  std::string lines;
  for (int part = 0; part < (*file)->part_count(); ++part) {
    const auto rows = (*file)->ReadPart(part);
    if (!rows.ok()) return rows.status().message() + "\n";
    while (true) {
      const auto batch = (*rows)->Next();
      if (!batch.ok()) return batch.status().message() + "\n";
      if (!*batch) break;
      for (int64_t row = 0; row < (*batch)->row_count(); ++row) {
        const auto& ids = static_cast<const arrow::Int64Array&>(*(*batch)->column(0));
        lines += std::to_string(ids.Value(row));
        for (size_t i = 1; i < schema.projection.size(); ++i) {
          const auto column = (*batch)->column(static_cast<int>(i));
          lines += "," + static_cast<const arrow::StringArray&>(*column).GetString(row);
        }
        lines += "\n";
      }
    }
  }
  return lines;
}

/// A published file never changes: it is read once.
const std::string& TextOf(const Scenario& scenario, const std::string& path,
                          const std::string& content) {
  if (scenario.form != Scenario::Form::kParquet) return content;
  static std::map<std::pair<std::string, size_t>, std::string> known;
  if (known.size() > 20'000) known.clear();
  const auto [entry, fresh] = known.try_emplace({path, content.size()});
  if (fresh) entry->second = LinesOfParquet(scenario, content);
  return entry->second;
}

// The id of a line that is exactly what was written for that id; -1 for anything else.
int64_t IdOfLine(const Scenario& scenario, std::string_view line) {
  const bool json = scenario.form == Scenario::Form::kJson;
  const std::string_view prefix = json ? "{\"id\":" : "";
  if (!line.starts_with(prefix)) return -1;
  const std::string_view digits = line.substr(prefix.size(), line.find(',') - prefix.size());
  const std::optional<int64_t> id = ParseInt64(digits);
  if (!id || *id < 0 || *id >= scenario.source.row_count) return -1;
  const std::string partition = PartitionOf(*id, scenario.source.row_step_ms);
  const std::string day = partition.substr(3, 10);
  const std::string hour = partition.substr(19);
  std::string expected;
  if (json) {
    expected = "{\"id\":" + std::to_string(*id) + ",\"payload\":\"" + PayloadOf(*id) + "\"";
    if (!scenario.partitioned) expected += ",\"dt\":\"" + day + "\",\"hour\":\"" + hour + "\"";
    expected += "}";
  } else {
    expected = std::to_string(*id) + "," + PayloadOf(*id);
    if (!scenario.partitioned) expected += "," + day + "," + hour;
  }
  return line == expected ? *id : -1;
}

void ReadFile(const Scenario& scenario, const std::string& path, const std::string& bytes,
              Seen* seen) {
  const std::string& content = TextOf(scenario, path, bytes);
  const std::string inner = path.substr(std::string(kTableRoot).size() + 1);
  const std::string folder = inner.substr(0, inner.find_last_of('/') + 1);
  if (content.empty()) seen->problem = "empty file " + path;
  if (!content.empty() && content.back() != '\n') seen->problem = "cut file " + path;
  for (const std::string_view line : Split(content, '\n')) {
    if (line.empty()) continue;
    const int64_t id = IdOfLine(scenario, line);
    if (id < 0) {
      seen->problem = "line \"" + std::string(line) + "\" of " + path;
      continue;
    }
    const auto [first, fresh] = seen->file_of.emplace(id, path);
    if (!fresh) {
      seen->problem = "row " + std::to_string(id) + " twice: " + first->second + ", " + path;
    }
    const std::string partition = PartitionOf(id, scenario.source.row_step_ms) + "/";
    if (scenario.partitioned && folder != partition) {
      seen->problem = "row " + std::to_string(id) + " in " + path;
    }
  }
}

Seen Look(const Scenario& scenario, const fs::FaultyDisk& disk) {
  Seen seen;
  for (const auto& [path, content] : disk.VisibleFiles(kTableRoot)) {
    ReadFile(scenario, path, content, &seen);
  }
  const std::string marker = "/_SUCCESS";
  for (const auto& [path, content] : disk.AllFiles(kTableRoot)) {
    if (!path.ends_with(marker)) continue;
    const size_t begin = std::string(kTableRoot).size() + 1;
    seen.committed.insert(path.substr(begin, path.size() - begin - marker.size()));
  }
  return seen;
}

}  // namespace

std::string CheckVisible(const Scenario& scenario, const fs::FaultyDisk& disk) {
  const Seen seen = Look(scenario, disk);
  if (!seen.problem.empty() || !scenario.event_time_commit) return seen.problem;
  for (int64_t id = 0; id < scenario.source.row_count; ++id) {
    const std::string partition = PartitionOf(id, scenario.source.row_step_ms);
    if (seen.committed.contains(partition) && !seen.file_of.contains(id)) {
      return partition + " has _SUCCESS but not row " + std::to_string(id);
    }
  }
  return {};
}

std::string CheckEnd(const Scenario& scenario, const fs::FaultyDisk& disk, bool disk_was_well) {
  const Seen seen = Look(scenario, disk);
  if (!seen.problem.empty()) return seen.problem;
  const bool commits = scenario.table_options.contains("sink.partition-commit.policy.kind");
  for (int64_t id = 0; id < scenario.source.row_count; ++id) {
    if (!seen.file_of.contains(id)) return "row " + std::to_string(id) + " is lost";
    const std::string partition = PartitionOf(id, scenario.source.row_step_ms);
    if (commits && !seen.committed.contains(partition)) return partition + " has no _SUCCESS";
  }
  for (const auto& [path, content] : disk.AllFiles(kTableRoot)) {
    // Open: after a power loss a raw file that was merged may stay (docs/status.md).
    const bool raw = path.find("/.uncompacted-") != std::string::npos;
    const bool hidden = path.find("/.") != std::string::npos && !raw;
    if (hidden && disk_was_well) return "left behind: " + path;
  }
  for (const auto& [path, content] : disk.AllFiles(kStateFolder)) {
    if (path.ends_with("/_metadata")) return "a checkpoint is left behind: " + path;
    if (disk_was_well) return "left behind in the state: " + path;
  }
  return {};
}

}  // namespace sluice::sim
