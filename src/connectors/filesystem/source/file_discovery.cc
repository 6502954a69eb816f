#include "connectors/filesystem/source/file_discovery.h"

#include <algorithm>

#include "common/log.h"
#include "connectors/filesystem/compression/compressed_input.h"

namespace sluice::connectors::filesystem {

namespace {

// A text file is cut so that all cores find work to the end, but not so small that opening costs
// more than reading.
constexpr int64_t kLeastSplitBytes = 8 << 20;
constexpr int64_t kMostSplitBytes = 128 << 20;
constexpr int64_t kSplitsPerReader = 4;
// Files taken up at a time, of a backlog of any size: some 5 MB of splits in a checkpoint.
constexpr size_t kMostFilesAtOnce = 32'768;
// A partition that is replaced between its listing and the look at its footers is listed again.
constexpr int kMostListings = 5;

}  // namespace

Result<std::vector<PartitionDirectory>> FileDiscovery::WantedPartitions() {
  std::vector<PartitionDirectory> partitions;
  if (spec_->bounded() && spec_->known_partitions) {
    partitions = *spec_->known_partitions;
  } else {
    SLUICE_ASSIGN_OR_RETURN(partitions, spec_->listing->ListPartitions());
  }
  SLUICE_ASSIGN_OR_RETURN(partitions, FilterPartitions(std::move(partitions)));
  for (const PartitionDirectory& partition : partitions) {
    SLUICE_RETURN_NOT_OK(
        CheckPartitionValues(spec_->partition_keys, spec_->partition_types, partition));
  }
  return partitions;
}

Result<std::vector<PartitionDirectory>> FileDiscovery::FilterPartitions(
    std::vector<PartitionDirectory> partitions) const {
  if (!spec_->chosen_partitions) return partitions;
  const std::set<PartitionValues> chosen(spec_->chosen_partitions->begin(),
                                         spec_->chosen_partitions->end());
  std::set<PartitionValues> known;
  if (spec_->known_partitions) {
    for (const PartitionDirectory& partition : *spec_->known_partitions)
      known.insert(partition.values);
  }
  std::vector<PartitionDirectory> wanted;
  std::vector<PartitionDirectory> later;  // Appeared after planning: the predicate decides.
  for (PartitionDirectory& partition : partitions) {
    if (chosen.contains(partition.values)) {
      wanted.push_back(std::move(partition));
    } else if (!known.contains(partition.values)) {
      later.push_back(std::move(partition));
    }
  }
  if (later.empty() || spec_->partition_predicate == nullptr) return wanted;
  std::vector<PartitionValues> values;
  for (const PartitionDirectory& partition : later) values.push_back(partition.values);
  SLUICE_ASSIGN_OR_RETURN(
      const auto rows,
      PartitionValueRows(spec_->partition_keys, spec_->partition_types, values, nullptr));
  SLUICE_ASSIGN_OR_RETURN(
      const std::vector<bool> passed,
      EvaluatePartitions(*spec_->partition_predicate, *rows, spec_->session_zone));
  for (size_t i = 0; i < later.size(); ++i) {
    if (passed[i]) wanted.push_back(std::move(later[i]));
  }
  return wanted;
}

Result<std::vector<FileDiscovery::Found>> FileDiscovery::FindFiles() {
  SLUICE_ASSIGN_OR_RETURN(std::vector<Found> found, ListFiles());
  if (spec_->bounded() && !spec_->format->read_kinds.insert_only()) SortByTime(&found);
  return found;
}

void FileDiscovery::SortByTime(std::vector<Found>* files) const {
  if (spec_->format->read_kinds.insert_only()) {
    std::stable_sort(files->begin(), files->end(), [](const Found& a, const Found& b) {
      return a.file.modified_ms < b.file.modified_ms;
    });
    return;
  }
  // Files of changes are read in the order in which they were written; of two of one moment the
  // shorter name was first: part-…-9 before part-…-10.
  const auto key = [](const Found& found) {
    return std::make_tuple(found.file.modified_ms, found.file.path.size(),
                           std::string_view(found.file.path));
  };
  std::stable_sort(files->begin(), files->end(),
                   [&key](const Found& a, const Found& b) { return key(a) < key(b); });
}

Result<std::vector<FileDiscovery::Found>> FileDiscovery::ListFiles() {
  std::vector<Found> found;
  if (spec_->partition_keys.empty()) {
    auto files = spec_->listing->ListFiles(spec_->listing->root());
    // A directory of an object store comes into being with its first file.
    const bool awaited = !spec_->bounded() && !spec_->file_system->has_directories() &&
                         files.status().code() == StatusCode::kNotFound;
    if (awaited) return found;
    SLUICE_RETURN_NOT_OK(files.status());
    for (fs::FileInfo& file : *files) found.push_back({std::move(file), {}});
    return found;
  }
  SLUICE_ASSIGN_OR_RETURN(const std::vector<PartitionDirectory> partitions, WantedPartitions());
  std::vector<std::string> paths;
  for (const PartitionDirectory& partition : partitions) paths.push_back(partition.path);
  auto listings = spec_->listing->ListFilesOfMany(paths);
  for (size_t i = 0; i < partitions.size(); ++i) {
    auto& files = listings[i];
    if (!files.ok()) {
      // Dropped or replaced meanwhile: its files are gone with it.
      if (files.status().code() == StatusCode::kNotFound && !spec_->bounded()) continue;
      return files.status();
    }
    for (fs::FileInfo& file : *files) found.push_back({std::move(file), partitions[i].values});
  }
  return found;
}

Status FileDiscovery::NoteEmpty(const std::string& path) {
  if (spec_->options.fail_on_empty_files) {
    return Status::DataError("The file " + path + " has 0 bytes and is no " +
                             std::string(spec_->format->name) +
                             " file. Remove it, or set 'source.empty-files' = 'skip'.");
  }
  if (!std::exchange(empty_reported_, true)) {
    Log(LogLevel::kWarning, "Skipped " + path + ", which has 0 bytes and is no " +
                                std::string(spec_->format->name) +
                                " file; others like it are skipped without a word. "
                                "'source.empty-files' = 'fail' makes it "
                                "an error.");
  }
  return {};
}

Status FileDiscovery::SplitContainer(const Found& found, std::vector<FileSplit>* splits) {
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::io::RandomAccessFile> file,
                          spec_->file_system->OpenFound(found.file));
  formats::FormatContext context;
  context.session_zone = spec_->session_zone;
  auto opened = spec_->format->open_bulk_file(spec_->format_options, spec_->read_schema,
                                              std::move(file), context);
  if (!opened.ok()) return Unreadable(found.file.path, opened.status());
  for (int part = 0; part < (*opened)->part_count(); ++part) {
    if (!(*opened)->MayMatch(part, spec_->filters)) {
      rows_skipped_ += (*opened)->row_count(part);
      continue;
    }
    splits->push_back({.file = found.file,
                       .partition = found.partition,
                       .begin = part,
                       .end = part + 1,
                       .position = part});
  }
  return {};
}

