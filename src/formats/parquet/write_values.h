// Columns of a table in the form that Parquet's column writers take.
#pragma once

#include <memory>

#include <arrow/array/array_base.h>

#include "formats/parquet/parquet_options.h"
#include "formats/parquet/timestamp_values.h"
#include "types/schema.h"

namespace sluice::formats::parquet_format {

/// Timestamps, at any depth, in the file's unit and zone; everything else as it is.
Result<std::shared_ptr<arrow::Array>> PrepareForWriting(const Column& column,
                                                        const std::shared_ptr<arrow::Array>& values,
                                                        const ParquetOptions& options,
                                                        WallClock* wall_clock,
                                                        arrow::MemoryPool* pool);

}  // namespace sluice::formats::parquet_format
