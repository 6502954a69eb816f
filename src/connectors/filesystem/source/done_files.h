// Moves or deletes files once a checkpoint has recorded that all of them is read
// ('source.file.when-done').
//
// Invariants:
//  - A file is touched only after a checkpoint is complete that holds none of its splits any more.
//  - Only the file that was read is touched: one of another size or time stays where it is.
//  - What a crash has kept from being done is in the checkpoint and done after the restart; doing
//  it
//    twice changes nothing.
// Thread-safe. State: "done", the files recorded as read whose turn has not come or has failed.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/io_pool.h"
#include "common/log.h"
#include "connectors/filesystem/source/file_source_spec.h"
#include "connectors/filesystem/source/file_split.h"
#include "runtime/element.h"
#include "runtime/state.h"

namespace sluice::connectors::filesystem {

class DoneFiles : public std::enable_shared_from_this<DoneFiles> {
 public:
  /// `wake` is called on the I/O pool whenever Drained has become true.
  DoneFiles(std::shared_ptr<const FileSourceSpec> spec, IoPool* io_pool, std::function<void()> wake)
      : spec_(std::move(spec)), io_pool_(io_pool), wake_(std::move(wake)) {}

  /// Splits that are found, or restored.
  void OnFound(const std::vector<FileSplit>& splits);
  /// A reader's splits that are read to their end at barrier `id`: from there on its state does not
  /// hold them.
  void OnRead(runtime::CheckpointId id, const std::vector<FileSplit>& splits);
  /// Acts on the files that are recorded up to checkpoint `id`, on the I/O pool.
  void CheckpointComplete(runtime::CheckpointId id);
  /// False while that goes on.
  bool Drained() const;

  void Snapshot(runtime::StateWriter* state) const;
  Status Restore(const runtime::StateReader& state, runtime::CheckpointId id);

 private:
  struct Done {
    runtime::CheckpointId id = 0;
    fs::FileInfo file;
  };
  void Act(std::vector<Done> files);
  void ActOnce(const std::vector<Done>& files);
  /// True when nothing is left to do for it.
  bool Check(const fs::FileInfo& file);
  std::string TargetOf(const fs::FileInfo& file) const;
  Status Finish(const std::vector<Done>& files, std::vector<bool>* finished);
  Status MoveAside(const fs::FileInfo& file, std::string target);

  const std::shared_ptr<const FileSourceSpec> spec_;
  IoPool* const io_pool_;
  const std::function<void()> wake_;
  LimitedLog log_{3, 60'000};

  mutable std::mutex mutex_;
  std::unordered_map<std::string, int> open_splits_;  // Path -> splits not read to the end.
  std::deque<Done> done_;                             // In the order of their checkpoints.
  bool acting_ = false;
  runtime::CheckpointId complete_ = 0;
  runtime::CheckpointId acted_ = 0;  // Taken up to here, with success or not.
};

}  // namespace sluice::connectors::filesystem