void FileDiscovery::SplitText(const Found& found, int64_t split_bytes,
                              std::vector<FileSplit>* splits) const {
  const int64_t size = found.file.size_bytes;
  const int64_t count = split_bytes > 0 ? std::max<int64_t>(1, size / split_bytes) : 1;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = size / count * i;
    const int64_t end = i + 1 == count ? size : size / count * (i + 1);
    splits->push_back({.file = found.file,
                       .partition = found.partition,
                       .begin = begin,
                       .end = end,
                       .position = begin});
  }
}

Result<std::vector<FileSplit>> FileDiscovery::MakeSplits(const std::vector<Found>& files) {
  std::vector<FileSplit> splits;
  if (spec_->is_bulk()) {
    // Footers are opened ahead only while they are few: with many files the files themselves keep
    // all readers busy.
    const bool few = static_cast<int64_t>(files.size()) < kSplitsPerReader * parallelism_;
    for (const Found& found : files) {
      if (found.file.size_bytes == 0) {
        SLUICE_RETURN_NOT_OK(NoteEmpty(found.file.path));
      } else if (few && spec_->bounded()) {
        SLUICE_RETURN_NOT_OK(SplitContainer(found, &splits));
      } else {
        splits.push_back({.file = found.file, .partition = found.partition, .end = INT32_MAX});
      }
    }
    return splits;
  }
  SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<formats::RowFramer> framer,
                          spec_->format->make_framer(spec_->format_options));
  int64_t total_bytes = 0;
  for (const Found& found : files) total_bytes += found.file.size_bytes;
  const int64_t split_bytes = std::clamp(total_bytes / (kSplitsPerReader * parallelism_),
                                         kLeastSplitBytes, kMostSplitBytes);
  for (const Found& found : files) {
    const bool whole =
        !framer->splittable() || CompressionOf(found.file.name()) != Compression::kNone;
    if (found.file.size_bytes > 0) SplitText(found, whole ? 0 : split_bytes, &splits);
  }
  return splits;
}

Result<std::vector<FileSplit>> FileDiscovery::FindAll() {
  for (int listings = 1;; ++listings) {
    auto files = FindFiles();
    if (!files.ok()) {
      const bool missing = files.status().code() == StatusCode::kNotFound;
      return files.status().WithContext(
          "Could not enumerate file splits of table " + spec_->table_identifier + "." +
          (missing ? " Check its 'path', or write to the table first." : ""));
    }
    auto splits = MakeSplits(*files);
    const bool replaced = splits.status().code() == StatusCode::kNotFound;
    if (!replaced || listings == kMostListings) return splits;
  }
}

