// Rows of partitions that are not worth an open file yet, in runs sorted by partition: in memory up
// to a limit, behind it in a temporary file. Taken out they come partition by partition, so that
// each can be written at once, whatever the order in which its rows came.
//
// An open Parquet writer costs 80 KiB before its first row, and ten thousand of them are met in
// turn by rows that go round; a run costs its rows and 8 bytes a partition. Thread: one at a time.
// Spill and Next read and write files: I/O pool.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arrow/memory_pool.h>

#include "common/result.h"
#include "connectors/filesystem/sink/sorted_rows.h"

namespace sluice::connectors::filesystem {

class RowRuns {
 public:
  /// `directory`: where the temporary file goes.
  RowRuns(MemoryBudget* budget, HeldBytes* held, arrow::MemoryPool* pool, std::string directory);
  ~RowRuns();

  void Add(SortedRows run);
  bool empty() const { return runs_.empty(); }
  bool Holds(int32_t partition) const;
  int64_t partition_count() const { return partition_count_; }
  /// Of the runs that are still in memory.
  int64_t memory_bytes() const { return share_.bytes(); }
  int64_t spilled_bytes() const { return spilled_bytes_; }

  /// Moves the runs in memory to the temporary file, each as it is while there are few, then joined
  /// into one. The file has no name: it goes with the process. Fails as the disk does.
  Status Spill();

  struct Piece {
    SortedRows rows;
    bool continued = false;   // The first segment goes on with a partition of the piece before.
    bool unfinished = false;  // The last segment goes on in the next piece.
  };
  /// The next partitions, ascending, with all of their rows in order of arrival: about `bytes`, at
  /// least a row. After the last one `rows` is empty, and so is this. No Add in between.
  Result<Piece> Next(int64_t bytes);

 private:
  class Run;
  class MemoryRun;
  class SpilledRun;
  Result<Piece> Merge(std::vector<std::unique_ptr<Run>>& runs, int64_t bytes);
  Status SpillAsItIs(const MemoryRun& run);
  Status SpillJoined(std::vector<std::unique_ptr<Run>>& runs);
  Status OpenFile();
  Status Append(const arrow::RecordBatch& rows, int64_t* offset, int64_t* length);

  arrow::MemoryPool* const pool_;
  const std::string directory_;
  std::vector<std::unique_ptr<Run>> runs_;  // In order of arrival.
  size_t spilled_runs_ = 0;                 // The first ones.
  std::vector<bool> held_partitions_;
  int64_t partition_count_ = 0;
  int64_t row_count_ = 0;
  int64_t data_bytes_ = 0;
  int32_t unfinished_ = -1;  // The partition that the last piece ended within.
  int descriptor_ = -1;
  int64_t file_bytes_ = 0;
  int64_t spilled_bytes_ = 0;
  BudgetShare share_;
};

}  // namespace sluice::connectors::filesystem
