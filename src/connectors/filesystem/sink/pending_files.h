// The closed files that wait to be published, in the order of their checkpoints.
//
// Each is kept once, encoded as its writer has reported it, and decoded where it is needed: tens of
// thousands may wait while checkpoints come faster than directories can be synced.
// State: everything.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "connectors/filesystem/sink/committable.h"
#include "runtime/state.h"

namespace sluice::connectors::filesystem {

class PendingFiles {
 public:
  struct File {
    runtime::CheckpointId checkpoint = 0;
    std::string_view bytes;             // As PutCommittable() wrote them.
    std::shared_ptr<const void> owner;  // Keeps `bytes`.

    FileCommittable Read() const;
    /// Valid as long as `owner`.
    std::string_view handle() const;
    std::string_view directory() const;
  };

  void Add(runtime::CheckpointId checkpoint, std::string_view bytes,
           std::shared_ptr<const void> owner);
  size_t size() const { return files_.size(); }
  const File& operator[](size_t i) const { return files_[i]; }
  /// Of checkpoints up to this one.
  size_t CountUpTo(runtime::CheckpointId checkpoint) const;
  void DropFirst(size_t count);
  /// Files from this one on are named by no snapshot that may complete.
  size_t first_unnamed() const { return saved_; }
  /// Bytes in memory, about.
  int64_t held_bytes() const { return held_bytes_; }

  void Save(runtime::StateWriter* state);
  /// Takes in what Save(), or an earlier version of the committer, has written. Fails with
  /// kCorrupt.
  Status Restore(const runtime::StateReader& state);

 private:
  std::deque<File> files_;
  size_t saved_ = 0;
  int64_t held_bytes_ = 0;
};

}  // namespace sluice::connectors::filesystem
