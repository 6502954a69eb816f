#include "connectors/filesystem/source/table_listing.h"

#include <algorithm>
#include <thread>

#include "common/log.h"
#include "common/text.h"
#include "connectors/filesystem/partition/partition_path.h"

namespace sluice::connectors::filesystem {
namespace {

constexpr size_t kListingThreads = 16;

}  // namespace

Result<std::vector<PartitionDirectory>> TableListing::ListPartitions(const KeyFilter& keep) const {
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
  std::vector<Level> level = {
      {root_, PartitionValues(keys_.size()), std::vector<bool>(keys_.size()), 0}};
  for (size_t depth = 0; depth < keys_.size(); ++depth) {
    std::vector<std::string> paths;
    for (const Level& parent : level) paths.push_back(parent.path);
    const auto listings = ListMany(paths);
    std::vector<Level> next;
    for (size_t i = 0; i < level.size(); ++i) {
      // Below the root a directory may vanish between being seen and being listed.
      if (depth > 0 && listings[i].status().code() == StatusCode::kNotFound) continue;
      SLUICE_RETURN_NOT_OK(listings[i].status());
      Descend(level[i], *listings[i], &next);
    }
    if (keep) SLUICE_RETURN_NOT_OK(KeepWanted(keep, &next));
    level = std::move(next);
  }
  for (Level& found : level) partitions.push_back({std::move(found.path), std::move(found.values)});
  std::sort(partitions.begin(), partitions.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return partitions;
}

void TableListing::Descend(const Level& parent, const std::vector<fs::FileInfo>& entries,
                           std::vector<Level>* children) const {
  for (const fs::FileInfo& entry : entries) {
    if (fs::IsHiddenName(entry.name())) continue;
    const auto parsed = entry.is_directory
                            ? ParsePartitionDirectoryName(entry.name(), default_name_)
                            : std::nullopt;
    const auto key = parsed ? std::find(keys_.begin(), keys_.end(), parsed->key) : keys_.end();
    const auto index = static_cast<size_t>(key - keys_.begin());
    if (key == keys_.end() || parent.found[index]) {
      WarnOfStray(entry.path);
      continue;
    }
    Level& child = children->emplace_back(Level{entry.path, parent.values, parent.found, index});
    child.values[index] = parsed->value;
    child.found[index] = true;
  }
}

Status TableListing::KeepWanted(const KeyFilter& keep, std::vector<Level>* level) const {
  std::vector<bool> wanted(level->size(), true);
  for (size_t key = 0; key < keys_.size(); ++key) {
    std::vector<size_t> places;
    std::vector<std::optional<std::string>> values;
    for (size_t i = 0; i < level->size(); ++i) {
      if ((*level)[i].last_key != key) continue;
      places.push_back(i);
      values.push_back((*level)[i].values[key]);
    }
    if (places.empty()) continue;
    SLUICE_ASSIGN_OR_RETURN(const std::vector<bool> passed, keep(key, values));
    for (size_t i = 0; i < places.size(); ++i) wanted[places[i]] = passed[i];
  }
  size_t left = 0;
  for (size_t i = 0; i < level->size(); ++i) {
    if (!wanted[i]) continue;
    if (left != i) (*level)[left] = std::move((*level)[i]);
    ++left;
  }
  level->resize(left);
  return {};
}

std::vector<TableListing::Listing> TableListing::ListMany(
    const std::vector<std::string>& directories) const {
  return AskMany(directories,
                 [this](const std::string& path) { return file_system_->ListNames(path); });
}

std::vector<TableListing::Listing> TableListing::ListFilesOfMany(
    const std::vector<std::string>& directories) const {
  return AskMany(directories, [this](const std::string& path) { return ListFiles(path); });
}

std::vector<TableListing::Listing> TableListing::AskMany(
    const std::vector<std::string>& directories,
    const std::function<Listing(const std::string&)>& ask) const {
  std::vector<Listing> answers(directories.size(), Status::Internal("not listed"));
  std::atomic<size_t> next{0};
  const auto work = [&] {
    for (size_t i = next++; i < directories.size(); i = next++) answers[i] = ask(directories[i]);
  };
  // A disk answers at once; from a store each answer takes a journey.
  const size_t helpers = file_system_->has_directories() || directories.empty()
                             ? 0
                             : std::min(directories.size() - 1, kListingThreads - 1);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < helpers; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return answers;
}

void TableListing::WarnOfStray(const std::string& path) const {
  if (warned_.exchange(true)) return;
  std::string keys;
  for (const std::string& key : keys_) keys += (keys.empty() ? "" : "/") + key + "=…";
  Log(LogLevel::kWarning, "Skipped " + path + " and what may be like it: below " + root_ +
                              " only directories of the form " + keys + " are partitions.");
}

bool TableListing::IsHiddenBelow(std::string_view path, std::string_view directory) {
  for (const std::string_view component : Split(path.substr(directory.size()), '/')) {
    if (fs::IsHiddenName(component)) return true;
  }
  return false;
}

Result<std::vector<fs::FileInfo>> TableListing::ListFiles(const std::string& directory) const {
  std::vector<fs::FileInfo> files;
  const auto take = [&](const fs::FileInfo& file) {
    if (!pattern_ || pattern_->Matches(fs::PathOfUri(file.path))) files.push_back(file);
  };
  if (!file_system_->has_directories()) {
    // One request for a thousand files, whatever directories they are in.
    const auto all = file_system_->ListTree(directory);
    if (!all.ok() && all.status().code() != StatusCode::kNotFound) return all.status();
    for (size_t i = 0; all.ok() && i < all->size(); ++i) {
      if (!IsHiddenBelow((*all)[i].path, directory)) take((*all)[i]);
    }
    if (all.ok()) return files;
  }
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
