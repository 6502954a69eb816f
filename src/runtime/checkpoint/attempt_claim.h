// Says which process has a job: the folder `attempt-<id>` in the job's folder of state.
//
// A start makes its own folder and then removes those of earlier starts. Checkpoints are written
// below it, so one whose folder is gone commits nothing, at whatever instant it was overtaken.
// For what is no checkpoint (files that are being written, publishing) there is a lease: everybody
// looks whether his folder is still there at most kFenceLookMs before he writes, and a start that
// cannot know the one before to be dead waits twice as long before it goes on.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "common/result.h"
#include "fs/local/disk.h"
#include "runtime/fence.h"

namespace sluice::runtime {

/// Thread-safe.
class AttemptClaim {
 public:
  /// Takes the job in `directory`, which is there. `sync` makes the names in it durable, with what
  /// else its caller wants to be. With `wait`: not before an earlier process that may be alive must
  /// have noticed. Blocking.
  static Result<std::unique_ptr<AttemptClaim>> Make(const std::string& directory, fs::Disk* disk,
                                                    bool wait, const std::function<Status()>& sync);

  /// A folder that a start has taken from an earlier one and could not remove.
  static bool IsSuperseded(const fs::FileInfo& entry);

  const std::string& folder() const { return folder_; }
  /// Looks at the disk. Fails with kAlreadyExists when the job was taken.
  Status Look() const;
  /// The same as long as the last look is fresh.
  Status Check() const;

 private:
  AttemptClaim(std::string directory, std::string folder, fs::Disk* disk)
      : directory_(std::move(directory)), folder_(std::move(folder)), disk_(*disk) {}

  const std::string directory_;
  const std::string folder_;
  fs::Disk& disk_;
  mutable std::atomic<int64_t> looked_us_{0};  // Monotonic; of the last look that was good.
  mutable std::atomic<bool> lost_{false};
};

}  // namespace sluice::runtime
