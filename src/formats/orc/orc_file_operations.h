// What can be done with ORC files beyond reading and writing one: see file_operations.h.
#pragma once

#include "formats/file_operations.h"

namespace sluice::formats {

extern const FileOperations kOrcFileOperations;

}  // namespace sluice::formats
