// Entry of the format 'csv'.
#pragma once

#include "formats/format.h"

namespace sluice::formats {

extern const Format kCsvFormat;

}  // namespace sluice::formats
