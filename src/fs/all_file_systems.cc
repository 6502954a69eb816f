#include "fs/all_file_systems.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "common/text.h"
#include "fs/local/local_file_system.h"
#include "fs/planned/planned_file_system.h"
#include "fs/s3/s3_file_system.h"

namespace sluice::fs {
namespace {

constexpr std::string_view kOptionPrefixes[] = {"s3.", "s3a.", "oss.", "fs."};

/// How a scheme is served.
struct Scheme {
  std::string_view name;
  bool is_default = false;
  Result<std::shared_ptr<FileSystem>> (*make)(std::string_view scheme, const OptionMap&) = nullptr;
  /// The path within the file system, from the whole text and its parts.
  Result<std::string> (*path)(std::string_view uri, const UriParts& parts) = nullptr;
};

Result<std::string> LocalPath(std::string_view uri, const UriParts& parts) {
  if (!parts.authority.empty() && parts.authority != "localhost") {
    return Status::InvalidArgument(
        "Path '" + std::string(uri) + "' names the host '" + parts.authority +
        "', but local files have none. Write file:///" + parts.authority + std::string(parts.path) +
        " if that is a folder.");
  }
  if (parts.path.empty()) {
    return Status::InvalidArgument("Can not create a Path from an empty string.");
  }
  if (parts.path.starts_with("/")) return NormalizeAbsolute(parts.path);
  std::error_code error;
  const std::string working_directory = std::filesystem::current_path(error).string();
  if (error) {
    return Status::IoError("Cannot resolve the relative path '" + std::string(uri) +
                           "': the working directory is not there (" + error.message() + ").");
  }
  return NormalizeAbsolute(JoinPath(working_directory, parts.path));
}

/// "s3://bucket/a//b/" is "s3://bucket/a/b".
Result<std::string> BucketPath(std::string_view uri, const UriParts& parts) {
  if (parts.authority.empty()) {
    return Status::InvalidArgument("Path '" + std::string(uri) + "' names no bucket. Write " +
                                   parts.scheme + "://<bucket>/<path>.");
  }
  const std::string path = NormalizeAbsolute(parts.path);
  return parts.scheme + "://" + parts.authority + (path == "/" ? "" : path);
}

Result<std::string> HdfsPath(std::string_view, const UriParts& parts) {
  return parts.scheme + "://" + parts.authority + NormalizeAbsolute(parts.path);
}

// The one place where a file system is made known.
const Scheme kSchemes[] = {
    {.name = "file",
     .is_default = true,
     .make = [](std::string_view, const OptionMap&) -> Result<std::shared_ptr<FileSystem>> {
       return std::make_shared<LocalFileSystem>();
     },
     .path = &LocalPath},
    {.name = "s3", .make = &MakeS3FileSystem, .path = &BucketPath},
    {.name = "s3a", .make = &MakeS3FileSystem, .path = &BucketPath},
    {.name = "oss", .make = &MakeS3FileSystem, .path = &BucketPath},
    {.name = "hdfs", .make = &MakePlannedFileSystem, .path = &HdfsPath},
};

/// "s3:/lake/a" is a slipped finger and not the folder "s3:" of the working directory.
Status CheckSlashes(std::string_view uri, const UriParts& parts) {
  if (!parts.scheme.empty()) return {};
  for (const Scheme& scheme : kSchemes) {
    const std::string begin = std::string(scheme.name) + ":";
    if (ToLowerAscii(uri.substr(0, begin.size())) != begin) continue;
    const std::string_view rest =
        uri.substr(std::min(uri.find_first_not_of('/', begin.size()), uri.size()));
    return Status::InvalidArgument("Path '" + std::string(uri) +
                                   "' lacks a slash behind its scheme. Write " + begin +
                                   (scheme.is_default ? "///" : "//") + std::string(rest) +
                                   ", or ./" + std::string(uri) + " for a folder of that name.");
  }
  return {};
}

class RealFileSystems final : public FileSystems {
 public:
  explicit RealFileSystems(OptionMap options) : options_(std::move(options)) {}

  Result<Located> Locate(std::string_view uri) override {
    if (uri.find('\0') != std::string_view::npos) {
      return Status::InvalidArgument("Path '" + Printable(uri) + "' has a NUL character.");
    }
    const UriParts parts = SplitUri(uri);
    SLUICE_RETURN_NOT_OK(CheckSlashes(uri, parts));
    for (const Scheme& scheme : kSchemes) {
      const bool wanted = parts.scheme.empty() ? scheme.is_default : scheme.name == parts.scheme;
      if (!wanted) continue;
      Located located;
      SLUICE_ASSIGN_OR_RETURN(located.path, scheme.path(uri, parts));
      SLUICE_ASSIGN_OR_RETURN(located.file_system, Get(scheme));
      return located;
    }
    std::vector<std::string> known;
    for (const Scheme& scheme : kSchemes) known.emplace_back(scheme.name);
    return Status::InvalidArgument("Could not find a file system for scheme '" + parts.scheme +
                                   "' of path '" + std::string(uri) + "'. Known schemes: " +
                                   Join(known, ", ") + "; a path without a scheme is a local one.");
  }

 private:
  Result<std::shared_ptr<FileSystem>> Get(const Scheme& scheme) {
    const std::lock_guard lock(mutex_);
    auto& made = made_[scheme.name];
    if (made == nullptr) {
      SLUICE_ASSIGN_OR_RETURN(made, scheme.make(scheme.name, options_));
    }
    return made;
  }

  const OptionMap options_;
  std::mutex mutex_;
  std::map<std::string_view, std::shared_ptr<FileSystem>> made_;
};

}  // namespace

bool IsFileSystemOption(std::string_view key) {
  return std::any_of(std::begin(kOptionPrefixes), std::end(kOptionPrefixes),
                     [&](std::string_view prefix) { return key.starts_with(prefix); });
}

FileSystems& FileSystemsFor(const OptionMap& configuration) {
  // Never destroyed: threads may outlive main. Bounded by the settings that one process uses.
  static auto* const mutex = new std::mutex;
  static auto* const known = new std::map<OptionMap, std::unique_ptr<RealFileSystems>>;
  OptionMap options;
  for (const auto& [key, value] : configuration) {
    if (IsFileSystemOption(key)) options.emplace(key, value);
  }
  const std::lock_guard lock(*mutex);
  auto& file_systems = (*known)[options];
  if (file_systems == nullptr) file_systems = std::make_unique<RealFileSystems>(options);
  return *file_systems;
}

}  // namespace sluice::fs
