// A machine for the simulation: the publishing code of fs/local/ over a FaultyDisk, found under
// every path.
#pragma once

#include <memory>
#include <vector>

#include "fs/faulty/faulty_disk.h"
#include "fs/file_system.h"

namespace sluice::fs {

/// Crash and Kill must not be called while other threads use the file system. File systems and
/// writers of an older run stay valid objects whose calls fail.
class FaultyFileSystems final : public FileSystems {
 public:
  explicit FaultyFileSystems(uint64_t seed, const Clock* clock = &Clock::System());
  ~FaultyFileSystems() override;

  Result<Located> Locate(std::string_view uri) override;
  FileSystem& current();
  FaultyDisk& disk() { return disk_; }

  /// Power loss and a new start of the machine.
  void Crash();
  /// The process is killed; what the system holds stays.
  void Kill();

 private:
  struct Run;
  void StartRun();

  FaultyDisk disk_;
  std::vector<std::shared_ptr<Run>> runs_;  // The last one is the present.
};

}  // namespace sluice::fs
