// Reads a top-level INT96 column of one row group.
#pragma once

#include <memory>
#include <vector>

#include <parquet/column_reader.h>

#include "common/result.h"
#include "formats/parquet/timestamp_values.h"

namespace sluice::formats::parquet_format {

/// Not thread-safe. May throw what the Parquet library throws.
class Int96Column {
 public:
  Int96Column(std::shared_ptr<::parquet::ColumnReader> reader, TimestampTarget target)
      : reader_(std::static_pointer_cast<::parquet::Int96Reader>(std::move(reader))),
        target_(std::move(target)) {}

  /// The next `row_count` rows, which must be there.
  Result<std::shared_ptr<arrow::Array>> Read(int64_t row_count, WallClock* wall_clock,
                                             arrow::MemoryPool* pool);

 private:
  const std::shared_ptr<::parquet::Int96Reader> reader_;
  const TimestampTarget target_;
  std::vector<int16_t> levels_;
  std::vector<::parquet::Int96> values_;
};

}  // namespace sluice::formats::parquet_format
