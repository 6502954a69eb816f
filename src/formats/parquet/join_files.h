// Joins Parquet files of one schema by copying their column chunks: nothing is decoded, only the
// footer is new.
#pragma once

#include <memory>
#include <span>

#include <arrow/io/interfaces.h>

#include "common/result.h"

namespace sluice::formats::parquet_format {

/// Row groups keep their order and their bytes; page indexes and bloom filters come along.
/// kUnsupported when schemas differ, when files are encrypted, or when the row groups are so small
/// that they had better be written anew as larger ones; nothing was written then.
Status JoinParquetFiles(std::span<const std::shared_ptr<arrow::io::RandomAccessFile>> inputs,
                        arrow::io::OutputStream* out);

}  // namespace sluice::formats::parquet_format
