// Entry of the format 'json'.
#pragma once

#include "formats/format.h"

namespace sluice::formats {

extern const Format kJsonFormat;

}  // namespace sluice::formats
