// The parallel half of the file sink: routes rows to buckets, closes files by the rolling rules and
// at barriers, and tells the committer about them before each barrier.
//
// Rows of a row format are encoded once a batch and the bytes dealt out to the buckets; rows of a
// bulk format are split and gathered for each bucket. Where batches hold so many partitions that
// each gets a few rows only, rows wait sorted by partition (PartitionSorter) until the next
// barrier. State: for each file that stays open over the barrier its resume handle, partition,
// times and, of a container, what its encoder holds; the lineage; how files are written. Everything
// else is closed and reported, and is then the committer's. Thread: one task; closing, persisting
// and resuming run on the I/O pool.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "connectors/filesystem/sink/bucket_set.h"
#include "connectors/filesystem/sink/file_sink_plan.h"
#include "connectors/filesystem/sink/partition_sorter.h"
#include "runtime/operator.h"

namespace sluice::connectors::filesystem {

class FileWriter final : public runtime::Operator {
 public:
  explicit FileWriter(std::shared_ptr<const FileSinkPlan> plan) : plan_(std::move(plan)) {}

  Status Open(runtime::TaskContext& context) override;
  Status Restore(const runtime::RestoredState& state) override;
  Status Process(Batch batch, runtime::Output& out) override;
  Status ProcessWatermark(int64_t millis, runtime::Output& out) override;
  Status Poll(runtime::Output& out) override;
  bool Ready() const override;
  Status FinishInput(runtime::Output& out) override;
  Status PrepareSnapshot(const runtime::Barrier& barrier, runtime::Output& out) override;
  Status Snapshot(const runtime::Barrier& barrier, runtime::StateWriter& state) override;

 private:
  enum class Phase {
    kRunning,
    kRestoring,  // Reopening files.
    kPreparing,  // Closing and persisting for a barrier.
    kFinishing,  // Closing everything at the end of the input.
  };
  /// Rows of one partition of the batch at hand: encoded text, or rows for a bulk encoder.
  struct Group {
    PartitionRef partition;
    bool whole = false;  // All of `text_`; otherwise the copy in `text`.
    std::string text;
    std::vector<size_t> row_ends;
    size_t taken_rows = 0;
    Batch rows;
    std::optional<int64_t> waits_since_ms;  // Of rows that have waited in the sorter.
  };

  Status MakeBuckets();
  /// Takes in the state of one old subtask.
  Status ReadState(const runtime::StateReader& state, std::vector<ResumedFile>* files);
  Result<PartitionRef> PartitionOf(const arrow::RecordBatch& rows, int64_t row) const;
  Status SplitText(const Batch& batch);
  Status SplitRows(const Batch& batch);
  /// Does with the groups from `first` on what the table does with late rows.
  void SortOutLateRows(size_t first);
  Status DrainGroups();
  Status AppendGroup(Group* group, bool* done);

  /// A partition gets its first row since the last barrier.
  void NoteDue(const PartitionRef& partition);
  /// So many that each gets a few rows only.
  Result<bool> HasManyPartitions(const Batch& batch) const;
  Status AddToSorter(const Batch& batch);
  /// Sorts what is staged; partitions with many rows become groups.
  Status SortStaged();
  Status AddSortedGroup(int32_t partition, std::shared_ptr<arrow::RecordBatch> rows);
  void SpillIfCrowded();
  /// Writes what the sorter holds; false while the I/O pool is waited for.
  Result<bool> DrainSorter();
  void ReadPiece();
  Status WritePiece();
  Status CloseFinished();

  /// Goes on with whatever waited for the I/O pool.
  Status Advance(runtime::Output& out);
  Status AdvanceClosing(runtime::Output& out);
  bool MustClose(const Bucket& bucket, int64_t now_ms) const;
  /// The same of a partition that has no bucket and would get a file of `bytes`.
  bool EndsAtOnce(const PartitionSorter::Entry& entry, int64_t bytes, int64_t now_ms) const;
  bool IsDue(const PartitionRef& partition, int64_t first_row_ms, int64_t now_ms) const;
  Status EmitReport(runtime::Output& out);
  Status RollOnTimer();
  void ScheduleTimer();

  const std::shared_ptr<const FileSinkPlan> plan_;
  std::shared_ptr<fs::FileSystem> file_system_;
  std::string root_;
  std::string late_root_;  // With LateRows::kAside.
  std::string lineage_;
  std::string name_prefix_;
  std::vector<int> dynamic_columns_;
  std::unique_ptr<formats::RowEncoder> encoder_;  // Row formats.
  HeldBytes held_{0};
  // Both before buckets_, whose end waits for the I/O that uses them.
  std::unique_ptr<PartitionSorter> sorter_;
  RowRuns::Piece piece_;  // Of the sorter, being written.
  size_t next_segment_ = 0;
  std::string finished_directory_;  // Its last rows are among groups_.
  // All batches go through the sorter until it is drained: rows of a partition keep their order.
  bool sorting_ = false;
  bool sorter_waits_ = false;  // For a piece or for spilling.
  bool piece_read_ = false;
  std::unique_ptr<BucketSet> buckets_;

  std::string text_;  // The encoded batch at hand.
  std::vector<size_t> row_ends_;
  // Of the newest batch that was split; before the first one: nobody knows.
  int64_t last_partitions_ = std::numeric_limits<int64_t>::max();
  std::vector<Group> groups_;
  size_t next_group_ = 0;

  Phase phase_ = Phase::kRunning;
  runtime::Barrier barrier_;
  // The report for the barrier is out and Snapshot follows: a file that closed in between would be
  // in neither.
  bool reported_ = false;
  std::vector<std::string> to_close_;  // Directories, for kPreparing and kFinishing.
  bool listed_ = false;                // to_close_ is complete.
  size_t next_to_close_ = 0;
  size_t next_to_persist_ = 0;
  int64_t watermark_ms_ = runtime::kMinWatermarkMs;
  bool first_rows_wanted_ = false;  // Restored, and no row has come yet.
  int64_t next_check_ms_ = 0;       // 0: no timer.
};

}  // namespace sluice::connectors::filesystem
