#include "connectors/filesystem/source/file_discovery.h"

#include <algorithm>

#include "common/log.h"
#include "connectors/filesystem/source/compressed_input.h"

namespace sluice::connectors::filesystem {

namespace {

// A text file is cut so that all cores find work to the end, but not so small that opening costs
// more than reading.
constexpr int64_t kLeastSplitBytes = 8 << 20;
constexpr int64_t kMostSplitBytes = 128 << 20;
constexpr int64_t kSplitsPerReader = 4;
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
  // Files of changes are read in the order in which they were written; of two of one moment the
  // shorter name was first: part-…-9 before part-…-10.
  if (!spec_->format->read_kinds.insert_only()) {
    std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
      const auto key = [](const Found& f) {
        return std::make_tuple(f.file.modified_ms, f.file.path.size(),
                               std::string_view(f.file.path));
      };
      return key(a) < key(b);
    });
  }
  return found;
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

Status FileDiscovery::SplitContainer(const Found& found, std::vector<FileSplit>* splits) const {
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<arrow::io::RandomAccessFile> file,
                          spec_->file_system->OpenFound(found.file));
  formats::FormatContext context;
  context.session_zone = spec_->session_zone;
  auto opened = spec_->format->open_bulk_file(spec_->format_options, spec_->read_schema,
                                              std::move(file), context);
  if (!opened.ok()) return opened.status().WithContext("Cannot read " + found.file.path + ".");
  for (int part = 0; part < (*opened)->part_count(); ++part) {
    if (!(*opened)->MayMatch(part, spec_->filters)) continue;
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

Result<std::vector<FileSplit>> FileDiscovery::FindNew(ProcessedPaths* seen) {
  SLUICE_ASSIGN_OR_RETURN(std::vector<Found> files, FindFiles());
  std::stable_sort(files.begin(), files.end(), [](const Found& a, const Found& b) {
    return a.file.modified_ms < b.file.modified_ms;
  });
  const int64_t now = clock_->NowMillis();
  std::vector<Found> fresh;
  for (Found& found : files) {
    const bool too_young =
        spec_->options.min_age_ms > 0 && now - found.file.modified_ms < spec_->options.min_age_ms;
    // A young file is not looked at at all: its size when it is old enough is the one that counts.
    if (too_young) continue;
    switch (seen->Look(found.file)) {
      case ProcessedPaths::Seen::kNew:
        fresh.push_back(std::move(found));
        break;
      case ProcessedPaths::Seen::kChanged:
        Log(LogLevel::kWarning, "File " + found.file.path +
                                    " has changed since it was found; the change is not read. "
                                    "Write new data to new files, or "
                                    "set 'source.file.min-age' for writers that take their time.");
        break;
      case ProcessedPaths::Seen::kSame:
        break;
    }
  }
  return MakeSplits(fresh);
}

}  // namespace sluice::connectors::filesystem