Result<std::vector<FileSplit>> FileDiscovery::FindNew(ProcessedPaths* seen,
                                                      const fs::TreeWatch* watch) {
  auto listed = FindFiles();
  if (listed.status().code() == StatusCode::kNotFound) {
    return listed.status().WithContext("The directory that table " + spec_->table_identifier +
                                       " watches is not there. Create it, or correct 'path'.");
  }
  SLUICE_ASSIGN_OR_RETURN(std::vector<Found> files, std::move(listed));
  young_.clear();
  backlog_.clear();
  MoveCursor(files);
  ForgetGone(files, seen);
  SLUICE_ASSIGN_OR_RETURN(files, OnlyReadable(std::move(files), watch));
  return TakeNew(std::move(files), seen);
}

Result<std::vector<FileSplit>> FileDiscovery::FindNewAmong(std::vector<std::string> paths,
                                                           ProcessedPaths* seen,
                                                           const fs::TreeWatch* watch) {
  const int64_t now = clock_->NowMillis();
  for (auto it = young_.begin(); it != young_.end();) {
    if (it->second > now) {
      ++it;
      continue;
    }
    paths.push_back(it->first);
    it = young_.erase(it);
  }
  std::vector<fs::FileInfo> infos;
  for (const std::string& path : paths) {
    auto info = spec_->file_system->Stat(path);
    if (info.ok() && !info->is_directory) infos.push_back(std::move(*info));
    // What vanished again is not there; what cannot be looked at is found by the next listing.
  }
  SLUICE_ASSIGN_OR_RETURN(std::vector<Found> files, Place(std::move(infos)));
  SLUICE_ASSIGN_OR_RETURN(files, OnlyReadable(std::move(files), watch));
  return TakeNew(std::move(files), seen);
}

Result<std::vector<FileSplit>> FileDiscovery::FindNewBehindCursor(ProcessedPaths* seen) {
  if (last_directories_[1].empty()) return FindNew(seen, nullptr);
  auto listed = spec_->file_system->ListTreeAfter(spec_->listing->root(), last_directories_[1]);
  if (!listed.ok() && listed.status().code() != StatusCode::kNotFound) return listed.status();
  std::vector<fs::FileInfo> infos;
  if (listed.ok()) infos = std::move(*listed);
  SLUICE_ASSIGN_OR_RETURN(std::vector<Found> files, Place(std::move(infos)));
  MoveCursor(files);
  SLUICE_ASSIGN_OR_RETURN(files, OnlyReadable(std::move(files), nullptr));
  return TakeNew(std::move(files), seen);
}

std::optional<int64_t> FileDiscovery::NextYoungMs() const {
  std::optional<int64_t> next;
  for (const auto& [path, due] : young_) {
    if (!next || due < *next) next = due;
  }
  return next;
}

void FileDiscovery::MoveCursor(const std::vector<Found>& files) {
  if (!spec_->options.listing_cursor) return;
  auto& [last, before] = last_directories_;
  for (const Found& found : files) {
    std::string directory = fs::ParentPath(found.file.path) + "/";
    if (directory > last) {
      before = std::exchange(last, std::move(directory));
    } else if (directory > before && directory != last) {
      before = std::move(directory);
    }
  }
}

void FileDiscovery::ForgetGone(const std::vector<Found>& files, ProcessedPaths* seen) const {
  if (!spec_->options.forget_after_ms) return;
  const int64_t now = clock_->NowMillis();
  if (seen->swept_ms() != 0 && now - seen->swept_ms() < *spec_->options.forget_after_ms) return;
  std::vector<const fs::FileInfo*> present;
  present.reserve(files.size());
  for (const Found& found : files) present.push_back(&found.file);
  const size_t forgotten = seen->ForgetAbsent(present);
  seen->set_swept_ms(now);
  if (forgotten > 0) {
    Log(LogLevel::kInfo, "Forgot " + std::to_string(forgotten) + " files of table " +
                             spec_->table_identifier + " that have been gone for longer than " +
                             "'source.processed-paths.forget-after'.");
  }
}

