// Entry of the format 'parquet'.
#pragma once

#include "formats/format.h"

namespace sluice::formats {

extern const Format kParquetFormat;

}  // namespace sluice::formats
