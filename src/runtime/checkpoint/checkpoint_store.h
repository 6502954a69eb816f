// The folder of a job's checkpoints: `<directory>/chk-<n>/` with `state` and `_metadata`.
//
// A checkpoint is written below `<directory>/attempt-<id>/`, which belongs to one process, and
// moved into place whole: that rename is the commit point. A later start of the job removes the
// folders of earlier ones first, so a process that was only asleep finds its own gone and can
// commit nothing (docs/decisions/0022).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"
#include "fs/local/disk.h"
#include "runtime/checkpoint/checkpoint_data.h"
#include "runtime/fence.h"

namespace sluice::runtime {

/// Keeps checkpoints and gives the newest complete one back. Blocking: call it on the I/O pool.
/// Thread-safe.
class CheckpointStore {
 public:
  virtual ~CheckpointStore() = default;

  struct Loaded {
    std::shared_ptr<const CheckpointData> data;  // Null when there is none.
    std::string path;
    /// Ids of new checkpoints must be above it.
    CheckpointId highest_id = 0;
  };
  struct JobId {
    std::string id;
    bool known = false;  // From an earlier start.
  };
  /// The id that the job keeps over its starts until it ends: `fresh` at the first of them, durable
  /// before it is returned. What a start that never completed a checkpoint leaves behind is
  /// recognised by it.
  virtual Result<JobId> ClaimJobId(const std::string& fresh) = 0;
  /// The newest complete checkpoint, made durable for good; incomplete ones are removed. A complete
  /// one that cannot be read is an error: going back to an older one would write rows twice.
  virtual Result<Loaded> LoadNewest() = 0;
  /// Durable and complete when OK is returned: the rename of the metadata is the commit point.
  virtual Status Write(std::shared_ptr<const CheckpointData> data) = 0;
  /// Removes complete checkpoints older than the newest `count`, and never the newest.
  virtual Status Retain(int64_t count) = 0;
  /// Removes everything: the job has ended.
  virtual Status RemoveAll() = 0;
  /// Notes beside checkpoint `id` that all it names is published and committed: the job was stopped
  /// in good order. `copy` (may be empty) is a savepoint of it.
  virtual Status MarkPublished(CheckpointId id, const std::string& copy) = 0;
  /// Whether this process still has the job; null: nobody can take it. Lives as long as the store.
  virtual const Fence* fence() const { return nullptr; }
};

/// On a disk, which must outlive the store. `directory` is made on first use.
/// `guarded`: claiming the job's id waits, where an earlier process may still be alive, until that
/// one must have noticed.
std::unique_ptr<CheckpointStore> MakeDiskCheckpointStore(std::string directory, fs::Disk* disk,
                                                         bool guarded = false);
/// In memory only, for queries.
std::unique_ptr<CheckpointStore> MakeMemoryCheckpointStore();

/// Writes `data` into the new folder `<parent>/<name>` in the form of a checkpoint, which belongs
/// to nobody: no job ever removes it. Makes `parent` when it is missing. Returns the folder's path.
/// Blocking.
Result<std::string> WriteSavepoint(const std::string& parent, const std::string& name,
                                   const CheckpointData& data, fs::Disk* disk);

/// "file:///a/b/" and "/a/b" are both "/a/b". Fails for other schemes: state is kept on local
/// disks.
Result<std::string> CheckpointFolderPath(const std::string& uri);

/// Reads one checkpoint or savepoint folder ("/a/chk-3" or "file:///a/chk-3").
Result<CheckpointData> ReadCheckpointFolder(const std::string& path, fs::Disk* disk);

}  // namespace sluice::runtime
