// Which formats offer file operations. Include this where FileOperationsOf is called, as
// all_formats.h.
#pragma once

#include "formats/file_operations.h"

namespace sluice::formats {

/// By the format's name; all null when it offers none.
const FileOperations& FileOperationsOf(const Format& format);

}  // namespace sluice::formats
