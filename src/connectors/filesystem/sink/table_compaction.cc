#include "connectors/filesystem/sink/table_compaction.h"

#include <algorithm>
#include <array>
#include <thread>

#include "common/clock.h"
#include "common/crash_point.h"
#include "common/random.h"
#include "common/text.h"
#include "connectors/filesystem/partition/partition_path.h"
#include "connectors/filesystem/partition/partition_spellings.h"
#include "connectors/filesystem/sink/compaction_plan.h"
#include "connectors/filesystem/sink/file_merger.h"
#include "connectors/filesystem/sink/overwrite.h"
#include "connectors/filesystem/sink/parallel_compaction.h"
#include "connectors/filesystem/sink/sink_names.h"
#include "connectors/filesystem/sink/sink_options.h"
#include "connectors/filesystem/sink/table_record.h"

namespace sluice::connectors::filesystem {
namespace {

constexpr std::string_view kStatement = "COMPACT TABLE";

/// Partitions under way for each that merges: the others wait for the disk, whose file systems make
/// durable in one go what many ask for at once.
constexpr int kWorkersPerMerge = 8;

/// Of all merges together: a quarter of the usual 1,024 descriptors of a process.
constexpr int kOpenInputs = 256;

/// A listing that began before a switch is over by then.
constexpr int64_t kDoneJournalsKeptMs = 3'600'000;

/// Files that readers decompress by their names: those of other programs may end in the middle of a
/// record.
constexpr std::array<std::string_view, 8> kCompressedSuffixes = {
    ".gz", ".gzip", ".deflate", ".bz2", ".xz", ".zst", ".snappy", ".lz4"};

bool IsCompressed(std::string_view name) {
  return std::any_of(kCompressedSuffixes.begin(), kCompressedSuffixes.end(),
                     [name](std::string_view suffix) { return name.ends_with(suffix); });
}

bool IsBeingWritten(std::string_view name) {
  return name.find(kInProgressInfix) != std::string_view::npos || name.starts_with(kRawPrefix);
}

}  // namespace

Result<std::unique_ptr<TableCompaction>> TableCompaction::Make(const TableInfo& table,
                                                               const ConnectorContext& context,
                                                               int64_t memory_bytes) {
  std::unique_ptr<TableCompaction> made(new TableCompaction());
  made->table_ = table.identifier;
  SLUICE_ASSIGN_OR_RETURN(auto located, context.file_systems->Locate(table.options.at("path")));
  made->file_system_ = std::move(located.file_system);
  made->root_ = std::move(located.path);
  made->partition_keys_ = table.partition_keys;
  const auto name = table.options.find("partition.default-name");
  made->default_partition_name_ =
      name == table.options.end() ? std::string(kDefaultPartitionName) : name->second;
  SLUICE_ASSIGN_OR_RETURN(made->layout_, LayoutOfTable(table));
  const formats::Format& format = *made->layout_.format;
  const bool bulk = format.encoding == formats::Encoding::kBulk;
  if (bulk && (format.open_bulk_file == nullptr || format.make_bulk_writer == nullptr)) {
    return Status::Unsupported("COMPACT TABLE cannot merge files of format '" +
                               std::string(format.name) + "': the table is '" + table.identifier +
                               "'.");
  }
  made->session_zone_ = context.session_zone;
  SLUICE_ASSIGN_OR_RETURN(const SinkOptions options, ReadSinkOptions(table));
  made->name_prefix_ = std::string(kCompactedPrefix) + options.part_prefix + "-";
  made->name_suffix_ = options.part_suffix;
  made->compression_ = options.compression;
  made->journal_ = options.compaction.journal && !made->file_system_->has_directories();
  made->target_bytes_ = options.compaction.target_bytes;
  const int parallelism = options.compaction.parallelism > 0
                              ? options.compaction.parallelism
                              : static_cast<int>(std::thread::hardware_concurrency());
  made->gate_ = std::make_unique<MergeGate>(parallelism, memory_bytes);
  made->most_open_ = static_cast<size_t>(std::max(kOpenInputs / std::max(parallelism, 1), 8));
  // On object stores one by one: uploads hold memory until the store has them, and each partition
  // reads the journals of all.
  made->workers_ =
      made->file_system_->has_directories() ? std::max(parallelism, 1) * kWorkersPerMerge : 1;
  made->rate_ = std::make_unique<RateLimit>(options.compaction.max_bytes_per_second);
  const auto header = made->layout_.options.options.find("ignore-first-line");
  if (header != made->layout_.options.options.end()) {
    SLUICE_ASSIGN_OR_RETURN(made->header_records_, ParseBooleanOption(header->second));
  }
  // The same for every statement over this table, so that the next one knows what a dead one left.
  made->lineage_ = MakeLineage("COMPACT TABLE", made->root_);
  // Its uploads are known by it, and nobody ever has it again.
  made->run_id_ = AttemptUuid(made->lineage_, "COMPACT TABLE", Random(Random::SystemSeed()).Uuid());
  return made;
}

Status TableCompaction::FinishEarlier(const std::string& directory, const std::string& staging) {
  if (!file_system_->has_directories()) return {};
  const std::string marker =
      fs::JoinPath(directory, staging.substr(staging.rfind('/') + 1) + ".exchanged");
  const auto exchanged = file_system_->Stat(marker);
  if (exchanged.ok()) {
    return ReplaceDirectory(*file_system_, {.directory = directory,
                                            .staging = staging,
                                            .handles = {},
                                            .statement = kStatement,
                                            .must_exchange = true,
                                            .replaced = {}});
  }
  if (exchanged.status().code() != StatusCode::kNotFound) return exchanged.status();
  return file_system_->DeleteTree(staging);
}

Status TableCompaction::CheckExchange(const std::string& directory, const std::string& staging) {
  const std::lock_guard lock(mutex_);
  if (exchange_is_known_) return {};
  SLUICE_RETURN_NOT_OK(TryExchange(directory, staging));
  exchange_is_known_ = true;
  return {};
}

Status TableCompaction::TryExchange(const std::string& directory, const std::string& staging) {
  const Status cannot = Status::Unsupported(
      "COMPACT TABLE replaces the files of a partition in one step, which the file system of " +
      directory +
      " cannot do. Use 'auto-compaction' = 'true' in the job that writes the table, or INSERT INTO "
      "another table.");
  if (!file_system_->has_directories()) {
    return Status::Unsupported(
        "COMPACT TABLE replaces the files of a partition in one step, which an object store cannot "
        "do: " +
        directory +
        ". With 'compaction.switch' = 'journal' readers of Sluice see all old or all new files; "
        "other readers may see both for the moment of the switch. Or use 'auto-compaction' = "
        "'true' in the job that writes the table.");
  }
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
                         .header_records = header_records_,
                         .foreign = true,
                         .compressed = IsCompressed(files[bin.front()].name()),
                         .rate = rate_.get(),
                         .gate = gate_.get(),
                         .most_open = most_open_};
    for (const size_t i : bin) request.inputs.push_back(files[i].path);
    // A file that stays as it is keeps its name.
    const std::string name =
        bin.size() == 1
            ? std::string(files[bin.front()].name())
            : name_prefix_ + run_id_ + "-0-" + std::to_string(next_number_++) + name_suffix_ +
                  (request.compressed ? std::string(SuffixOf(compression_)) : "");
    request.target = fs::JoinPath(staging, name);
    SLUICE_ASSIGN_OR_RETURN(MergedFile merged, MergeFiles(*file_system_, request));
    handles.push_back(std::move(merged.handle));
  }
  return handles;
}

