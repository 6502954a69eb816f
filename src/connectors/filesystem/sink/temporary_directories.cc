#include "connectors/filesystem/sink/temporary_directories.h"

#include <cstdlib>
#include <cstring>

#include "common/text.h"
#include "fs/local/disk.h"

namespace sluice::connectors::filesystem {
namespace {

constexpr std::string_view kKey = "io.tmp.dirs";

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
    const int result = fs::RealDisk().CheckWritable(directory);
    if (result == 0) continue;
    return Status::InvalidArgument(
        "Rows that wait for their partition's file cannot be put aside in '" + directory +
        "': " + std::strerror(-result) +
        ". Make it a directory that this user can write to, or name another with '" +
        std::string(kKey) + "' (or TMPDIR).");
  }
  return {};
}

}  // namespace sluice::connectors::filesystem
