#include "connectors/filesystem/source/table_listing.h"

#include <algorithm>

#include "common/log.h"
#include "connectors/filesystem/partition/partition_path.h"

namespace sluice::connectors::filesystem {

Result<std::vector<PartitionDirectory>> TableListing::ListPartitions() const {
  std::vector<PartitionDirectory> partitions;
  const auto root = file_system_->Stat(root_);
  if (!root.ok()) {
    if (root.status().code() == StatusCode::kNotFound) return partitions;
    return root.status();
  }
  if (!root->is_directory) {
    return Status::DataError(
        "The path " + root_ +
        " of a partitioned table is a file. Set 'path' to the directory that holds the "
        "partition directories.");
  }
  SLUICE_RETURN_NOT_OK(Descend(root_, 0, PartitionValues(keys_.size()),
                               std::vector<bool>(keys_.size()), &partitions));
  std::sort(partitions.begin(), partitions.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return partitions;
}

Status TableListing::Descend(const std::string& directory, size_t level,
                             const PartitionValues& values, std::vector<bool> found,
                             std::vector<PartitionDirectory>* partitions) const {
  if (level == keys_.size()) {
    partitions->push_back({directory, values});
    return {};
  }
  const auto entries = file_system_->List(directory);
  if (!entries.ok()) {
    // Below the root a directory may vanish between being seen and being listed.
    if (level > 0 && entries.status().code() == StatusCode::kNotFound) return {};
    return entries.status();
  }
  for (const fs::FileInfo& entry : *entries) {
    if (fs::IsHiddenName(entry.name())) continue;
    const auto parsed = entry.is_directory
                            ? ParsePartitionDirectoryName(entry.name(), default_name_)
                            : std::nullopt;
    const auto key = parsed ? std::find(keys_.begin(), keys_.end(), parsed->key) : keys_.end();
    const auto index = static_cast<size_t>(key - keys_.begin());
    if (key == keys_.end() || found[index]) {
      WarnOfStray(entry.path);
      continue;
    }
    PartitionValues more = values;
    more[index] = parsed->value;
    std::vector<bool> more_found = found;
    more_found[index] = true;
    SLUICE_RETURN_NOT_OK(Descend(entry.path, level + 1, more, std::move(more_found), partitions));
  }
  return {};
}

void TableListing::WarnOfStray(const std::string& path) const {
  if (warned_.exchange(true)) return;
  std::string keys;
  for (const std::string& key : keys_) keys += (keys.empty() ? "" : "/") + key + "=…";
  Log(LogLevel::kWarning, "Skipped " + path + " and what may be like it: below " + root_ +
                              " only directories of the form " + keys + " are partitions.");
}

Result<std::vector<fs::FileInfo>> TableListing::ListFiles(const std::string& directory) const {
  std::vector<fs::FileInfo> files;
  const auto take = [&](const fs::FileInfo& file) {
    if (!pattern_ || pattern_->Matches(file.path)) files.push_back(file);
  };
  SLUICE_ASSIGN_OR_RETURN(const fs::FileInfo root, file_system_->Stat(directory));
  if (!root.is_directory) {
    take(root);
    return files;
  }
  std::vector<std::string> waiting = {directory};
  while (!waiting.empty()) {
    const std::string current = std::move(waiting.back());
    waiting.pop_back();
    const auto entries = file_system_->List(current);
    if (!entries.ok()) {
      if (current != directory && entries.status().code() == StatusCode::kNotFound) continue;
      return entries.status();
    }
    for (const fs::FileInfo& entry : *entries) {
      if (fs::IsHiddenName(entry.name())) continue;
      if (entry.is_directory) {
        waiting.push_back(entry.path);
      } else {
        take(entry);
      }
    }
  }
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

}  // namespace sluice::connectors::filesystem