// A predecessor that died: if all its new files are there the old ones go, else the new ones.
Status TableCompaction::FinishEarlierJournals(const std::string& directory) {
  SLUICE_ASSIGN_OR_RETURN(const auto uploads, file_system_->publisher().ListUnfinished(directory));
  for (const auto& upload : uploads) {
    const fs::FileInfo file{.path = upload.final_path};
    if (UuidOfPartName(file.name(), lineage_)) {
      SLUICE_RETURN_NOT_OK(file_system_->publisher().DropUnfinished(upload));
    }
  }
  SLUICE_ASSIGN_OR_RETURN(const Journals journals, ReadJournals(*file_system_, root_));
  for (const MergeJournal& journal : journals.open) {
    const std::string place =
        journal.directory.empty() ? root_ : fs::JoinPath(root_, journal.directory);
    if (place != directory) continue;
    bool all_new = true;
    std::vector<std::string> added;
    for (const std::string& name : journal.added) {
      added.push_back(fs::JoinPath(place, name));
      const auto there = file_system_->Stat(added.back());
      if (!there.ok() && there.status().code() != StatusCode::kNotFound) return there.status();
      all_new = all_new && there.ok();
    }
    if (!all_new) SLUICE_RETURN_NOT_OK(file_system_->DeleteFiles(added));
    SLUICE_RETURN_NOT_OK(all_new ? RemoveOld(journal)
                                 : file_system_->DeleteFile(JournalPath(root_, journal.id, false)));
  }
  // Who was listing when one of these was written has long been done.
  const int64_t old_ms = Clock::System().NowMillis() - kDoneJournalsKeptMs;
  auto entries = file_system_->List(fs::ParentPath(JournalPath(root_, "x", true)));
  if (!entries.ok() && entries.status().code() != StatusCode::kNotFound) return entries.status();
  for (size_t i = 0; entries.ok() && i < entries->size(); ++i) {
    const fs::FileInfo& entry = (*entries)[i];
    if (entry.name().ends_with(".done") && entry.modified_ms < old_ms) {
      SLUICE_RETURN_NOT_OK(file_system_->DeleteFile(entry.path));
    }
  }
  return {};
}

