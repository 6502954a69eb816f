// Tells what a disk or a store answered from damage of the bytes it gave.
#pragma once

#include <exception>

#include <arrow/status.h>

#include "common/status.h"

namespace sluice::formats::parquet_format {

/// What storage answered, as it said it (not found, try again), when that is why the library has
/// thrown `error`; OK when the bytes are at fault.
Status StorageError(const std::exception& error);
Status StorageError(const arrow::Status& status);

}  // namespace sluice::formats::parquet_format
