// The files that one merge reads, of which some are open at a time: a partition may have more files
// than this process may have descriptors.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <arrow/io/interfaces.h>

#include "fs/file_system.h"

namespace sluice::connectors::filesystem {

/// Outlives its files. Thread-safe, as files that are read are.
class MergeInputs {
 public:
  using File = std::shared_ptr<arrow::io::RandomAccessFile>;

  /// Opens each file once, so that what is missing is told before anything is written.
  static Result<std::unique_ptr<MergeInputs>> Open(fs::FileSystem* file_system,
                                                   const std::vector<std::string>& paths,
                                                   size_t most_open);

  /// In the order of the paths. One that is opened again must have the length that it had.
  const std::vector<File>& files() const { return files_; }

 private:
  class Input;
  MergeInputs(fs::FileSystem* file_system, size_t most_open)
      : file_system_(*file_system), most_open_(most_open) {}
  Result<File> Acquire(Input* input);

  fs::FileSystem& file_system_;
  const size_t most_open_;
  std::vector<File> files_;
  std::mutex mutex_;
  std::deque<Input*> open_;  // Those that have been open longest come first.
};

}  // namespace sluice::connectors::filesystem
