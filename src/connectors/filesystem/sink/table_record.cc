#include "connectors/filesystem/sink/table_record.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include <arrow/buffer.h>
#include <nlohmann/json.hpp>

#include "common/text.h"
#include "connectors/filesystem/sink/record_order.h"
#include "connectors/filesystem/sink/sink_names.h"
#include "fs/if_there.h"

namespace sluice::connectors::filesystem {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
constexpr std::string_view kSuffix = ".jsonl";

Json ToJson(const RecordedFile& file) {
  return {{"name", file.name}, {"rows", file.row_count}, {"bytes", file.size_bytes}};
}

RecordedFile FileOf(const Json& json) {
  return {json.at("name").get<std::string>(), json.at("rows").get<int64_t>(),
          json.at("bytes").get<int64_t>()};
}

TableRecord RecordOf(const Json& json) {
  if (json.at("sluice_record").get<int>() != kVersion) {
    throw std::runtime_error("it has a version that this program does not know");
  }
  TableRecord record;
  record.writer = json.at("writer").get<std::string>();
  record.lineage = json.at("sink").get<std::string>();
  record.format = json.at("format").get<std::string>();
  record.branch = json.value("branch", int64_t{0});  // Not in the first records there were.
  record.checkpoint = json.at("checkpoint").get<int64_t>();
  record.previous = json.at("previous").get<int64_t>();
  record.previous_branch = json.value("previous_branch", int64_t{0});
  record.since = json.at("since").get<int64_t>();
  record.final = json.at("final").get<bool>();
  record.open_files = json.at("open_files").get<int64_t>();
  record.time_ms = json.at("time_ms").get<int64_t>();
  record.from = json.at("from").get<std::map<std::string, int64_t>>();
  record.to = json.at("to").get<std::map<std::string, int64_t>>();
  for (const Json& file : json.at("files")) record.files.push_back(FileOf(file));
  for (const Json& merge : json.at("merged")) {
    record.merged.push_back({FileOf(merge), merge.at("inputs").get<std::vector<std::string>>()});
  }
  record.committed = json.at("committed").get<std::vector<std::string>>();
  record.marker = json.at("marker").get<std::string>();
  record.replaced = json.at("replaced").get<std::vector<std::string>>();
  return record;
}

/// Adds those of `more` that are missing.
void Unite(const std::vector<std::string>& more, std::vector<std::string>* all) {
  for (const std::string& name : more) {
    if (std::find(all->begin(), all->end(), name) == all->end()) all->push_back(name);
  }
}

/// In the order of checkpoints, for one sink.
std::string BeginOfName(const std::string& lineage, int64_t checkpoint) {
  char number[32];
  std::snprintf(number, sizeof(number), "-%012lld", static_cast<long long>(checkpoint));
  return lineage + number;
}

/// See WriteFirstRecord(). Reads no file before the record's `previous`.
Result<int64_t> BranchOf(fs::FileSystem& file_system, const std::vector<fs::FileInfo>& entries,
                         const TableRecord& record) {
  const std::string previous = BeginOfName(record.lineage, record.previous);
  int64_t branch = record.branch;
  bool behind = false;
  for (const fs::FileInfo& entry : entries) {
    // Files are named for the last record in them.
    if (!entry.name().starts_with(record.lineage + "-") || entry.name() < previous) continue;
    const auto text = file_system.ReadAll(entry.path);
    if (text.status().code() == StatusCode::kNotFound) continue;
    SLUICE_RETURN_NOT_OK(text.status());
    const auto records = ParseRecords(*text);
    if (!records.ok()) continue;  // `sluice verify` tells of it.
    for (const TableRecord& other : *records) {
      if (other.lineage != record.lineage || other.branch < branch) continue;
      behind = (other.branch == branch && behind) || other.checkpoint > record.checkpoint;
      branch = other.branch;
    }
  }
  return behind ? branch + 1 : branch;
}

Status SweepUnfinished(fs::FileSystem& file_system, const std::vector<fs::FileInfo>& entries,
                       const std::string& lineage) {
  std::vector<std::string> unfinished;
  for (const fs::FileInfo& entry : entries) {
    if (entry.name().starts_with("." + lineage + "-") && IsTemporaryName(entry.name())) {
      unfinished.push_back(entry.path);
    }
  }
  return file_system.DeleteFiles(unfinished);
}

}  // namespace