Status TableCompaction::SwitchByJournal(const std::string& directory,
                                        const std::vector<fs::FileInfo>& files,
                                        const std::vector<std::vector<size_t>>& bins,
                                        std::vector<std::string>* handles) {
  // Those that stay as they are come last, and are not touched.
  std::vector<std::vector<size_t>> merged;
  for (const auto& bin : bins) {
    if (bin.size() > 1) merged.push_back(bin);
  }
  MergeJournal journal;
  journal.id = run_id_ + "-" + std::to_string(next_journal_++);
  journal.directory = directory == root_ ? "" : directory.substr(root_.size() + 1);
  for (const auto& bin : merged) {
    for (const size_t i : bin) journal.removed.emplace_back(files[i].name());
  }
  // Uploads of the final names: nobody sees them before they are completed.
  SLUICE_ASSIGN_OR_RETURN(*handles, WriteStaged(files, merged, directory));
  for (const std::string& handle : *handles) {
    SLUICE_ASSIGN_OR_RETURN(const auto info, file_system_->publisher().Describe(handle));
    journal.added.emplace_back(fs::FileInfo{.path = info.final_path}.name());
  }
  for (const std::string& name : journal.removed) {
    const auto there = file_system_->Stat(fs::JoinPath(directory, name));
    if (there.ok()) continue;
    for (const std::string& handle : *handles) {
      SLUICE_RETURN_NOT_OK(file_system_->publisher().Abandon(handle));
    }
    return Status::Unavailable("The file " + name + " of " + directory +
                               " has gone while it was merged. Nothing was replaced.");
  }
  SLUICE_CRASH_POINT("store.before_journal");
  SLUICE_RETURN_NOT_OK(
      file_system_->WriteWhole(JournalPath(root_, journal.id, false), EncodeJournal(journal)));
  SLUICE_CRASH_POINT("store.after_journal");
  for (Status& status : file_system_->publisher().Publish(*handles)) {
    // The next statement takes it back.
    SLUICE_RETURN_NOT_OK(std::move(status));
  }
  SLUICE_CRASH_POINT("store.after_switch");
  return RemoveOld(journal);
}

