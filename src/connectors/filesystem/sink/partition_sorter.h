// Rows that wait sorted by partition until the next barrier, for one writer: many partitions cost
// it one file each, at a time, instead of an open encoder each (docs/decisions/0020).
//
// A batch is staged whole with the partition of each row; staged rows are sorted once there are
// enough of them. Partitions that get many rows at once go on to an open file; the others' rows go
// into a run (RowRuns), and at the barrier the runs are merged.
// Invariant: rows of a partition keep their order: one that has rows in a run gets no rows past it.
// Thread: the owning subtask, but for ReadPiece and Spill (I/O pool, nothing else meanwhile).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "connectors/filesystem/sink/committable.h"
#include "connectors/filesystem/sink/file_sink_plan.h"
#include "connectors/filesystem/sink/row_runs.h"
#include "connectors/filesystem/sink/sorted_rows.h"
#include "expr/key_index.h"
#include "runtime/operator.h"

namespace sluice::connectors::filesystem {

class PartitionSorter {
 public:
  /// All must outlive it.
  PartitionSorter(const FileSinkPlan* plan, const runtime::TaskContext* context, HeldBytes* held);

  struct Entry {
    PartitionRef partition;
    int64_t first_row_ms = 0;
  };
  using PartitionOf = std::function<Result<PartitionRef>(int64_t row)>;

  /// `rows` has the file's columns, `keys` those that tell the partition, at `key_columns`.
  Status Add(std::shared_ptr<arrow::RecordBatch> rows, const arrow::RecordBatch& keys,
             const std::vector<int>& key_columns, int64_t now_ms, const PartitionOf& partition_of);
  bool empty() const { return staged_.empty() && runs_.empty(); }
  /// Enough is staged to be sorted.
  bool full() const { return staged_.held_bytes() >= sort_bytes_; }
  /// Sorts what is staged. What comes back is to be written into open files, partition by
  /// partition.
  Result<SortedRows> Sort();
  const Entry& entry(int32_t partition) const { return entries_[static_cast<size_t>(partition)]; }
  /// Partitions with rows in runs.
  int64_t waiting_partitions() const { return runs_.partition_count(); }
  bool has_staged() const { return !staged_.empty(); }

  /// More is in memory than should be.
  bool MustSpill() const;
  Status Spill() { return runs_.Spill(); }
  /// Reading blocks, as it is on disk.
  bool spilled() const { return runs_.spilled_bytes() > 0; }
  /// See RowRuns::Next; after the last piece nothing is left here.
  Result<RowRuns::Piece> ReadPiece();
  /// Forgets the partitions, when empty().
  void Clear();

 private:
  const FileSinkPlan& plan_;
  const runtime::TaskContext& context_;
  const int64_t sort_bytes_;
  const int64_t sorted_bytes_;
  expr::KeyIndex index_;
  std::vector<Entry> entries_;  // By the ids of index_.
  StagedRows staged_;
  RowRuns runs_;
};

}  // namespace sluice::connectors::filesystem
