// Entry of the format 'raw'.
#pragma once

#include "formats/format.h"

namespace sluice::formats {

extern const Format kRawFormat;

}  // namespace sluice::formats
