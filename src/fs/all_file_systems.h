// The file systems that paths can name, one line each in all_file_systems.cc.
#pragma once

#include "common/options.h"
#include "fs/file_system.h"

namespace sluice::fs {

/// The real file systems with the settings of `configuration` (s3.*, fs.*, …; other keys do not
/// matter). Lives for ever: equal settings give the same object, so connections are shared by the
/// statements and jobs of a process. Thread-safe.
FileSystems& FileSystemsFor(const OptionMap& configuration);

/// True for keys that file systems read, in SET as well as in the options of a table.
bool IsFileSystemOption(std::string_view key);

}  // namespace sluice::fs
