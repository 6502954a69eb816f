// The single half of the file sink: publishes the files of complete checkpoints and commits
// partitions.
//
// Life cycle of a file: reported by its writer before barrier N -> kept as pending, in state from N
// on -> published when N or a later checkpoint is complete (idempotent, so a crash in between costs
// nothing) -> merged with others where the table compacts (Compactor) -> its partition is committed
// when it is due.
// State: pending files with their checkpoint, what is to be merged, pending partitions, watermark
// at each barrier, open files at the last barrier, names used, lineage. Lost without harm: what is
// in flight. Thread: one task; publishing, exchanging, policies and the sweep run on the I/O pool.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "connectors/filesystem/sink/budget_share.h"
#include "connectors/filesystem/sink/committable.h"
#include "connectors/filesystem/sink/compactor.h"
#include "connectors/filesystem/sink/file_sink_plan.h"
#include "connectors/filesystem/sink/io_scope.h"
#include "connectors/filesystem/sink/leftovers.h"
#include "connectors/filesystem/sink/pending_files.h"
#include "connectors/filesystem/sink/pending_partitions.h"
#include "connectors/filesystem/sink/published_count.h"
#include "connectors/filesystem/sink/recorder.h"
#include "runtime/operator.h"

namespace sluice::connectors::filesystem {

/// 2 adds "compaction", "source_positions" and "held_back_by"; 3 keeps many "pending_files" as a
/// blob.
inline constexpr int64_t kCommitterStateVersion = 3;

class FileCommitter final : public runtime::Operator, private ReportReceiver {
 public:
  explicit FileCommitter(std::shared_ptr<const FileSinkPlan> plan) : plan_(std::move(plan)) {}
  ~FileCommitter() override;

  Status Open(runtime::TaskContext& context) override;
  Status Restore(const runtime::RestoredState& state) override;
  Status Process(Batch batch, runtime::Output& out) override;
  Status ProcessWatermark(int64_t millis, runtime::Output& out) override;
  Status Poll(runtime::Output& out) override;
  Status Snapshot(const runtime::Barrier& barrier, runtime::StateWriter& state) override;
  Status CheckpointComplete(runtime::CheckpointId id, runtime::Output& out) override;
  bool Drained() const override;

 private:
  enum class Phase { kIdle, kPublishing, kMerging, kCommitting };

  /// Starts the next step when the one before is done.
  Status Advance();
  /// Asks the store whether it can be written, so that the job does not read its input in vain.
  void StartCheck();
  Status StartPublishing();
  void PublishFiles(size_t count);
  /// `files`: of pending_files_, ordered by directory.
  void PublishGroup(std::span<const size_t> files);
  Status ReplaceDirectories(size_t count);
  /// Old rows of the partitions replaced, in directories that others have named in their own way.
  void RemoveOtherSpellings(const std::set<PartitionValues>& replaced);
  Status FilesPublished();
  Status StartCommitting();
  void PlanCompaction(const runtime::Barrier& barrier);
  void AddPlanned(runtime::CheckpointId checkpoint, const std::vector<Compactor::Planned>& planned);
  void TouchInBatch(const FileCommittable& file);
  PartitionCommit MakeCommit(PendingPartitions::Due due) const;
  /// Leaves a record of what has been published and committed, where the table keeps one.
  Status StartRecording(std::shared_ptr<const std::vector<PendingPartitions::Due>> committed);
  Status FinishCheckpoint(const std::vector<PendingPartitions::Due>& committed);
  std::vector<PendingPartitions::Due> FindDue();
  void ReportUntimed(const std::vector<PartitionRef>& untimed);
  void ShareView();
  /// The view tells when the watermark has passed what the partition waits for.
  void NoteDue(const PartitionRef& partition);
  /// False for the directories that get late rows.
  bool IsOwn(const std::string& directory) const {
    return !plan_->trigger || late_root_.empty() || !directory.starts_with(late_root_ + "/");
  }
  void ShowRetries();
  void StartSweep();
  void SweepDone(const SweepResult& result);
  Status AddFile(ReceivedFile received) override;
  Status AddReport(const WriterReport& report) override;
  /// Which hidden files the restored checkpoint names: the sweep leaves them alone.
  Status SpareFiles(const std::vector<std::string>& open_handles);
  void CountPending();
  bool final_complete() const { return final_checkpoint_ != 0 && completed_ >= final_checkpoint_; }

  const std::shared_ptr<const FileSinkPlan> plan_;
  std::shared_ptr<fs::FileSystem> file_system_;
  std::string root_;
  std::string late_root_;  // Where late rows go; "": nowhere else.
  std::string lineage_;
  std::string tag_;

  PendingFiles pending_files_;
  HeldBytes held_{0};
  std::unique_ptr<BudgetShare> pending_share_;  // What pending_files_ hold of the job's memory.
  PendingPartitions partitions_;
  std::map<runtime::CheckpointId, int64_t> watermarks_;
  /// Where the sources stood at the barrier, "orders-0@123", of the same checkpoints.
  std::map<runtime::CheckpointId, std::vector<std::string>> positions_;
  std::vector<OpenFile> open_files_;  // At the barrier last seen.
  runtime::CheckpointId open_files_checkpoint_ = 0;
  std::map<std::string, int64_t> names_used_;  // Prefix of an attempt's names -> next number.
  std::deque<std::string> names_order_;        // Oldest first; bounded.
  int64_t watermark_ms_ = runtime::kMinWatermarkMs;
  runtime::CheckpointId final_checkpoint_ = 0;  // 0: not yet.

  Phase phase_ = Phase::kIdle;
  runtime::CheckpointId completed_ = 0;
  /// The restored checkpoint, if everything of it had been published; 0 otherwise.
  runtime::CheckpointId published_before_ = 0;
  runtime::CheckpointId done_ = 0;
  runtime::CheckpointId working_on_ = 0;
  size_t publishing_count_ = 0;  // Of pending_files_, from the front.
  int publishing_jobs_ = 0;
  PublishedCount published_;
  /// What batch mode commits, by directory.
  std::map<std::string, PendingPartitions::Due> touched_;
  bool sweep_wanted_ = false;
  bool sweeping_ = false;
  SweepRequest sweep_;
  std::unique_ptr<IoScope> io_;
  std::unique_ptr<Compactor> compactor_;
  std::unique_ptr<Recorder> recorder_;     // Null where the table keeps no records.
  std::vector<std::string> replaced_;      // Directories, by INSERT OVERWRITE.
  std::vector<std::string> record_paths_;  // Written and not yet folded.
  bool first_record_ = true;               // Of this start: what earlier ones left is looked at.
};

}  // namespace sluice::connectors::filesystem
