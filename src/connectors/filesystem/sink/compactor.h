// Merges the small files of a streaming sink into larger ones (filesystem.md §12).
//
// Life cycle of a raw file: published under its hidden name ".uncompacted-…" with its checkpoint ->
// planned into a unit at a barrier, so that the unit is in the state of that checkpoint -> the unit
// is merged into one visible file when the checkpoint is complete -> the raw files expire, and are
// deleted when no retained checkpoint can need them any more.
// Invariants:
//  - A unit's files and its target never change, and a target's name is used by one plan only. So a
//    target that is there already was made by an attempt that died, and is kept.
//  - A raw file is deleted only when its unit's target is durable and a complete checkpoint says
//    that it expired.
// State: raw files without a unit, units not done, expired files. Everything else is in the names.
// Thread: the committer's task; merging and deleting run on the I/O pool, at most
// `CompactionOptions::parallelism` merges at once.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "connectors/filesystem/sink/committable.h"
#include "connectors/filesystem/sink/file_sink_plan.h"
#include "connectors/filesystem/sink/io_scope.h"
#include "connectors/filesystem/sink/published_count.h"
#include "connectors/filesystem/sink/rate_limit.h"
#include "connectors/filesystem/sink/recorder.h"
#include "runtime/operator.h"

namespace sluice::connectors::filesystem {

class Compactor {
 public:
  /// All outlive the compactor. `tag` goes into hidden names.
  Compactor(const FileSinkPlan* plan, runtime::TaskContext* context, fs::FileSystem* file_system,
            IoScope* io)
      : plan_(*plan), context_(*context), file_system_(*file_system), io_(*io) {}
  /// What waits for the rate of merging goes on at once: it is to end.
  void StopWaiting() { rate_.Stop(); }
  void set_tag(std::string tag) { tag_ = std::move(tag); }
  /// Is told of every merge; outlives the compactor.
  void set_recorder(Recorder* recorder) { recorder_ = recorder; }

  /// True for names that writers give to files that are to be merged.
  static bool IsRaw(std::string_view path);

  void Add(runtime::CheckpointId checkpoint, const FileCommittable& file, std::string path);
  /// A file that a directory will get.
  struct Planned {
    std::string directory;
    NewFile file;
  };
  /// At barrier `checkpoint`: all raw files get their units, by directory and checkpoint.
  std::vector<Planned> PlanAll(runtime::CheckpointId checkpoint);
  /// All raw files of one directory get their units, whatever their checkpoints.
  std::vector<Planned> PlanDirectory(runtime::CheckpointId checkpoint,
                                     const std::string& directory);
  /// Directories with raw files that have no unit yet.
  std::set<std::string> UnplannedDirectories() const;
  bool has_restored_targets() const { return !restored_targets_.empty(); }
  /// What a raw file of the restored checkpoint is merged into; "" for others. With that in place
  /// the raw file may be gone: at the end of a job it goes at once.
  std::string RestoredTargetOf(const std::string& raw_path) const;
  /// Raw files of the directory up to `checkpoint` have no unit yet.
  bool HasUnplanned(const std::string& directory, runtime::CheckpointId checkpoint) const;

  /// Merges the units planned up to `checkpoint`; calls `done` on the task's thread when all are
  /// published, at once when there are none.
  Status Start(runtime::CheckpointId checkpoint, std::function<Status()> done);
  std::string Encode(runtime::CheckpointId barrier);
  Status Decode(std::string_view bytes);
  /// All files that an encoded compaction names: raw ones, targets, expired ones. kCorrupt.
  static Result<std::vector<std::string>> PathsInState(std::string_view bytes);
  /// The restored checkpoint was left with all its merges done: only the raw files are left of
  /// them.
  void SkipMerged(runtime::CheckpointId restored);
  /// Deletes raw files whose time has come.
  void CheckpointComplete(runtime::CheckpointId id);
  /// The job is at its end, and nothing will be restored: deletes all that has expired.
  void DeleteExpired();

 private:
  struct RawFile {
    runtime::CheckpointId checkpoint = 0;
    PartitionRef partition;
    std::string path;
    int64_t row_count = 0;
    int64_t size_bytes = 0;
  };
  struct Unit {
    runtime::CheckpointId checkpoint = 0;  // Planned at its barrier.
    PartitionRef partition;
    std::string target;
    std::vector<std::string> inputs;
    int64_t row_count = 0;
    int64_t size_bytes = 0;
    bool restored = false;  // From the state: an earlier attempt may have done it.
  };
  struct Expired {
    std::vector<std::string> paths;
    runtime::CheckpointId recorded = 0;  // First checkpoint that says so; 0: none yet.
    int64_t completions_left = 0;
    bool deleting = false;
  };
  struct Merge;
  /// Reads what Encode wrote.
  struct Decoded {
    std::vector<RawFile> raw;
    std::vector<Unit> units;
    std::vector<Expired> expired;
  };
  static Result<Decoded> Parse(std::string_view bytes);

  void MakeUnits(runtime::CheckpointId checkpoint, std::vector<RawFile> files, bool whole,
                 std::vector<Planned>* planned);
  void StartMerges();
  void StartMerge(Unit unit);
  Status MergeDone(const Merge& merge);
  void StartDeleting(Expired* expired);
  void UpdateBacklog();

  const FileSinkPlan& plan_;
  runtime::TaskContext& context_;
  fs::FileSystem& file_system_;
  IoScope& io_;
  std::string tag_;
  Recorder* recorder_ = nullptr;
  RateLimit rate_{plan_.compaction.max_bytes_per_second};
  std::vector<RawFile> raw_;
  std::deque<Unit> units_;
  std::map<std::string, std::string> restored_targets_;  // By raw path.
  std::deque<std::shared_ptr<Expired>> expired_;

  size_t next_unit_ = 0;  // Of units_, in this run.
  size_t end_unit_ = 0;   // Units of this run.
  size_t running_ = 0;
  size_t finished_ = 0;
  PublishedCount published_;
  std::function<Status()> done_;
};

}  // namespace sluice::connectors::filesystem
