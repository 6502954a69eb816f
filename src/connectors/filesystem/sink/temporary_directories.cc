#include "connectors/filesystem/sink/temporary_directories.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/text.h"

namespace sluice::connectors::filesystem {
namespace {

constexpr std::string_view kKey = "io.tmp.dirs";

/// The errno that a new file there would meet; 0: none.
int ErrorOf(const std::string& directory) {
  struct stat entry {};
  if (stat(directory.c_str(), &entry) != 0) return errno;
  if (!S_ISDIR(entry.st_mode)) return ENOTDIR;
  return access(directory.c_str(), W_OK | X_OK) != 0 ? errno : 0;
}

}  // namespace

std::vector<std::string> TemporaryDirectories(const OptionMap& configuration) {
  std::vector<std::string> directories;
  if (const auto named = configuration.find(std::string(kKey)); named != configuration.end()) {
    for (const std::string_view part : Split(named->second, ',')) {
      for (const std::string_view directory : Split(part, ':')) {
        if (!TrimAscii(directory).empty()) directories.emplace_back(TrimAscii(directory));
      }
    }
  }
  if (!directories.empty()) return directories;
  const char* const set = std::getenv("TMPDIR");
  return {set != nullptr && *set != '\0' ? set : "/tmp"};
}

Status CheckTemporaryDirectories(const std::vector<std::string>& directories) {
  for (const std::string& directory : directories) {
    const int error = ErrorOf(directory);
    if (error == 0) continue;
    return Status::InvalidArgument(
        "Rows that wait for their partition's file cannot be put aside in '" + directory +
        "': " + std::strerror(error) +
        ". Make it a directory that this user can write to, or name another with '" +
        std::string(kKey) + "' (or TMPDIR).");
  }
  return {};
}

}  // namespace sluice::connectors::filesystem
