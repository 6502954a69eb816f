// Columns that are the same for all rows of a split: partition values and file metadata.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <arrow/memory_pool.h>

#include "connectors/filesystem/source/file_source_spec.h"
#include "connectors/filesystem/source/file_split.h"

namespace sluice::connectors::filesystem {

/// Thread-safe: chunks of one split are decoded in parallel.
class SplitColumns {
 public:
  static Result<std::shared_ptr<SplitColumns>> Make(std::shared_ptr<const FileSourceSpec> spec,
                                                    const FileSplit& split,
                                                    arrow::MemoryPool* pool);
  /// `decoded` (columns of the read schema) with the constant columns, in the order of the output.
  Result<Batch> Complete(const Batch& decoded);

 private:
  SplitColumns(std::shared_ptr<const FileSourceSpec> spec, arrow::MemoryPool* pool)
      : spec_(std::move(spec)), pool_(pool) {}
  Result<std::shared_ptr<arrow::Array>> Constant(size_t column, int64_t row_count);

  const std::shared_ptr<const FileSourceSpec> spec_;
  arrow::MemoryPool* const pool_;
  std::vector<std::shared_ptr<arrow::Scalar>>
      values_;  // By output column; null for columns of the file.
  std::mutex mutex_;
  std::vector<std::shared_ptr<arrow::Array>> arrays_;  // The longest made so far.
};

}  // namespace sluice::connectors::filesystem
