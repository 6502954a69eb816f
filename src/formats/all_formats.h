// The list of formats. Include this where FindFormat or AllFormats is called: the build links a
// program with what its files include, and a format must build and be tested without all the
// others.
#pragma once

#include "formats/format.h"

namespace sluice::formats {

extern const Format kAvroFormat;
extern const Format kCanalJsonFormat;
extern const Format kCsvFormat;
extern const Format kDebeziumJsonFormat;
extern const Format kJsonFormat;
extern const Format kMaxwellJsonFormat;
extern const Format kOggJsonFormat;
extern const Format kOrcFormat;
extern const Format kParquetFormat;
extern const Format kRawFormat;

}  // namespace sluice::formats