Status TableCompaction::RemoveOld(const MergeJournal& journal) {
  const std::string place =
      journal.directory.empty() ? root_ : fs::JoinPath(root_, journal.directory);
  std::vector<std::string> old;
  for (const std::string& name : journal.removed) old.push_back(fs::JoinPath(place, name));
  SLUICE_RETURN_NOT_OK(file_system_->DeleteFiles(old));
  SLUICE_CRASH_POINT("store.after_removal");
  SLUICE_RETURN_NOT_OK(
      file_system_->WriteWhole(JournalPath(root_, journal.id, true), EncodeJournal(journal)));
  return file_system_->DeleteFile(JournalPath(root_, journal.id, false));
}

int64_t TableCompaction::NextRecord(int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  return last_record_ = std::max(now_ms, last_record_ + 1);
}

Status TableCompaction::LeaveRecord(const std::string& directory,
                                    const std::vector<fs::FileInfo>& files,
                                    const std::vector<std::vector<size_t>>& bins,
                                    const std::vector<std::string>& handles) {
  SLUICE_ASSIGN_OR_RETURN(const bool kept, HasRecords(*file_system_, root_));
  if (!kept) return {};
  const int64_t now_ms = Clock::System().NowMillis();
  TableRecord record{.writer = std::string(kCompactTableWriter),
                     .lineage = lineage_,
                     .format = std::string(layout_.format->name),
                     // Nobody goes back behind it: any number that is not used serves.
                     .checkpoint = NextRecord(now_ms),
                     .final = true,
                     .time_ms = now_ms};
  const auto relative = [this](const std::string& path) { return path.substr(root_.size() + 1); };
  for (size_t i = 0; i < bins.size(); ++i) {
    if (bins[i].size() < 2) continue;
    SLUICE_ASSIGN_OR_RETURN(const auto info, file_system_->publisher().Describe(handles[i]));
    RecordedMerge merge{
        {relative(fs::JoinPath(directory, fs::FileInfo{.path = info.final_path}.name())), -1,
         info.length_bytes},
        {}};
    for (const size_t file : bins[i]) merge.inputs.push_back(relative(files[file].path));
    record.merged.push_back(std::move(merge));
  }
  return WriteRecord(*file_system_, root_, record);
}

TableCompaction::MergeGroup TableCompaction::GroupOf(const fs::FileInfo& file) const {
  // Readers pass by a container of 0 bytes.
  const bool bulk = layout_.format->encoding == formats::Encoding::kBulk;
  if (bulk && file.size_bytes == 0) return MergeGroup::kAlone;
  const std::string_view name = file.name();
  if (!IsCompressed(name)) return MergeGroup::kPlain;
  // Whole members of whole records, as writers of this table make them.
  const bool own = ParsePartName(name).has_value() && CompressionOf(name) == compression_ &&
                   CanBeContinued(compression_) && !header_records_;
  return own ? MergeGroup::kCompressed : MergeGroup::kAlone;
}

std::vector<std::vector<size_t>> TableCompaction::PackBins(
    const std::vector<fs::FileInfo>& files) const {
  std::vector<std::vector<size_t>> bins;
  for (const MergeGroup group : {MergeGroup::kPlain, MergeGroup::kCompressed}) {
    std::vector<PackedFile> packed;
    std::vector<size_t> place;  // Of the packed ones in `files`.
    for (size_t i = 0; i < files.size(); ++i) {
      if (GroupOf(files[i]) != group) continue;
      packed.push_back({files[i].path, files[i].size_bytes});
      place.push_back(i);
    }
    for (std::vector<size_t> bin : PackFewest(packed, target_bytes_)) {
      for (size_t& i : bin) i = place[i];
      bins.push_back(std::move(bin));
    }
  }
  for (size_t i = 0; i < files.size(); ++i) {
    if (GroupOf(files[i]) == MergeGroup::kAlone) bins.push_back({i});
  }
  return bins;
}

std::string TableCompaction::NameOf(const PartitionValues& values) const {
  return partition_keys_.empty() ? ""
                                 : PartitionPath(partition_keys_, values, default_partition_name_);
}

