// The entries of the changelog JSONs in the list of formats.
#pragma once

#include "formats/format.h"

namespace sluice::formats {

extern const Format kDebeziumJsonFormat;
extern const Format kCanalJsonFormat;
extern const Format kMaxwellJsonFormat;
extern const Format kOggJsonFormat;

}  // namespace sluice::formats
