// Reads one split in order: raw chunks of whole records (text) or decoded batches (containers).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "connectors/filesystem/source/file_source_spec.h"
#include "connectors/filesystem/source/file_split.h"
#include "types/batch.h"

namespace sluice::connectors::filesystem {

/// What one fetch gives.
struct FetchedUnit {
  std::string bytes;  // Text: whole records, to be decoded.
  bool first_in_file = false;
  std::optional<Batch> rows;  // Containers.
  int64_t begin = 0;          // Text: byte of the file where `bytes` begins.
  int64_t position = 0;  // FileSplit::position and, for containers, ::records behind this unit.
  int64_t records = 0;
  int64_t bytes_read = 0;
  bool last = false;  // Nothing follows in this split.
};

/// Not thread-safe; blocking: runs on the I/O pool.
class SplitReader {
 public:
  virtual ~SplitReader() = default;
  virtual Result<FetchedUnit> Fetch() = 0;
};

/// Opens the container that `split` is a part of. kNotFound when the file has vanished.
Result<std::unique_ptr<formats::BulkFile>> OpenContainer(const FileSourceSpec& spec,
                                                         const FileSplit& split,
                                                         arrow::MemoryPool* pool);

/// Opens the file and goes to the split's position. kNotFound when the file has vanished.
Result<std::unique_ptr<SplitReader>> OpenSplit(std::shared_ptr<const FileSourceSpec> spec,
                                               const FileSplit& split, arrow::MemoryPool* pool);

}  // namespace sluice::connectors::filesystem