Result<std::vector<CompactedPartition>> TableCompaction::CompactAll(
    std::span<const PartitionValues> partitions) {
  SLUICE_ASSIGN_OR_RETURN(
      const auto others,
      FindOtherSpellings(*file_system_, root_, partition_keys_, default_partition_name_,
                         {partitions.begin(), partitions.end()}));
  for (const OtherSpelling& other : others) other_spellings_[other.own].push_back(other.path);
  return CompactPartitions(
      partitions, workers_, [this](const PartitionValues& values) { return Compact(values); },
      [this](const PartitionValues& values) { return NameOf(values); });
}

Result<CompactedPartition> TableCompaction::Compact(const PartitionValues& values) {
  CompactedPartition result;
  result.partition = NameOf(values);
  std::string directory = partition_keys_.empty() ? root_ : fs::JoinPath(root_, result.partition);
  if (const auto others = other_spellings_.find(directory); others != other_spellings_.end()) {
    const auto own = file_system_->Stat(directory);
    if (own.status().code() == StatusCode::kNotFound && others->second.size() == 1) {
      directory = others->second.front();
    } else {
      result.remark = "it is in several directories, such as " + Printable(others->second.front());
    }
  }
  const std::string staging = StagingDirectory(directory, lineage_);
  SLUICE_RETURN_NOT_OK(FinishEarlier(directory, staging));
  if (journal_) SLUICE_RETURN_NOT_OK(FinishEarlierJournals(directory));
  auto entries = file_system_->List(directory);
  if (entries.status().code() == StatusCode::kNotFound) {
    result.remark = "there are no files";
    return result;
  }
  if (!entries.ok()) return entries.status();
  std::vector<fs::FileInfo> files;
  for (const fs::FileInfo& entry : *entries) {
    if (fs::IsHiddenName(entry.name())) {
      if (IsBeingWritten(entry.name()))
        result.remark = "a job writes into it, or has left " + Printable(entry.name());
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

  std::vector<std::vector<size_t>> bins = PackBins(files);
  // New names first: whether the first of them is in place tells that all is done.
  std::stable_partition(bins.begin(), bins.end(), [](const auto& bin) { return bin.size() > 1; });
  if (bins.size() == files.size()) {
    const auto left = std::count_if(files.begin(), files.end(), [this](const fs::FileInfo& file) {
      return file.size_bytes > 0 && GroupOf(file) == MergeGroup::kAlone;
    });
    result.remark = left > 1
                        ? "its files are compressed, and not by jobs with this 'sink.compression'"
                        : "its files are large enough";
    return result;
  }
  std::vector<std::string> handles;
  if (journal_) {
    SLUICE_RETURN_NOT_OK(SwitchByJournal(directory, files, bins, &handles));
  } else {
    SLUICE_RETURN_NOT_OK(CheckExchange(directory, staging));
    auto staged = WriteStaged(files, bins, staging);
    if (!staged.ok()) {
      (void)file_system_->DeleteTree(staging);  // The reason counts, not what is left hidden.
      return staged.status();
    }
    handles = std::move(*staged);
    SLUICE_RETURN_NOT_OK(CheckUnchanged(directory, staging, files));
    std::vector<std::string> names;
    for (const fs::FileInfo& file : files) names.emplace_back(file.name());
    SLUICE_RETURN_NOT_OK(ReplaceDirectory(*file_system_, {.directory = directory,
                                                          .staging = staging,
                                                          .handles = handles,
                                                          .statement = kStatement,
                                                          .must_exchange = true,
                                                          .replaced = std::move(names)}));
  }
  SLUICE_RETURN_NOT_OK(LeaveRecord(directory, files, bins, handles));
  result.files_after = static_cast<int64_t>(bins.size());
  result.bytes_after = 0;
  for (const std::string& handle : handles) {
    SLUICE_ASSIGN_OR_RETURN(const auto info, file_system_->publisher().Describe(handle));
    result.bytes_after += info.length_bytes;
  }
  // By a journal, a file that stays as it is was not written again.
  for (size_t i = handles.size(); i < bins.size(); ++i) {
    result.bytes_after += files[bins[i].front()].size_bytes;
  }
  return result;
}

}  // namespace sluice::connectors::filesystem
