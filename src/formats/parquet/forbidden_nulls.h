// NULLs of a file where the table declares NOT NULL.
#pragma once

#include <cstdint>

#include <arrow/array/array_base.h>

#include "types/sql_type.h"

namespace sluice::formats::parquet_format {

/// The first row of `values` (an array of type.ToArrow()) that has a NULL where `type` or a type
/// inside it allows none; -1: no row has. A child of a NULL is no value and is not looked at.
int64_t FindForbiddenNull(const arrow::Array& values, const SqlType& type);

}  // namespace sluice::formats::parquet_format
