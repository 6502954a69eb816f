// Entry of the format 'avro'.
#pragma once

#include "formats/format.h"

namespace sluice::formats {

extern const Format kAvroFormat;

}  // namespace sluice::formats
