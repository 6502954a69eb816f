// Listing a directory that may not be there, or may go meanwhile.
#pragma once

#include <string>
#include <vector>

#include "fs/file_system.h"

namespace sluice::fs {

/// The entries of `directory`, none when there is no such directory. Blocking.
inline Result<std::vector<FileInfo>> ListIfThere(FileSystem& file_system,
                                                 const std::string& directory) {
  auto entries = file_system.List(directory);
  if (entries.status().code() == StatusCode::kNotFound) return std::vector<FileInfo>();
  return entries;
}

/// The same by FileSystem::ListNames: without sizes and times.
inline Result<std::vector<FileInfo>> ListNamesIfThere(FileSystem& file_system,
                                                      const std::string& directory) {
  auto entries = file_system.ListNames(directory);
  if (entries.status().code() == StatusCode::kNotFound) return std::vector<FileInfo>();
  return entries;
}

}  // namespace sluice::fs
