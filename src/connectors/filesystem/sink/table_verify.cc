#include "connectors/filesystem/sink/table_verify.h"

#include <algorithm>
#include <set>

#include <arrow/buffer.h>

#include "common/text.h"
#include "connectors/filesystem/partition/merge_journal.h"
#include "connectors/filesystem/sink/sink_names.h"
#include "connectors/filesystem/sink/table_cleaning.h"
#include "connectors/filesystem/sink/table_record.h"
#include "formats/all_formats.h"
#include "types/arrow_status.h"

namespace sluice::connectors::filesystem {
namespace {

using Severity = Finding::Severity;

/// Files of one length that a file without a record is compared with.
constexpr size_t kComparedFiles = 8;
/// A partition with fewer small files than this is nothing to speak of.
constexpr int64_t kFewFiles = 4;

std::string DirectoryOf(const std::string& name) {
  const size_t slash = name.rfind('/');
  return slash == std::string::npos ? "" : name.substr(0, slash);
}

std::string Rows(int64_t count) {
  return count < 0 ? "its rows" : std::to_string(count) + " row(s)";
}

Result<bool> SameContent(fs::FileSystem& file_system, const std::string& a, const std::string& b) {
  constexpr int64_t kPieceBytes = 1 << 20;
  SLUICE_ASSIGN_OR_RETURN(const auto left, file_system.OpenRead(a));
  SLUICE_ASSIGN_OR_RETURN(const auto right, file_system.OpenRead(b));
  SLUICE_ASSIGN_ARROW(const int64_t size, left->GetSize());
  for (int64_t at = 0; at < size; at += kPieceBytes) {
    SLUICE_ASSIGN_ARROW(const auto x, left->ReadAt(at, kPieceBytes));
    SLUICE_ASSIGN_ARROW(const auto y, right->ReadAt(at, kPieceBytes));
    if (!x->Equals(*y)) return false;
  }
  return true;
}

class Verifier {
 public:
  Verifier(fs::FileSystem& file_system, const VerifyRequest& request)
      : file_system_(file_system), request_(request) {}

