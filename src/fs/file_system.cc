#include "fs/file_system.h"

#include <algorithm>
#include <cctype>

#include "common/text.h"
#include "fs/all_file_systems.h"
#include "types/arrow_status.h"

namespace sluice::fs {

namespace {

bool IsSchemeText(std::string_view text) {
  if (text.empty() || !std::isalpha(static_cast<unsigned char>(text[0]))) return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '+' || c == '-' || c == '.';
  });
}

/// What a store answers keeps its code: the file may have gone, or can be read a little later.
Status CannotRead(const std::string& path, const arrow::Status& status) {
  Status failure = FromArrow(status);
  if (failure.code() != StatusCode::kIoError) return failure;
  return Status::IoError("Cannot read " + path + ": " + status.message());
}

}  // namespace

UriParts SplitUri(std::string_view uri) {
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

std::string_view PathOfUri(std::string_view uri) {
  const size_t at = uri.find("://");
  if (at == std::string_view::npos || !IsSchemeText(uri.substr(0, at))) return uri;
  const size_t slash = uri.find('/', at + 3);
  return slash == std::string_view::npos ? std::string_view("/") : uri.substr(slash);
}

Result<std::vector<FileInfo>> FileSystem::ListTreeAfter(const std::string& directory,
                                                        const std::string& after) {
  SLUICE_ASSIGN_OR_RETURN(std::vector<FileInfo> files, ListTree(directory));
  std::erase_if(files, [&after](const FileInfo& file) { return file.path <= after; });
  if (files.empty()) return Status::NotFound("No file behind " + after + ".");
  return files;
}

Result<std::string> FileSystem::ReadWhole(const FileInfo& file) {
  SLUICE_ASSIGN_OR_RETURN(const auto opened, OpenFound(file));
  std::string bytes(static_cast<size_t>(file.size_bytes), '\0');
  const auto count = opened->ReadAt(0, file.size_bytes, bytes.data());
  if (!count.ok()) return CannotRead(file.path, count.status());
  bytes.resize(static_cast<size_t>(*count));
  return bytes;
}

Result<std::string> FileSystem::ReadAll(const std::string& path) {
  SLUICE_ASSIGN_OR_RETURN(const auto file, OpenRead(path));
  const auto size = file->GetSize();
  const auto bytes = size.ok() ? file->ReadAt(0, *size) : size.status();
  if (!bytes.ok()) return CannotRead(path, bytes.status());
  return (*bytes)->ToString();
}

std::vector<Status> FileSystem::RenameMany(const std::vector<Move>& moves) {
  std::vector<Status> answers;
  for (const Move& move : moves) answers.push_back(Rename(move.from, move.to));
  return answers;
}

Result<std::vector<FileInfo>> FileSystem::ListTree(const std::string& directory) {
  std::vector<FileInfo> files;
  std::vector<std::string> waiting = {directory};
  while (!waiting.empty()) {
    const std::string current = std::move(waiting.back());
    waiting.pop_back();
    auto entries = List(current);
    if (!entries.ok()) {
      if (current != directory && entries.status().code() == StatusCode::kNotFound) continue;
      return entries.status();
    }
    for (FileInfo& entry : *entries) {
      if (entry.is_directory) {
        waiting.push_back(std::move(entry.path));
      } else {
        files.push_back(std::move(entry));
      }
    }
  }
  std::sort(files.begin(), files.end(),
            [](const FileInfo& a, const FileInfo& b) { return a.path < b.path; });
  return files;
}

FileSystems& FileSystems::Default() { return FileSystemsFor({}); }

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
  const std::string_view last = NameOf(name);
  return last.starts_with(".") || last.starts_with("_");
}

bool HasHiddenName(std::string_view path) {
  const std::vector<std::string_view> components = Split(path, '/');
  return std::any_of(components.begin(), components.end(), &IsHiddenName);
}

}  // namespace sluice::fs
