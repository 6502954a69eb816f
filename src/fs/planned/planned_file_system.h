// A file system whose scheme is known but that is not built yet: tables on it can be created and
// planned, so that scripts for other engines can be checked; whatever touches a file is refused by
// name.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/options.h"
#include "fs/file_system.h"

namespace sluice::fs {

Result<std::shared_ptr<FileSystem>> MakePlannedFileSystem(std::string_view scheme,
                                                          const OptionMap& options);

}  // namespace sluice::fs
