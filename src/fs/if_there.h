// Looking at what may not be there, or may go meanwhile. All of it blocks.
#pragma once

#include <string>
#include <vector>

#include "fs/file_system.h"

namespace sluice::fs {

/// True when something is at `path`.
inline Result<bool> Exists(FileSystem& file_system, const std::string& path) {
  const auto info = file_system.Stat(path);
  if (info.status().code() == StatusCode::kNotFound) return false;
  SLUICE_RETURN_NOT_OK(info.status());
  return true;
}

/// A listing, or none of what it would list when there is no such directory.
inline Result<std::vector<FileInfo>> NoneIfNotThere(Result<std::vector<FileInfo>> listed) {
  if (listed.status().code() == StatusCode::kNotFound) return std::vector<FileInfo>();
  return listed;
}

/// The entries of `directory`, none when there is no such directory.
inline Result<std::vector<FileInfo>> ListIfThere(FileSystem& file_system,
                                                 const std::string& directory) {
  return NoneIfNotThere(file_system.List(directory));
}

/// The same by FileSystem::ListNames: without sizes and times.
inline Result<std::vector<FileInfo>> ListNamesIfThere(FileSystem& file_system,
                                                      const std::string& directory) {
  return NoneIfNotThere(file_system.ListNames(directory));
}

/// The files at every level below `directory`, none when there is no such directory.
inline Result<std::vector<FileInfo>> ListTreeIfThere(FileSystem& file_system,
                                                     const std::string& directory) {
  return NoneIfNotThere(file_system.ListTree(directory));
}

}  // namespace sluice::fs
