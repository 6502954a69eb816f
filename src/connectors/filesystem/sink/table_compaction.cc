#include "connectors/filesystem/sink/table_compaction.h"

#include <algorithm>
#include <array>

#include "common/random.h"
#include "common/text.h"
#include "connectors/filesystem/partition/partition_path.h"
#include "connectors/filesystem/sink/compaction_plan.h"
#include "connectors/filesystem/sink/file_merger.h"
#include "connectors/filesystem/sink/overwrite.h"
#include "connectors/filesystem/sink/sink_names.h"
#include "connectors/filesystem/sink/sink_options.h"
#include "formats/all_file_operations.h"
#include "formats/all_formats.h"

namespace sluice::connectors::filesystem {
namespace {

/// Files that readers decompress by their names cannot be put one behind the other under another.
constexpr std::array<std::string_view, 8> kCompressedSuffixes = {
    ".gz", ".gzip", ".deflate", ".bz2", ".xz", ".zst", ".snappy", ".lz4"};

bool IsCompressed(std::string_view name) {
  return std::any_of(kCompressedSuffixes.begin(), kCompressedSuffixes.end(),
                     [name](std::string_view suffix) { return name.ends_with(suffix); });
}

bool IsBeingWritten(std::string_view name) {
  return name.find(kInProgressInfix) != std::string_view::npos || name.starts_with(kRawPrefix);
}

Result<FileLayout> LayoutOf(const TableInfo& table) {
  FileLayout layout;
  SLUICE_ASSIGN_OR_RETURN(layout.format, formats::FindFormat(table.options.at("format")));
  layout.operations = &formats::FileOperationsOf(*layout.format);
  layout.options =
      formats::ExtractFormatOptions(table.options, std::string(layout.format->name) + ".");
  std::vector<int> columns;
  for (int column = 0; column < table.physical.column_count(); ++column) {
    const auto& keys = table.partition_keys;
    if (std::find(keys.begin(), keys.end(), table.physical.column(column).name) == keys.end()) {
      columns.push_back(column);
    }
  }
  layout.schema = table.physical.Select(columns);
  return layout;
}

}  // namespace

Result<std::unique_ptr<TableCompaction>> TableCompaction::Make(const TableInfo& table,
                                                               const ConnectorContext& context) {
  std::unique_ptr<TableCompaction> made(new TableCompaction());
  made->table_ = table.identifier;
  SLUICE_ASSIGN_OR_RETURN(auto located, context.file_systems->Locate(table.options.at("path")));
  made->file_system_ = std::move(located.file_system);
  made->root_ = std::move(located.path);
  made->partition_keys_ = table.partition_keys;
  const auto name = table.options.find("partition.default-name");
  made->default_partition_name_ =
      name == table.options.end() ? std::string(kDefaultPartitionName) : name->second;
  SLUICE_ASSIGN_OR_RETURN(made->layout_, LayoutOf(table));
  const formats::Format& format = *made->layout_.format;
  const bool bulk = format.encoding == formats::Encoding::kBulk;
  if (bulk && (format.open_bulk_file == nullptr || format.make_bulk_writer == nullptr)) {
    return Status::Unsupported("COMPACT TABLE cannot merge files of format '" +
                               std::string(format.name) + "': the table is '" + table.identifier +
                               "'.");
  }
  made->session_zone_ = context.session_zone;
  SLUICE_ASSIGN_OR_RETURN(const SinkOptions options, ReadSinkOptions(table));
  made->target_bytes_ = options.compaction.target_bytes;
  const auto header = made->layout_.options.options.find("ignore-first-line");
  if (header != made->layout_.options.options.end()) {
    SLUICE_ASSIGN_OR_RETURN(made->header_records_, ParseBooleanOption(header->second));
  }
  // The same for every statement over this table, so that the next one knows what a dead one left.
  made->lineage_ = MakeLineage("COMPACT TABLE", made->root_);
  made->run_id_ = Random(Random::SystemSeed()).Uuid();
  return made;
}

Status TableCompaction::FinishEarlier(const std::string& directory, const std::string& staging) {
  if (!file_system_->has_directories()) return {};
  const std::string marker =
      fs::JoinPath(directory, staging.substr(staging.rfind('/') + 1) + ".exchanged");
  const auto exchanged = file_system_->Stat(marker);
  if (exchanged.ok()) return ReplaceDirectory(*file_system_, {directory, staging, {}});
  if (exchanged.status().code() != StatusCode::kNotFound) return exchanged.status();
  return file_system_->DeleteTree(staging);
}

Status TableCompaction::CheckExchange(const std::string& directory, const std::string& staging) {
  const Status cannot = Status::Unsupported(
      "COMPACT TABLE replaces the files of a partition in one step, which the file system of " +
      directory +
      " cannot do. Use 'auto-compaction' = 'true' in the job that writes the table, or INSERT INTO "
      "another table.");
  if (!file_system_->has_directories()) return cannot;
  const std::string a = fs::JoinPath(staging, ".a");
  const std::string b = fs::JoinPath(staging, ".b");
  SLUICE_RETURN_NOT_OK(file_system_->CreateDirectories(a));
  SLUICE_RETURN_NOT_OK(file_system_->CreateDirectories(b));
  const Status exchanged = file_system_->ExchangeDirectories(a, b);
  if (exchanged.ok()) {
    SLUICE_RETURN_NOT_OK(file_system_->DeleteTree(a));
    return file_system_->DeleteTree(b);
  }
  SLUICE_RETURN_NOT_OK(file_system_->DeleteTree(staging));
  return exchanged.code() == StatusCode::kUnsupported ? cannot : exchanged;
}

Status TableCompaction::CheckUnchanged(const std::string& directory, const std::string& staging,
                                       const std::vector<fs::FileInfo>& files) {
  SLUICE_ASSIGN_OR_RETURN(const auto entries, file_system_->List(directory));
  std::vector<fs::FileInfo> now;
  bool written = false;
  for (const fs::FileInfo& entry : entries) {
    written = written || IsBeingWritten(entry.name());
    if (!fs::IsHiddenName(entry.name())) now.push_back(entry);
  }
  const bool same =
      !written && std::equal(now.begin(), now.end(), files.begin(), files.end(),
                             [](const fs::FileInfo& a, const fs::FileInfo& b) {
                               return a.path == b.path && a.size_bytes == b.size_bytes;
                             });
  if (same) return {};
  SLUICE_RETURN_NOT_OK(file_system_->DeleteTree(staging));
  return Status::Unavailable("The files of " + directory +
                             " have changed while they were merged: something writes into it. "
                             "Nothing was replaced. Run COMPACT TABLE when nobody does.");
}

Result<std::vector<std::string>> TableCompaction::WriteStaged(
    const std::vector<fs::FileInfo>& files, const std::vector<std::vector<size_t>>& bins,
    const std::string& staging) {
  const std::string tag = MakeTag(lineage_, run_id_);
  std::vector<std::string> handles;
  for (const std::vector<size_t>& bin : bins) {
    MergeRequest request{.inputs = {},
                         .target = {},
                         .tag = tag,
                         .layout = &layout_,
                         .session_zone = session_zone_,
                         .pool = arrow::default_memory_pool(),
                         .header_records = header_records_};
    for (const size_t i : bin) request.inputs.push_back(files[i].path);
    // A file that stays as it is keeps its name.
    const std::string name = bin.size() == 1 ? std::string(files[bin.front()].name())
                                             : std::string(kCompactedPrefix) + "part-" + run_id_ +
                                                   "-0-" + std::to_string(next_number_++);
    request.target = fs::JoinPath(staging, name);
    SLUICE_ASSIGN_OR_RETURN(MergedFile merged, MergeFiles(*file_system_, request));
    handles.push_back(std::move(merged.handle));
  }
  return handles;
}

Result<CompactedPartition> TableCompaction::Compact(const PartitionValues& values) {
  CompactedPartition result;
  std::string directory = root_;
  if (!partition_keys_.empty()) {
    result.partition = PartitionPath(partition_keys_, values, default_partition_name_);
    directory = fs::JoinPath(root_, result.partition);
  }
  const std::string staging = StagingDirectory(directory, lineage_);
  SLUICE_RETURN_NOT_OK(FinishEarlier(directory, staging));
  auto entries = file_system_->List(directory);
  if (entries.status().code() == StatusCode::kNotFound) {
    result.remark = "there are no files";
    return result;
  }
  if (!entries.ok()) return entries.status();
  std::vector<fs::FileInfo> files;
  for (const fs::FileInfo& entry : *entries) {
    if (fs::IsHiddenName(entry.name())) {
      if (IsBeingWritten(entry.name())) result.remark = "a job writes into it";
    } else if (entry.is_directory) {
      result.remark = "it has sub-directories";
    } else {
      files.push_back(entry);
      ++result.files_before;
      result.bytes_before += entry.size_bytes;
    }
  }
  result.files_after = result.files_before;
  result.bytes_after = result.bytes_before;
  if (!result.remark.empty()) return result;

  std::vector<PackedFile> packed;
  std::vector<size_t> place;  // Of the packed ones in `files`.
  std::vector<std::vector<size_t>> bins;
  for (size_t i = 0; i < files.size(); ++i) {
    if (IsCompressed(files[i].name())) {
      bins.push_back({i});
    } else {
      packed.push_back({files[i].path, files[i].size_bytes});
      place.push_back(i);
    }
  }
  for (std::vector<size_t> bin : PackFewest(packed, target_bytes_)) {
    for (size_t& i : bin) i = place[i];
    bins.push_back(std::move(bin));
  }
  // New names first: whether the first of them is in place tells that all is done.
  std::stable_partition(bins.begin(), bins.end(), [](const auto& bin) { return bin.size() > 1; });
  if (bins.size() == files.size()) {
    result.remark = "its files are large enough";
    return result;
  }
  SLUICE_RETURN_NOT_OK(CheckExchange(directory, staging));
  const auto staged = WriteStaged(files, bins, staging);
  if (!staged.ok()) {
    (void)file_system_->DeleteTree(staging);  // The reason counts, not what is left hidden.
    return staged.status();
  }
  const std::vector<std::string>& handles = *staged;
  SLUICE_RETURN_NOT_OK(CheckUnchanged(directory, staging, files));
  SLUICE_RETURN_NOT_OK(ReplaceDirectory(*file_system_, {directory, staging, handles}));
  result.files_after = static_cast<int64_t>(bins.size());
  result.bytes_after = 0;
  for (const std::string& handle : handles) {
    SLUICE_ASSIGN_OR_RETURN(const auto info, file_system_->publisher().Describe(handle));
    result.bytes_after += info.length_bytes;
  }
  return result;
}

}  // namespace sluice::connectors::filesystem
