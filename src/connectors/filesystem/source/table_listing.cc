#include "connectors/filesystem/source/table_listing.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <thread>

#include "common/log.h"
#include "common/run_at_once.h"
#include "common/text.h"
#include "connectors/filesystem/partition/merge_journal.h"
#include "connectors/filesystem/partition/overwrite_marker.h"
#include "connectors/filesystem/partition/partition_path.h"

namespace sluice::connectors::filesystem {
namespace {

constexpr size_t kListingThreads = 16;
constexpr unsigned kDiskThreads = 4;
constexpr size_t kManyDirectories = 128;
// Looking for a name costs a store two requests, some fifteen at a time; listing a thousand names
// costs one.
constexpr size_t kMostNames = 64;
constexpr int kListingTries = 20;
// Only replacements that follow each other without a pause need more than two.
constexpr int kMostListings = 20;

// Nobody escapes these in the name of a directory; of all others some writer does.
bool IsPlain(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

Result<OverwriteMarker> ReadMarker(fs::FileSystem& file_system, const fs::FileInfo& found) {
  SLUICE_ASSIGN_OR_RETURN(const std::string text, file_system.ReadWhole(found));
  auto marker = DecodeOverwriteMarker(text);
  if (!marker.ok()) return marker.status().WithContext("Cannot read " + found.path + ".");
  return marker;
}

}  // namespace

Status TableListing::CheckRoot(bool* is_there) const {
  const auto root = file_system_->Stat(root_);
  *is_there = root.ok();
  if (root.status().code() == StatusCode::kNotFound) return {};
  SLUICE_RETURN_NOT_OK(root.status());
  if (root->is_directory) return {};
  return Status::DataError(
      "The path " + root_ +
      " of a partitioned table is a file. Set 'path' to the directory that holds the "
      "partition directories.");
}

bool TableListing::HasCertainName(std::string_view key, std::string_view text) const {
  return IsPlain(key) && !fs::IsHiddenName(key) && IsPlain(text) && text != default_name_;
}

Result<std::optional<std::vector<PartitionDirectory>>> TableListing::FindPartitions(
    const std::vector<std::vector<std::string>>& texts) const {
  std::vector<PartitionValues> wanted = {PartitionValues(keys_.size())};
  for (size_t key = 0; key < keys_.size(); ++key) {
    std::vector<PartitionValues> longer;
    for (const std::string& text : std::set<std::string>(texts[key].begin(), texts[key].end())) {
      if (!HasCertainName(keys_[key], text))
        return std::optional<std::vector<PartitionDirectory>>();
      for (PartitionValues values : wanted) {
        values[key] = text;
        longer.push_back(std::move(values));
      }
    }
    wanted = std::move(longer);
    if (wanted.size() > kMostNames) return std::optional<std::vector<PartitionDirectory>>();
  }
  std::vector<PartitionDirectory> named;
  std::vector<size_t> order(keys_.size());
  std::iota(order.begin(), order.end(), size_t{0});
  do {
    for (const PartitionValues& values : wanted) {
      std::string path = root_;
      for (const size_t key : order)
        path += "/" + PartitionDirectoryName(keys_[key], values[key], default_name_);
      named.push_back({std::move(path), values});
    }
    if (named.size() > kMostNames) return std::optional<std::vector<PartitionDirectory>>();
  } while (std::next_permutation(order.begin(), order.end()));
  return OnlyThere(std::move(named));
}

Result<std::optional<std::vector<PartitionDirectory>>> TableListing::OnlyThere(
    std::vector<PartitionDirectory> named) const {
  std::vector<PartitionDirectory> found;
  bool is_there = false;
  SLUICE_RETURN_NOT_OK(CheckRoot(&is_there));
  if (!is_there) return std::optional(std::move(found));
  std::vector<std::string> paths;
  for (const PartitionDirectory& partition : named) paths.push_back(partition.path);
  const auto answers = AskMany(paths, [this](const std::string& path) -> Listing {
    SLUICE_ASSIGN_OR_RETURN(fs::FileInfo info, file_system_->Stat(path));
    return std::vector<fs::FileInfo>{std::move(info)};
  });
  for (size_t i = 0; i < named.size(); ++i) {
    if (answers[i].status().code() == StatusCode::kNotFound) continue;
    // What is in the way is told, or passed by, by listing.
    if (!answers[i].ok() || !answers[i]->front().is_directory)
      return std::optional<std::vector<PartitionDirectory>>();
    found.push_back(std::move(named[i]));
  }
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return std::optional(std::move(found));
}

Result<std::vector<PartitionDirectory>> TableListing::ListPartitions(const KeyFilter& keep) const {
  std::vector<PartitionDirectory> partitions;
  bool is_there = false;
  SLUICE_RETURN_NOT_OK(CheckRoot(&is_there));
  if (!is_there) return partitions;
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

TableListing::Listing TableListing::ListFiles(const std::string& directory) const {
  return std::move(ListFilesOfMany({directory}).front());
}

std::vector<TableListing::Listing> TableListing::ListFilesOfMany(
    const std::vector<std::string>& directories) const {
  const auto list = [this](const std::string& path) { return ListVisible(path); };
  std::vector<Listing> answers;
  if (file_system_->has_directories()) {
    answers = AskMany(directories, list);
  } else {
    // COMPACT TABLE may switch files at any moment of a listing that takes many requests.
    bool whole = false;
    for (int i = 0; i < kListingTries && !whole; ++i) {
      const auto before = ReadJournals(*file_system_, root_);
      if (!before.ok()) return {directories.size(), before.status()};
      answers = AskMany(directories, list);
      const auto after = ReadJournals(*file_system_, root_);
      if (!after.ok()) return {directories.size(), after.status()};
      whole = before->names == after->names;
      for (Listing& answer : answers) {
        whole = whole && (!answer.ok() || HonourJournals(*before, root_, &*answer));
      }
    }
    if (!whole) {
      return {directories.size(),
              Status::Unavailable("The files of " + root_ +
                                  " are switched again and again while they are listed.")};
    }
  }
  for (Listing& answer : answers) {
    if (!answer.ok() || !pattern_) continue;
    std::erase_if(*answer, [this](const fs::FileInfo& file) {
      return !pattern_->Matches(fs::PathOfUri(file.path));
    });
  }
  return answers;
}

std::vector<TableListing::Listing> TableListing::AskMany(
    const std::vector<std::string>& directories,
    const std::function<Listing(const std::string&)>& ask) const {
  std::vector<Listing> answers(directories.size(), Status::Internal("not listed"));
  // From a store each answer takes a journey. A disk answers at once, some 10 us a directory: only
  // many are worth a second thread.
  const size_t most = !file_system_->has_directories() ? kListingThreads
                      : directories.size() < kManyDirectories
                          ? 1
                          : std::clamp(std::thread::hardware_concurrency(), 1U, kDiskThreads);
  RunAtOnce(directories.size(), most, [&](size_t i) { answers[i] = ask(directories[i]); });
  return answers;
}

void TableListing::WarnOfStray(const std::string& path) const {
  if (warned_.exchange(true)) return;
  std::string keys;
  for (const std::string& key : keys_) keys += (keys.empty() ? "" : "/") + key + "=…";
  Log(LogLevel::kWarning, "Skipped " + path + " and what may be like it: below " + root_ +
                              " only directories of the form " + keys + " are partitions.");
}

std::optional<PartitionDirectory> TableListing::PartitionOf(const std::string& file_path) const {
  if (file_path.size() <= root_.size() || IsHiddenBelow(file_path, root_) ||
      (pattern_ && !pattern_->Matches(fs::PathOfUri(file_path)))) {
    return std::nullopt;
  }
  Level level{root_, PartitionValues(keys_.size()), std::vector<bool>(keys_.size())};
  for (size_t depth = 0; depth < keys_.size(); ++depth) {
    size_t begin = level.path.size();
    while (begin < file_path.size() && file_path[begin] == '/') ++begin;
    const size_t end = file_path.find('/', begin);
    if (end == std::string::npos) return std::nullopt;
    std::vector<Level> next;
    Descend(level, {{.path = file_path.substr(0, end), .is_directory = true}}, &next);
    if (next.empty()) return std::nullopt;
    level = std::move(next.front());
  }
  return PartitionDirectory{std::move(level.path), std::move(level.values)};
}

bool TableListing::IsHiddenBelow(std::string_view path, std::string_view directory) {
  return fs::HasHiddenName(path.substr(directory.size()));
}

TableListing::Listing TableListing::ListObjects(const std::string& directory) const {
  for (int listings = 1;; ++listings) {
    SLUICE_ASSIGN_OR_RETURN(auto all, file_system_->ListTree(directory));
    std::vector<fs::FileInfo> files;
    std::vector<fs::FileInfo> markers;
    for (fs::FileInfo& file : all) {
      if (IsOverwriteMarkerName(file.name()) && fs::ParentPath(file.path) == directory) {
        markers.push_back(std::move(file));
      } else if (!IsHiddenBelow(file.path, directory)) {
        files.push_back(std::move(file));
      }
    }
    if (markers.empty()) return files;
    SLUICE_ASSIGN_OR_RETURN(const bool current, ApplyMarkers(directory, markers, &files));
    if (current) return files;
    if (listings == kMostListings) {
      return Status::Unavailable("INSERT OVERWRITE replaces the content of " + directory +
                                 " again and again while it is listed. Read it when it is done.");
    }
  }
}

Result<bool> TableListing::ApplyMarkers(const std::string& directory,
                                        const std::vector<fs::FileInfo>& markers,
                                        std::vector<fs::FileInfo>* files) const {
  const auto relative = [&directory](const fs::FileInfo& file) {
    return std::string_view(file.path).substr(directory.size() + 1);
  };
  std::set<std::string, std::less<>> present;
  for (const fs::FileInfo& file : *files) present.emplace(relative(file));
  std::set<std::string, std::less<>> hidden;
  for (const fs::FileInfo& found : markers) {
    const auto marker = ReadMarker(*file_system_, found);
    if (marker.status().code() == StatusCode::kNotFound) return false;
    SLUICE_RETURN_NOT_OK(marker.status());
    HideReplaced(*marker, present, &hidden);
  }
  std::erase_if(*files, [&](const fs::FileInfo& file) { return hidden.contains(relative(file)); });
  return true;
}

TableListing::Listing TableListing::ListVisible(const std::string& directory) const {
  std::vector<fs::FileInfo> files;
  if (!file_system_->has_directories()) {
    // One request for a thousand files, whatever directories they are in.
    const auto all = ListObjects(directory);
    if (!all.ok() && all.status().code() != StatusCode::kNotFound) return all.status();
    if (all.ok()) return *all;
  }
  SLUICE_ASSIGN_OR_RETURN(const fs::FileInfo root, file_system_->Stat(directory));
  if (!root.is_directory) {
    files.push_back(root);
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
        files.push_back(entry);
      }
    }
  }
  std::sort(files.begin(), files.end(),
            [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

}  // namespace sluice::connectors::filesystem