  Result<VerifyReport> Run() {
    SLUICE_ASSIGN_OR_RETURN(ReadRecordsResult read, ReadRecords(file_system_, request_.root));
    // Behind the records: what they name is there, unless it is missing.
    SLUICE_RETURN_NOT_OK(ListFiles());
    for (const auto& [path, why] : read.damaged) {
      Problem("unreadable record", path, why);
    }
    records_ = std::move(read.records);
    report_.records = static_cast<int64_t>(records_.size());
    FollowChains();
    Replay();
    CompareWithFiles();
    SLUICE_RETURN_NOT_OK(LookAtStrangers());
    LookAtContent();
    LookAtMarkers();
    LookAtSmallFiles();
    SLUICE_RETURN_NOT_OK(LookAtLeftovers());
    std::stable_sort(report_.findings.begin(), report_.findings.end(),
                     [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
    return std::move(report_);
  }

 private:
  struct Expected {
    RecordedFile file;
    std::string lineage;
    int64_t checkpoint = 0;
    bool raw = false;  // Waits to be merged.
  };

  void Problem(std::string kind, std::string path, std::string detail) {
    report_.findings.push_back(
        {Severity::kProblem, std::move(kind), std::move(path), std::move(detail)});
  }
  void Oddity(std::string kind, std::string path, std::string detail) {
    report_.findings.push_back(
        {Severity::kOddity, std::move(kind), std::move(path), std::move(detail)});
  }
  std::string PathOf(const std::string& name) const {
    return name.starts_with("/") || name.find("://") != std::string::npos
               ? name
               : fs::JoinPath(request_.root, name);
  }

  Status ListFiles() {
    SLUICE_ASSIGN_OR_RETURN(const auto files, file_system_.ListTree(request_.root));
    SLUICE_ASSIGN_OR_RETURN(const std::set<std::string> left_out, LeftOutByJournals(files));
    for (const fs::FileInfo& file : files) {
      const std::string name = file.path.substr(request_.root.size() + 1);
      if (name.starts_with(std::string(kRecordDirectory) + "/")) continue;
      const bool hidden = fs::HasHiddenName(name) || left_out.contains(file.path);
      if (!hidden) {
        ++report_.files;
        report_.size_bytes += file.size_bytes;
        directories_.insert(DirectoryOf(name));
      }
      (hidden ? hidden_ : visible_)[name] = file;
    }
    return {};
  }

  /// Files that a COMPACT TABLE was about to add or to remove.
  Result<std::set<std::string>> LeftOutByJournals(const std::vector<fs::FileInfo>& files) {
    std::set<std::string> left_out;
    if (file_system_.has_directories()) return left_out;
    SLUICE_ASSIGN_OR_RETURN(const Journals journals, ReadJournals(file_system_, request_.root));
    if (journals.open.empty()) return left_out;
    Oddity("unfinished COMPACT TABLE", request_.root,
           "it was cut off, or runs: readers of Sluice see the right files, others may see rows "
           "twice. Run it again");
    std::vector<fs::FileInfo> kept = files;
    if (!HonourJournals(journals, request_.root, &kept)) {
      return Status::Unavailable("The files of " + request_.root +
                                 " are being switched: try again.");
    }
    for (const fs::FileInfo& file : files) left_out.insert(file.path);
    for (const fs::FileInfo& file : kept) left_out.erase(file.path);
    return left_out;
  }

  /// Which records count: those from which the newest one of its sink goes back.
  void FollowChains() {
    using Place = std::pair<int64_t, int64_t>;  // Branch, checkpoint.
    std::map<std::string, std::map<Place, const TableRecord*>> sinks;
    for (const TableRecord& record : records_) {
      if (record.writer == kCompactTableWriter) {
        in_chain_.insert(&record);  // Each statement stands for itself.
      } else {
        sinks[record.lineage][{record.branch, record.checkpoint}] = &record;
      }
    }
    for (const auto& [lineage, by_place] : sinks) {
      const TableRecord* newest = by_place.rbegin()->second;
      newest_of_sink_[lineage] = newest;
      for (const TableRecord* record = newest; record != nullptr;) {
        if (!in_chain_.insert(record).second) break;
        if (record->previous == 0) break;
        const auto before = by_place.find({record->previous_branch, record->previous});
        if (before == by_place.end()) {
          Problem("missing record", RecordPath(request_.root, *record),
                  "the record of checkpoint " + std::to_string(record->previous) + " of sink " +
                      lineage + ", to which this one goes back, is not there");
          break;
        }
        record = before->second;
      }
    }
  }

  /// What is there, if all is well: the records of the chains in their order.
  void Replay() {
    for (const TableRecord& record : records_) {
      if (!in_chain_.contains(&record)) {
        NoteAbandoned(record);
        continue;
      }
      for (const std::string& directory : record.replaced) DropDirectory(directory);
      for (const RecordedFile& file : record.files) Expect(file, record);
      for (const RecordedMerge& merge : record.merged) Merge(merge, record);
      for (const std::string& partition : record.committed) {
        if (!record.marker.empty()) committed_[partition] = record.marker;
      }
      FollowSources(record);
    }
  }

  void Expect(const RecordedFile& file, const TableRecord& record) {
    const auto [it, fresh] =
        expected_.try_emplace(file.name, Expected{file, record.lineage, record.checkpoint,
                                                  fs::NameOf(file.name).starts_with(kRawPrefix)});
    if (fresh) return;
    Problem("doubled record", PathOf(file.name),
            "the records of checkpoints " + std::to_string(it->second.checkpoint) + " and " +
                std::to_string(record.checkpoint) + " both have published it");
  }

  void Merge(const RecordedMerge& merge, const TableRecord& record) {
    int64_t rows = 0;
    for (const std::string& input : merge.inputs) {
      const auto found = expected_.find(input);
      if (found == expected_.end()) {
        const auto before = merged_into_.find(input);
        if (before != merged_into_.end()) {
          Problem("doubled rows", PathOf(merge.target.name),
                  input + " was merged into it and into " + before->second);
        }
        rows = -1;  // Of a file without a record nobody knows the rows.
        continue;
      }
      if (rows >= 0)
        rows = found->second.file.row_count < 0 ? -1 : rows + found->second.file.row_count;
      merged_into_[input] = merge.target.name;
      expected_.erase(found);
    }
    RecordedFile target = merge.target;
    if (target.row_count < 0) target.row_count = rows;
    if (rows >= 0 && target.row_count != rows) {
      Problem("wrong row count", PathOf(target.name),
              "it was merged from files with " + Rows(rows) + " and has " + Rows(target.row_count));
    }
    expected_.insert_or_assign(target.name,
                               Expected{target, record.lineage, record.checkpoint, false});
  }

  void DropDirectory(const std::string& directory) {
    std::erase_if(expected_, [&](const auto& entry) {
      return directory.empty() || entry.first.starts_with(directory + "/");
    });
    std::erase_if(committed_, [&](const auto& entry) {
      return directory.empty() || entry.first == directory ||
             entry.first.starts_with(directory + "/");
    });
  }

  void NoteAbandoned(const TableRecord& record) {
    for (const RecordedFile& file : record.files) abandoned_[file.name] = &record;
    for (const RecordedMerge& merge : record.merged) abandoned_[merge.target.name] = &record;
  }

  void FollowSources(const TableRecord& record) {
    for (const auto& [split, to] : record.to) {
      const std::string key = record.lineage + " " + split;
      const auto known = report_.ranges.find(key);
      const auto from = record.from.find(split);
      if (known == report_.ranges.end()) {
        // Where it began is known of later records only, and of files.
        int64_t begin = from == record.from.end() ? -1 : from->second;
        const size_t range = split.rfind(":[");
        if (begin < 0 && range != std::string::npos) begin = std::atoll(split.c_str() + range + 2);
        report_.ranges[key] = {begin, to};
        continue;
      }
      int64_t& end = known->second.second;
      if (to < end) {
        Problem("doubled rows", split,
                "the record of checkpoint " + std::to_string(record.checkpoint) + " ends at " +
                    std::to_string(to) + ", an earlier one at " + std::to_string(end) +
                    ": rows in between are there twice");
      }
      if (from != record.from.end() && from->second != end) {
        Problem(from->second > end ? "missing rows" : "doubled rows", split,
                "the record of checkpoint " + std::to_string(record.checkpoint) + " begins at " +
                    std::to_string(from->second) + ", the one before ends at " +
                    std::to_string(end));
      }
      end = std::max(end, to);
    }
  }

  void CompareWithFiles() {
    std::map<std::string, std::pair<int64_t, int64_t>> gone;  // Directory -> files, rows.
    for (const auto& [name, expected] : expected_) {
      const RecordedFile& file = expected.file;
      const fs::FileInfo* there = Find(name);
      if (there == nullptr) {
        const std::string directory = DirectoryOf(name);
        if (!directory.empty() && !directories_.contains(directory)) {
          ++gone[directory].first;
          gone[directory].second += std::max<int64_t>(file.row_count, 0);
          continue;
        }
        Problem(expected.raw ? "missing file to be merged" : "missing file", PathOf(name),
                "checkpoint " + std::to_string(expected.checkpoint) + " has published it with " +
                    Rows(file.row_count) + " in " + std::to_string(file.size_bytes) + " bytes");
        continue;
      }
      if (!expected.raw) {
        ++report_.recorded_files;
        report_.row_count += std::max<int64_t>(file.row_count, 0);
      }
      if (there->size_bytes != file.size_bytes) {
        Problem(there->size_bytes < file.size_bytes ? "cut file" : "changed file", PathOf(name),
                "it has " + std::to_string(there->size_bytes) + " bytes, and had " +
                    std::to_string(file.size_bytes) + " when it was published");
      }
    }
    for (const auto& [directory, counts] : gone) {
      Problem("missing partition", PathOf(directory),
              "all its " + std::to_string(counts.first) + " file(s) with " +
                  std::to_string(counts.second) + " row(s) are gone: was it dropped?");
    }
    for (const auto& [lineage, record] : newest_of_sink_) {
      if (record->open_files > 0) {
        Oddity("open files", request_.root,
               std::to_string(record->open_files) +
                   " file(s) were open at the newest record of sink " + lineage +
                   ": their rows are not visible yet");
      }
    }
  }

  const fs::FileInfo* Find(const std::string& name) {
    for (const auto* files : {&visible_, &hidden_}) {
      const auto found = files->find(name);
      if (found != files->end()) return &found->second;
    }
    if (PathOf(name) != name) return nullptr;
    const auto elsewhere = file_system_.Stat(name);  // Late rows that went aside.
    if (!elsewhere.ok()) return nullptr;
    return &(hidden_[name] = *elsewhere);
  }

  /// Visible files that no record of a chain names.
  Status LookAtStrangers() {
    if (records_.empty()) {
      if (report_.files > 0) {
        Oddity(
            "no records", request_.root,
            "the table keeps no records ('sink.record.enabled'): files are looked at one by one, "
            "that none is missing or there twice cannot be proven");
      }
      return {};
    }
    std::multimap<int64_t, std::string> by_size;
    for (const auto& [name, file] : visible_) by_size.emplace(file.size_bytes, name);
    for (const auto& [name, file] : visible_) {
      if (expected_.contains(name)) continue;
      SLUICE_RETURN_NOT_OK(LookAtStranger(name, file, by_size));
    }
    return {};
  }

  Status LookAtStranger(const std::string& name, const fs::FileInfo& file,
                        const std::multimap<int64_t, std::string>& by_size) {
    if (const auto run = abandoned_.find(name); run != abandoned_.end()) {
      Problem("file of an abandoned run", file.path,
              "published by checkpoint " + std::to_string(run->second->checkpoint) +
                  " of a run that was gone back behind: its rows were written again "
                  "(--remove-abandoned)");
      return {};
    }
    if (const auto merged = merged_into_.find(name); merged != merged_into_.end()) {
      Problem("doubled file", file.path,
              "it was merged into " + merged->second + " and is there still");
      return {};
    }
    const auto [begin, end] = by_size.equal_range(file.size_bytes);
    size_t compared = 0;
    for (auto it = begin; it != end && compared < kComparedFiles && file.size_bytes > 0; ++it) {
      if (!expected_.contains(it->second)) continue;
      ++compared;
      SLUICE_ASSIGN_OR_RETURN(const bool same,
                              SameContent(file_system_, file.path, PathOf(it->second)));
      if (!same) continue;
      Problem("doubled file", file.path,
              "it has no record and holds the same bytes as " + it->second);
      return {};
    }
    const auto lineage = LineageOfPartName(file.name());
    const TableRecord* newest = lineage ? NewestOf(*lineage) : nullptr;
    if (newest == nullptr || newest->since > 0) {
      Oddity("file without record", file.path,
             "written by somebody else, or before records were kept");
    } else if (file.modified_ms >= newest->time_ms) {
      Oddity("file without record", file.path,
             "newer than the newest record of its job: it runs, or was stopped just then");
    } else {
      Problem("doubled file", file.path,
              "its job has left no record of it: the rows are in a file that was published later");
    }
    return {};
  }

  const TableRecord* NewestOf(const std::string& lineage_begin) const {
    const auto at = newest_of_sink_.lower_bound(lineage_begin);
    return at != newest_of_sink_.end() && at->first.starts_with(lineage_begin) ? at->second
                                                                               : nullptr;
  }

  /// Containers must open, and have as many rows as was recorded.
  void LookAtContent() {
    for (const auto& [name, file] : visible_) {
      if (file.size_bytes == 0) {
        Oddity("empty file", file.path, "it has no bytes");
        continue;
      }
      const formats::Format* format = FormatOf(name, file);
      if (format == nullptr || format->open_bulk_file == nullptr) continue;
      const auto rows = CountRows(*format, file);
      if (!rows.ok()) {
        Problem("unreadable file", file.path, rows.status().message());
        continue;
      }
      const auto expected = expected_.find(name);
      if (expected == expected_.end() || *rows < 0) continue;
      if (expected->second.file.row_count >= 0 && expected->second.file.row_count != *rows) {
        Problem(
            "wrong row count", file.path,
            "it holds " + Rows(*rows) + ", recorded are " + Rows(expected->second.file.row_count));
      }
    }
  }

  const formats::Format* FormatOf(const std::string& name, const fs::FileInfo& file) {
    if (request_.layout) return request_.layout->format;
    const auto expected = expected_.find(name);
    if (expected != expected_.end()) {
      const TableRecord* record = NewestOf(expected->second.lineage);
      const auto found = record == nullptr ? Result<const formats::Format*>(Status::NotFound(""))
                                           : formats::FindFormat(record->format);
      if (found.ok()) return *found;
    }
    const auto opened = file_system_.OpenFound(file);
    if (!opened.ok()) return nullptr;
    const auto bytes = (*opened)->ReadAt(0, 4);
    if (!bytes.ok()) return nullptr;
    const std::string head = (*bytes)->ToString();
    std::string_view format;
    if (head == "PAR1") format = "parquet";
    if (head.starts_with("ORC")) format = "orc";
    if (head.starts_with("Obj\x01")) format = "avro";
    const auto found = formats::FindFormat(format);
    return !format.empty() && found.ok() ? *found : nullptr;
  }

  /// -1: the container does not tell without being read.
  Result<int64_t> CountRows(const formats::Format& format, const fs::FileInfo& file) {
    const formats::FormatContext context{.session_zone = {}, .pool = arrow::default_memory_pool()};
    formats::ReadSchema schema;
    formats::FormatOptions options;
    if (request_.layout) {
      schema.physical = request_.layout->schema;
      options = request_.layout->options;
      if (request_.read_all) {
        for (int i = 0; i < schema.physical.column_count(); ++i) schema.projection.push_back(i);
      }
    }
    SLUICE_ASSIGN_OR_RETURN(auto input, file_system_.OpenFound(file));
    SLUICE_ASSIGN_OR_RETURN(const auto opened,
                            format.open_bulk_file(options, schema, std::move(input), context));
    int64_t rows = 0;
    for (int part = 0; part < opened->part_count(); ++part) {
      if (!request_.read_all) {
        if (opened->row_count(part) < 0) return -1;
        rows += opened->row_count(part);
        continue;
      }
      SLUICE_ASSIGN_OR_RETURN(const auto reader, opened->ReadPart(part));
      while (true) {
        SLUICE_ASSIGN_OR_RETURN(const auto batch, reader->Next());
        if (!batch) break;
        rows += batch->row_count();
      }
    }
    return rows;
  }

  void LookAtMarkers() {
    for (const auto& [partition, marker] : committed_) {
      const std::string name = partition.empty() ? marker : partition + "/" + marker;
      if (hidden_.contains(name) || visible_.contains(name)) continue;
      if (!partition.empty() && !directories_.contains(partition)) continue;  // Said already.
      Problem("missing marker", PathOf(name), "the partition was committed and has no marker");
    }
    bool any = false;
    for (const auto& [name, file] : hidden_) any = any || fs::NameOf(name) == request_.marker;
    if (!any) return;
    for (const std::string& directory : directories_) {
      const std::string name =
          directory.empty() ? request_.marker : directory + "/" + request_.marker;
      if (hidden_.contains(name) || committed_.contains(directory)) continue;
      Oddity("partition without marker", PathOf(directory),
             "others have " + request_.marker + ": it is not committed yet");
    }
  }

  void LookAtSmallFiles() {
    std::map<std::string, std::pair<int64_t, int64_t>> small;  // Directory -> files, bytes.
    for (const auto& [name, file] : visible_) {
      if (file.size_bytes >= request_.small_file_bytes) continue;
      auto& [files, bytes] = small[DirectoryOf(name)];
      ++files;
      bytes += file.size_bytes;
    }
    for (const auto& [directory, counts] : small) {
      if (counts.first < kFewFiles) continue;
      Oddity("small files", PathOf(directory),
             std::to_string(counts.first) + " files below " +
                 std::to_string(request_.small_file_bytes) + " bytes, " +
                 std::to_string(counts.second) + " bytes together: COMPACT TABLE merges them");
    }
  }

  Status LookAtLeftovers() {
    SLUICE_ASSIGN_OR_RETURN(const auto leftovers, ListLeftovers(file_system_, request_.root));
    for (const Leftover& leftover : leftovers) {
      const std::string name = leftover.path.starts_with(request_.root + "/")
                                   ? leftover.path.substr(request_.root.size() + 1)
                                   : leftover.path;
      if (expected_.contains(name)) continue;
      const auto merged = merged_into_.find(name);
      Oddity("hidden leftover", leftover.path,
             std::string(KindText(leftover.kind)) +
                 (merged != merged_into_.end()
                      ? ": merged into " + merged->second + " already; its job removes it"
                      : ": of a job that runs, or is to be resumed, or CLEAN TABLE removes it"));
    }
    return {};
  }

  fs::FileSystem& file_system_;
  const VerifyRequest& request_;
  VerifyReport report_;
  std::vector<TableRecord> records_;
  std::map<std::string, fs::FileInfo> visible_;  // By relative name.
  std::map<std::string, fs::FileInfo> hidden_;
  std::set<std::string> directories_;  // With visible files.
  std::set<const TableRecord*> in_chain_;
  std::map<std::string, const TableRecord*> newest_of_sink_;
  std::map<std::string, Expected> expected_;
  std::map<std::string, std::string> merged_into_;
  std::map<std::string, const TableRecord*> abandoned_;
  std::map<std::string, std::string> committed_;  // Partition -> marker.
};

}  // namespace

Result<VerifyReport> VerifyTable(fs::FileSystem& file_system, const VerifyRequest& request) {
  return Verifier(file_system, request).Run();
}

}  // namespace sluice::connectors::filesystem
