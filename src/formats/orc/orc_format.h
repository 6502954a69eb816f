// Entry of the format 'orc'.
#pragma once

#include "formats/format.h"

namespace sluice::formats {

extern const Format kOrcFormat;

}  // namespace sluice::formats
