#include "fs/file_system.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "common/text.h"
#include "fs/local/local_file_system.h"

namespace sluice::fs {

namespace {

bool IsSchemeText(std::string_view text) {
  if (text.empty() || !std::isalpha(static_cast<unsigned char>(text[0]))) return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '+' || c == '-' || c == '.';
  });
}

// "file:///a" is ("file", "/a"); text without "scheme://" or "file:/" is a path, whatever colons it
// has.
struct SplitUri {
  std::string scheme;
  std::string authority;
  std::string_view path;
};

SplitUri SplitAtScheme(std::string_view uri) {
  const size_t colon = uri.find(':');
  if (colon == std::string_view::npos || !IsSchemeText(uri.substr(0, colon))) return {"", "", uri};
  std::string scheme = ToLowerAscii(uri.substr(0, colon));
  std::string_view rest = uri.substr(colon + 1);
  if (rest.starts_with("//")) {
    rest.remove_prefix(2);
    const size_t slash = std::min(rest.find('/'), rest.size());
    return {std::move(scheme), std::string(rest.substr(0, slash)), rest.substr(slash)};
  }
  if (scheme == "file" && rest.starts_with("/")) return {std::move(scheme), "", rest};
  return {"", "", uri};
}

// Resolves "", "." and ".." components by text alone, as Flink's Path does.
std::string NormalizeAbsolute(std::string_view path) {
  std::vector<std::string_view> kept;
  for (const std::string_view component : Split(path, '/')) {
    if (component.empty() || component == ".") continue;
    if (component == "..") {
      if (!kept.empty()) kept.pop_back();
      continue;
    }
    kept.push_back(component);
  }
  std::string normal;
  for (const std::string_view component : kept) normal.append("/").append(component);
  return normal.empty() ? "/" : normal;
}

class RealFileSystems final : public FileSystems {
 public:
  Result<Located> Locate(std::string_view uri) override {
    const SplitUri parts = SplitAtScheme(uri);
    for (const Entry& entry : entries_) {
      if (parts.scheme.empty() ? entry.is_default : entry.scheme == parts.scheme) {
        return LocateLocal(entry.file_system, parts, uri);
      }
    }
    std::vector<std::string> known;
    for (const Entry& entry : entries_) known.emplace_back(entry.scheme);
    return Status::InvalidArgument("Could not find a file system for scheme '" + parts.scheme +
                                   "' of path '" + std::string(uri) + "'. Known schemes: " +
                                   Join(known, ", ") + "; a path without a scheme is a local one.");
  }

 private:
  struct Entry {
    std::string_view scheme;
    bool is_default;
    std::shared_ptr<FileSystem> file_system;
  };

  static Result<Located> LocateLocal(const std::shared_ptr<FileSystem>& file_system,
                                     const SplitUri& parts, std::string_view uri) {
    if (!parts.authority.empty() && parts.authority != "localhost") {
      return Status::InvalidArgument(
          "Path '" + std::string(uri) + "' names the host '" + parts.authority +
          "', but local files have none. Write file:///" + parts.authority +
          std::string(parts.path) + " if that is a folder.");
    }
    if (parts.path.empty()) {
      return Status::InvalidArgument("Can not create a Path from an empty string.");
    }
    if (parts.path.find('\0') != std::string_view::npos) {
      return Status::InvalidArgument("Path '" + Printable(uri) + "' has a NUL character.");
    }
    if (parts.path.starts_with("/")) return Located{file_system, NormalizeAbsolute(parts.path)};
    std::error_code error;
    const std::string working_directory = std::filesystem::current_path(error).string();
    if (error) {
      return Status::IoError("Cannot resolve the relative path '" + std::string(uri) +
                             "': the working directory is not there (" + error.message() + ").");
    }
    return Located{file_system, NormalizeAbsolute(JoinPath(working_directory, parts.path))};
  }

  // The one place where a file system is made known.
  const std::vector<Entry> entries_ = {
      {"file", true, std::make_shared<LocalFileSystem>()},
  };
};

}  // namespace

FileSystems& FileSystems::Default() {
  static auto* const file_systems =
      new RealFileSystems;  // Never destroyed: threads may outlive main.
  return *file_systems;
}

std::string JoinPath(std::string_view directory, std::string_view name) {
  while (name.starts_with("/")) name.remove_prefix(1);
  if (directory.empty()) return std::string(name);
  while (directory.ends_with("/")) directory.remove_suffix(1);
  std::string path(directory);
  return path.append("/").append(name);
}

std::string ParentPath(std::string_view path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return "";
  return slash == 0 ? "/" : std::string(path.substr(0, slash));
}

bool IsHiddenName(std::string_view name) {
  const std::string_view last = name.substr(name.rfind('/') + 1);
  return last.starts_with(".") || last.starts_with("_");
}

}  // namespace sluice::fs