std::string EncodeRecord(const TableRecord& record) {
  Json files = Json::array();
  for (const RecordedFile& file : record.files) files.push_back(ToJson(file));
  Json merged = Json::array();
  for (const RecordedMerge& merge : record.merged) {
    Json one = ToJson(merge.target);
    one["inputs"] = merge.inputs;
    merged.push_back(std::move(one));
  }
  const Json json = {{"sluice_record", kVersion},
                     {"writer", record.writer},
                     {"sink", record.lineage},
                     {"format", record.format},
                     {"branch", record.branch},
                     {"checkpoint", record.checkpoint},
                     {"previous", record.previous},
                     {"previous_branch", record.previous_branch},
                     {"since", record.since},
                     {"final", record.final},
                     {"open_files", record.open_files},
                     {"time_ms", record.time_ms},
                     {"from", record.from},
                     {"to", record.to},
                     {"files", std::move(files)},
                     {"merged", std::move(merged)},
                     {"committed", record.committed},
                     {"marker", record.marker},
                     {"replaced", record.replaced}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::vector<TableRecord>> ParseRecords(std::string_view lines) {
  std::vector<TableRecord> records;
  int64_t number = 0;
  for (const std::string_view line : Split(lines, '\n')) {
    ++number;
    if (line.empty()) continue;
    try {
      records.push_back(RecordOf(Json::parse(line)));
    } catch (const std::exception& error) {
      return Status::Corrupt("line " + std::to_string(number) +
                             " is no record: " + Printable(error.what()));
    }
  }
  return records;
}

std::string RecordPath(const std::string& root, const TableRecord& record) {
  const std::string branch = record.branch > 0 ? "." + std::to_string(record.branch) : "";
  return fs::JoinPath(
      fs::JoinPath(root, kRecordDirectory),
      BeginOfName(record.lineage, record.checkpoint) + branch + std::string(kSuffix));
}

Status WriteRecord(fs::FileSystem& file_system, const std::string& root,
                   const TableRecord& record) {
  const std::string path = RecordPath(root, record);
  if (file_system.has_directories()) {
    SLUICE_RETURN_NOT_OK(file_system.CreateDirectories(fs::ParentPath(path)));
  }
  return file_system.WriteWhole(path, EncodeRecord(record));
}

Status WriteFirstRecord(fs::FileSystem& file_system, const std::string& root, TableRecord* record) {
  SLUICE_ASSIGN_OR_RETURN(const auto entries,
                          fs::ListIfThere(file_system, fs::JoinPath(root, kRecordDirectory)));
  SLUICE_RETURN_NOT_OK(SweepUnfinished(file_system, entries, record->lineage));
  SLUICE_ASSIGN_OR_RETURN(record->branch, BranchOf(file_system, entries, *record));
  const std::string path = RecordPath(root, *record);
  const auto text = file_system.ReadAll(path);
  if (text.status().code() == StatusCode::kNotFound) return WriteRecord(file_system, root, *record);
  SLUICE_RETURN_NOT_OK(text.status());
  const auto written = ParseRecords(*text);
  if (!written.ok()) return WriteRecord(file_system, root, *record);
  std::string lines;
  for (const TableRecord& other : *written) {
    if (other.lineage == record->lineage && other.checkpoint == record->checkpoint) {
      record->time_ms = other.time_ms;
      Unite(other.committed, &record->committed);
      Unite(other.replaced, &record->replaced);
    } else {
      lines += EncodeRecord(other);
    }
  }
  return file_system.WriteWhole(path, lines + EncodeRecord(*record));
}

Status FoldRecords(fs::FileSystem& file_system, const std::vector<std::string>& paths) {
  if (paths.size() < 2) return {};
  std::string lines;
  for (const std::string& path : paths) {
    auto text = file_system.ReadAll(path);
    if (!text.ok() && text.status().code() == StatusCode::kNotFound) continue;
    SLUICE_RETURN_NOT_OK(text.status());
    lines += *text;
  }
  SLUICE_RETURN_NOT_OK(file_system.WriteWhole(paths.back(), lines));
  return file_system.DeleteFiles({paths.begin(), paths.end() - 1});
}

Result<bool> HasRecords(fs::FileSystem& file_system, const std::string& root) {
  SLUICE_ASSIGN_OR_RETURN(const auto entries,
                          fs::ListIfThere(file_system, fs::JoinPath(root, kRecordDirectory)));
  return std::any_of(entries.begin(), entries.end(), [](const fs::FileInfo& entry) {
    return !entry.is_directory && entry.name().ends_with(kSuffix);
  });
}

Result<ReadRecordsResult> ReadRecords(fs::FileSystem& file_system, const std::string& root) {
  ReadRecordsResult result;
  SLUICE_ASSIGN_OR_RETURN(const auto entries,
                          fs::ListIfThere(file_system, fs::JoinPath(root, kRecordDirectory)));
  for (const fs::FileInfo& entry : entries) {
    if (entry.is_directory || !entry.name().ends_with(kSuffix) || entry.name().starts_with(".")) {
      continue;
    }
    auto text = file_system.ReadAll(entry.path);
    if (!text.ok() && text.status().code() == StatusCode::kNotFound) continue;  // Folded just now.
    SLUICE_RETURN_NOT_OK(text.status());
    auto records = ParseRecords(*text);
    if (!records.ok()) {
      result.damaged[entry.path] = records.status().message();
      continue;
    }
    std::move(records->begin(), records->end(), std::back_inserter(result.records));
  }
  result.records = OrderRecords(std::move(result.records));
  return result;
}

}  // namespace sluice::connectors::filesystem
