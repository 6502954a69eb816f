// Open part files that are made durable together and stay open.
//
// Beside PartFileWriter and not in it: only writers on local disks have it; who wants it asks by
// dynamic_cast.
#pragma once

#include <string>

#include "fs/file_system.h"

namespace sluice::fs {

class BatchPersist {
 public:
  virtual ~BatchPersist() = default;
  /// Like PartFileWriter::Persist, durable only with `batch`. That must have been begun before this
  /// process first wrote to the file, or a failure of the disk may have been reported to somebody
  /// else.
  virtual Result<std::string> PersistInBatch(SyncBatch& batch) = 0;
};

}  // namespace sluice::fs
