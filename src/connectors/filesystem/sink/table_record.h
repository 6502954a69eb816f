// What a sink leaves about its own work in "_sluice" below a table: one line of JSON a checkpoint
// that published something, so that `sluice verify` can prove later that nothing is missing and
// nothing is there twice (docs/decisions/0019). Readers do not see it: its name begins with '_'.
//
// Records of one sink (a lineage) form a chain: each names the one before it. A run that goes back
// to an older state begins a branch, whose records come after all of the branch before; what that
// one has left is not in the chain of the newest record. Wall clocks leap: time orders only records
// that nothing else does (record_order.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "fs/file_system.h"

namespace sluice::connectors::filesystem {

inline constexpr std::string_view kRecordDirectory = "_sluice";
/// TableRecord::writer. Records of COMPACT TABLE are no chain: each has only merges.
inline constexpr std::string_view kInsertWriter = "INSERT";
inline constexpr std::string_view kCompactTableWriter = "COMPACT TABLE";

/// A file that became durable under its name; a name is relative to the table's root.
struct RecordedFile {
  std::string name;
  int64_t row_count = -1;  // -1: not known.
  int64_t size_bytes = 0;
  friend bool operator==(const RecordedFile&, const RecordedFile&) = default;
};

struct RecordedMerge {
  RecordedFile target;
  std::vector<std::string> inputs;
  friend bool operator==(const RecordedMerge&, const RecordedMerge&) = default;
};

struct TableRecord {
  std::string writer;
  std::string lineage;  // Of the sink.
  std::string format;
  int64_t branch = 0;  // How often the sink went back behind records that are there.
  int64_t checkpoint = 0;
  /// Checkpoint of the record before; 0: there is none.
  int64_t previous = 0;
  int64_t previous_branch = 0;
  /// The state that recording began from; 0: it began with the sink.
  int64_t since = 0;
  bool final = false;      // The input has ended and everything is in files.
  int64_t open_files = 0;  // Files that were still open at the barrier: their rows come later.
  int64_t time_ms = 0;     // Wall clock.
  /// Splits of the sources that have moved since the record before -> position behind the last row.
  std::map<std::string, int64_t> from;
  std::map<std::string, int64_t> to;
  std::vector<RecordedFile> files;
  std::vector<RecordedMerge> merged;
  std::vector<std::string> committed;  // Partitions, relative; "" is the table itself.
  std::string marker;                  // Name of the file that says so; "" when none is written.
  std::vector<std::string> replaced;   // Directories whose older files went (INSERT OVERWRITE).
  friend bool operator==(const TableRecord&, const TableRecord&) = default;
};

/// One line, with its line end.
std::string EncodeRecord(const TableRecord& record);
/// All lines. Fails with kCorrupt naming the line.
Result<std::vector<TableRecord>> ParseRecords(std::string_view lines);

/// "_sluice/<lineage>-<checkpoint>.jsonl" below `root`; of a later branch
/// "_sluice/<lineage>-<checkpoint>.<branch>.jsonl".
std::string RecordPath(const std::string& root, const TableRecord& record);
/// Durable, in place of an older one of the same sink and checkpoint. Blocking.
Status WriteRecord(fs::FileSystem& file_system, const std::string& root, const TableRecord& record);
/// The same for the first record of a start. One that an earlier start has written already keeps
/// its time, since COMPACT TABLE may have recorded something after it, what it says was committed,
/// and the other records that were folded into its file. Sets the branch: that of the record
/// before, a later one that an earlier start has begun, or a new one where this record goes back
/// behind some that are there. Removes what earlier starts of the sink have left half-written: a
/// process that is killed between writing a record and renaming it leaves a hidden file. Blocking.
Status WriteFirstRecord(fs::FileSystem& file_system, const std::string& root, TableRecord* record);
/// Puts the records at `paths` into one file under the last one's name and removes them. Records
/// that are there twice after a crash are the same. Blocking.
Status FoldRecords(fs::FileSystem& file_system, const std::vector<std::string>& paths);

/// The table keeps records. Blocking.
Result<bool> HasRecords(fs::FileSystem& file_system, const std::string& root);

struct ReadRecordsResult {
  std::vector<TableRecord> records;  // In the order of OrderRecords().
  /// Files that hold no records, and why.
  std::map<std::string, std::string> damaged;
};
/// All records of a table, none when there are none. Blocking.
Result<ReadRecordsResult> ReadRecords(fs::FileSystem& file_system, const std::string& root);

}  // namespace sluice::connectors::filesystem
