// COMPACT TABLE: merges the small files of partitions that nobody writes at the moment.
//
// The new content of a partition is written whole into a hidden directory beside it, and the two
// change places in one step, as for INSERT OVERWRITE: at every instant a listing shows all old or
// all new files. A statement that was killed is finished, or taken back, by the next one.
// Object stores can do neither: there, and only if 'compaction.switch' = 'journal' says so, the
// files are switched by a journal that readers of Sluice honour (partition/merge_journal.h).
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "connectors/connector.h"
#include "connectors/filesystem/compression/compression.h"
#include "connectors/filesystem/partition/merge_journal.h"
#include "connectors/filesystem/sink/file_layout.h"
#include "connectors/filesystem/sink/merge_gate.h"
#include "connectors/filesystem/sink/rate_limit.h"

namespace sluice::connectors::filesystem {

struct CompactedPartition {
  std::string partition;  // "dt=2020-05-20/hour=08"; "" for a table without partitions.
  int64_t files_before = 0;
  int64_t files_after = 0;
  int64_t bytes_before = 0;
  int64_t bytes_after = 0;
  std::string remark;  // Why it was left as it is; "" when it was merged.
};

/// Thread-safe, for partitions that are not the same.
class TableCompaction {
 public:
  /// `memory_bytes`: what all merges may hold together. Fails when the format cannot be merged.
  static Result<std::unique_ptr<TableCompaction>> Make(const TableInfo& table,
                                                       const ConnectorContext& context,
                                                       int64_t memory_bytes);

  /// Compacts partitions, several at once, as CompactPartitions says.
  Result<std::vector<CompactedPartition>> CompactAll(std::span<const PartitionValues> partitions);

  /// Blocking. A partition without two files that fit together, one that a job writes into, and one
  /// with sub-directories of its own are left as they are.
  Result<CompactedPartition> Compact(const PartitionValues& values);

 private:
  TableCompaction() = default;
  /// On an object store, by a journal (merge_journal.h).
  Status FinishEarlierJournals(const std::string& directory);
  Status SwitchByJournal(const std::string& directory, const std::vector<fs::FileInfo>& files,
                         const std::vector<std::vector<size_t>>& bins,
                         std::vector<std::string>* handles);
  Status RemoveOld(const MergeJournal& journal);
  Status FinishEarlier(const std::string& directory, const std::string& staging);
  /// Tries it once for the table; the exchange itself fails where a partition is on another file
  /// system.
  Status CheckExchange(const std::string& directory, const std::string& staging);
  Status TryExchange(const std::string& directory, const std::string& staging);
  std::string NameOf(const PartitionValues& values) const;
  /// What may be merged with what.
  enum class MergeGroup { kPlain, kCompressed, kAlone };
  MergeGroup GroupOf(const fs::FileInfo& file) const;
  /// As few bins as the target size allows, by index in `files`.
  std::vector<std::vector<size_t>> PackBins(const std::vector<fs::FileInfo>& files) const;
  /// Takes the staged files back when something else has written meanwhile.
  Status CheckUnchanged(const std::string& directory, const std::string& staging,
                        const std::vector<fs::FileInfo>& files);
  int64_t NextRecord(int64_t now_ms);
  /// Where the table keeps records.
  Status LeaveRecord(const std::string& directory, const std::vector<fs::FileInfo>& files,
                     const std::vector<std::vector<size_t>>& bins,
                     const std::vector<std::string>& handles);
  /// Writes the bins below `staging`; returns the handles.
  Result<std::vector<std::string>> WriteStaged(const std::vector<fs::FileInfo>& files,
                                               const std::vector<std::vector<size_t>>& bins,
                                               const std::string& staging);

  std::string table_;
  std::shared_ptr<fs::FileSystem> file_system_;
  std::string root_;
  std::vector<std::string> partition_keys_;
  std::string default_partition_name_;
  std::map<std::string, std::vector<std::string>> other_spellings_;  // Of a directory of ours.
  FileLayout layout_;
  TimeZone session_zone_;
  Compression compression_ = Compression::kNone;  // Of the files that the table's jobs write.
  int64_t target_bytes_ = 0;
  std::unique_ptr<RateLimit> rate_;
  bool header_records_ = false;
  bool journal_ = false;
  std::string lineage_;
  std::string run_id_;       // Part of the new names: nobody ever has it again.
  std::string name_prefix_;  // In front of it.
  std::string name_suffix_;
  int workers_ = 1;
  size_t most_open_ = 1;  // Inputs of a merge.
  std::unique_ptr<MergeGate> gate_;
  std::atomic<int64_t> next_number_{0};
  std::atomic<int64_t> next_journal_{0};
  std::mutex mutex_;
  int64_t last_record_ = 0;         // Under mutex_.
  bool exchange_is_known_ = false;  // Under mutex_.
};

}  // namespace sluice::connectors::filesystem
