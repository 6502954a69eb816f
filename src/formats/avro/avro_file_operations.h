// What can be done with Avro files beyond reading and writing one: see file_operations.h.
#pragma once

#include "formats/file_operations.h"

namespace sluice::formats {

extern const FileOperations kAvroFileOperations;

}  // namespace sluice::formats
