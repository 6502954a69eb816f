// A part of a file that one reader reads, and how far it has come.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/result.h"
#include "connectors/connector.h"
#include "fs/file_system.h"

namespace sluice::connectors::filesystem {

/// Text: bytes [begin, end) of the file; a record belongs to the split where it begins. Containers:
/// parts [begin, end).
struct FileSplit {
  fs::FileInfo file;  // As found: a file is read to this size, whatever happens to it later.
  PartitionValues partition;
  int64_t begin = 0;
  int64_t end = 0;
  /// Where reading goes on. Text: byte of the next record (decompressed), lines and records before
  /// it in this split. Containers: the part, and rows of it that are done.
  int64_t position = 0;
  int64_t lines = 0;
  int64_t records = 0;
  bool started = false;  // `position` is a record's start and not just the begin of a byte range.

  std::string id() const { return file.path + ":" + std::to_string(begin); }
};

/// Versioned bytes for checkpoint state.
std::string EncodeSplit(const FileSplit& split);
/// Fails with kCorrupt.
Result<FileSplit> DecodeSplit(std::string_view bytes);

/// What is told of a file that could not be read, with what to do about one that is damaged or none
/// of the table's.
Status Unreadable(const std::string& path, Status reason);

}  // namespace sluice::connectors::filesystem