Result<std::vector<FileDiscovery::Found>> FileDiscovery::Place(std::vector<fs::FileInfo> files) {
  std::map<std::string, PartitionDirectory> directories;
  std::vector<std::pair<fs::FileInfo, std::string>> placed;
  for (fs::FileInfo& file : files) {
    std::optional<PartitionDirectory> partition = spec_->listing->PartitionOf(file.path);
    if (!partition) continue;
    placed.emplace_back(std::move(file), partition->path);
    directories.emplace(partition->path, std::move(*partition));
  }
  std::vector<PartitionDirectory> partitions;
  for (auto& [path, partition] : directories) partitions.push_back(std::move(partition));
  SLUICE_ASSIGN_OR_RETURN(partitions, FilterPartitions(std::move(partitions)));
  std::map<std::string, const PartitionDirectory*> wanted;
  for (const PartitionDirectory& partition : partitions) {
    SLUICE_RETURN_NOT_OK(
        CheckPartitionValues(spec_->partition_keys, spec_->partition_types, partition));
    wanted.emplace(partition.path, &partition);
  }
  std::vector<Found> found;
  for (auto& [file, path] : placed) {
    const auto it = wanted.find(path);
    if (it == wanted.end()) continue;
    found.push_back({std::move(file), {}});
    if (!spec_->partition_keys.empty()) found.back().partition = it->second->values;
  }
  return found;
}

Result<std::vector<FileDiscovery::Found>> FileDiscovery::OnlyReadable(std::vector<Found> files,
                                                                      const fs::TreeWatch* watch) {
  const int64_t now = clock_->NowMillis();
  const int64_t min_age_ms = spec_->options.min_age_ms;
  std::vector<Found> readable;
  readable.reserve(files.size());
  for (Found& found : files) {
    const fs::FileInfo& file = found.file;
    if (file.size_bytes == 0) {
      if (spec_->is_bulk()) SLUICE_RETURN_NOT_OK(NoteEmpty(file.path));
      continue;
    }
    if (watch != nullptr && watch->BeingWritten(file.path)) continue;
    // A young file is not looked at at all: its size when it is old enough is the one that counts.
    if (min_age_ms > 0) {
      const int64_t settled_ms = SettledMs(file, now);
      if (now - settled_ms < min_age_ms) {
        if (keep_young_) young_[file.path] = settled_ms + min_age_ms;
        continue;
      }
      ahead_.erase(file.path);
    }
    readable.push_back(std::move(found));
  }
  // Read by now, or gone.
  std::erase_if(ahead_,
                [&](const auto& entry) { return now - entry.second.since_ms > 2 * min_age_ms; });
  return readable;
}

int64_t FileDiscovery::SettledMs(const fs::FileInfo& file, int64_t now) {
  if (file.modified_ms <= now) return file.modified_ms;
  Ahead& ahead = ahead_[file.path];
  if (ahead.modified_ms != file.modified_ms) ahead = {file.modified_ms, now};
  return ahead.since_ms;
}

Result<std::vector<FileSplit>> FileDiscovery::TakeNew(std::vector<Found> files,
                                                      ProcessedPaths* seen) {
  // Looked at in a copy first: what waits in the backlog is not seen yet, so that a job that dies
  // meanwhile finds it again.
  ProcessedPaths probe = *seen;
  std::vector<Found> changed;
  std::vector<Found> fresh = OnlyNew(std::move(files), &probe, &changed);
  SortByTime(&fresh);
  if (fresh.size() <= kMostFilesAtOnce) {
    *seen = std::move(probe);
    return MakeSplits(fresh);
  }
  for (const Found& found : changed) seen->Look(found.file);  // They have been told of.
  backlog_.insert(backlog_.end(), std::make_move_iterator(fresh.begin()),
                  std::make_move_iterator(fresh.end()));
  return TakeFromBacklog(seen);
}

Result<std::vector<FileSplit>> FileDiscovery::TakeFromBacklog(ProcessedPaths* seen) {
  std::vector<Found> some;
  while (!backlog_.empty() && some.size() < kMostFilesAtOnce) {
    some.push_back(std::move(backlog_.front()));
    backlog_.pop_front();
  }
  std::vector<Found> changed;
  return MakeSplits(OnlyNew(std::move(some), seen, &changed));
}

std::vector<FileDiscovery::Found> FileDiscovery::OnlyNew(std::vector<Found> files,
                                                         ProcessedPaths* seen,
                                                         std::vector<Found>* changed) {
  std::vector<const fs::FileInfo*> infos;
  infos.reserve(files.size());
  for (const Found& found : files) infos.push_back(&found.file);
  const std::vector<ProcessedPaths::Seen> answers = seen->Look(infos);
  std::vector<Found> fresh;
  for (size_t i = 0; i < files.size(); ++i) {
    if (answers[i] == ProcessedPaths::Seen::kNew) {
      fresh.push_back(std::move(files[i]));
    } else if (answers[i] == ProcessedPaths::Seen::kChanged) {
      Log(LogLevel::kWarning,
          "File " + files[i].file.path +
              " has changed since it was found; the change is not read. Write new data to new "
              "files, or set 'source.file.min-age' for writers that take their time, or "
              "'source.file.identity' = 'path-size-time' to read changed files again.");
      changed->push_back(std::move(files[i]));
    }
  }
  return fresh;
}

}  // namespace sluice::connectors::filesystem
