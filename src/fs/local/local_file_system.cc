#include "fs/local/local_file_system.h"

#include <unistd.h>

#include <cerrno>
#include <set>

#include "fs/local/inotify_watch.h"

namespace sluice::fs {

Status LocalFileSystem::CheckAccess(const std::string& directory) {
  // The nearest folder that is there decides: what is missing below it is made.
  for (std::string path = directory;; path = ParentPath(path)) {
    const int result = disk_.CheckWritable(path);
    if (result == 0) return {};
    if (result == -ENOENT && path.size() > 1) continue;
    const std::string what = path == directory ? "write to the folder"
                                               : "make the folder " + directory + " in the folder";
    return DiskError(-result, what, path);
  }
}

Result<FileInfo> LocalFileSystem::Stat(const std::string& path) {
  FileInfo info;
  const int result = disk_.Stat(path, &info);
  if (result < 0) return DiskError(-result, "look at", path);
  return info;
}

namespace {

Result<std::vector<FileInfo>> Sorted(int result, std::vector<FileInfo> entries,
                                     const std::string& directory) {
  if (result < 0) return DiskError(-result, "list", directory);
  std::sort(entries.begin(), entries.end(),
            [](const FileInfo& a, const FileInfo& b) { return a.path < b.path; });
  return entries;
}

}  // namespace

Result<std::vector<FileInfo>> LocalFileSystem::List(const std::string& directory) {
  std::vector<FileInfo> entries;
  const int result = disk_.List(directory, &entries);
  return Sorted(result, std::move(entries), directory);
}

Result<std::vector<FileInfo>> LocalFileSystem::ListNames(const std::string& directory) {
  std::vector<FileInfo> entries;
  const int result = disk_.ListNames(directory, &entries);
  return Sorted(result, std::move(entries), directory);
}

Result<std::shared_ptr<arrow::io::RandomAccessFile>> LocalFileSystem::OpenRead(
    const std::string& path) {
  std::shared_ptr<arrow::io::RandomAccessFile> file;
  const int result = disk_.OpenRead(path, &file);
  if (result < 0) return DiskError(-result, "read", path);
  return file;
}

Result<std::string> LocalFileSystem::ReadWhole(const FileInfo& file) {
  std::string bytes(static_cast<size_t>(file.size_bytes), '\0');
  const int result = disk_.ReadWhole(file.path, &bytes);
  if (result == -ENOSYS) return FileSystem::ReadWhole(file);
  if (result < 0) return DiskError(-result, "read", file.path);
  return bytes;
}

Status LocalFileSystem::WriteWhole(const std::string& path, std::string_view bytes) {
  if (bytes.empty()) {
    // Whole as soon as it is there: nothing needs to be durable before it is seen.
    const int descriptor = disk_.OpenNew(path);
    if (descriptor >= 0) {
      (void)disk_.Close(descriptor);
      directories_.NoteChange(ParentPath(path));
      return directories_.EnsureDurable(ParentPath(path));
    }
    if (descriptor != -EEXIST) return DiskError(-descriptor, "create", path);
  }
  const size_t slash = path.rfind('/');
  const std::string temporary =
      JoinPath(ParentPath(path), "." + path.substr(slash + 1) + ".tmp." + std::to_string(getpid()) +
                                     "." + std::to_string(temporary_count_++));
  (void)disk_.Unlink(temporary);  // Of a process that had this number before and died.
  Status status = WriteDurably(temporary, bytes);
  if (status.ok()) {
    const int result = disk_.RenameReplacing(temporary, path);
    if (result < 0) status = DiskError(-result, "create", path);
  }
  if (!status.ok()) {
    (void)disk_.Unlink(temporary);
    return status;
  }
  directories_.NoteChange(ParentPath(path));
  return directories_.EnsureDurable(ParentPath(path));
}

Status LocalFileSystem::WriteDurably(const std::string& path, std::string_view bytes) {
  const int descriptor = disk_.OpenNew(path);
  if (descriptor < 0) return DiskError(-descriptor, "create", path);
  Status status;
  int64_t offset = 0;
  while (status.ok() && !bytes.empty()) {
    const int64_t count = disk_.WriteAt(descriptor, offset, bytes);
    if (count < 0) {
      status = DiskError(static_cast<int>(-count), "write to", path);
      break;
    }
    offset += count;
    bytes.remove_prefix(static_cast<size_t>(count));
  }
  if (status.ok()) {
    const int result = disk_.SyncData(descriptor);
    if (result < 0) status = DiskError(-result, "make durable", path);
  }
  const int closed = disk_.Close(descriptor);
  if (status.ok() && closed < 0) status = DiskError(-closed, "close", path);
  return status;
}

Status LocalFileSystem::CreateDirectories(const std::string& path) {
  SLUICE_RETURN_NOT_OK(directories_.CreateDirectories(path));
  return directories_.EnsureDurable(path);
}

Status LocalFileSystem::DeleteFile(const std::string& path) {
  const int result = disk_.Unlink(path);
  if (result < 0 && result != -ENOENT && result != -ENOTDIR)
    return DiskError(-result, "remove", path);
  // A power loss may bring it back until the folder is made durable, with the next file in it or by
  // CreateDirectories.
  if (result == 0) directories_.NoteChange(ParentPath(path));
  return {};
}

Status LocalFileSystem::DeleteTree(const std::string& path) {
  const int result = disk_.RemoveTree(path);
  if (result < 0 && result != -ENOENT) return DiskError(-result, "remove", path);
  return {};
}

Status LocalFileSystem::SyncParents(const std::string& a, const std::string& b) {
  for (const std::string& path : {ParentPath(a), ParentPath(b)}) {
    directories_.NoteChange(path);
    SLUICE_RETURN_NOT_OK(directories_.EnsureDurable(path));
  }
  return {};
}

Status LocalFileSystem::Rename(const std::string& from, const std::string& to) {
  const int result = disk_.RenameNoReplace(from, to);
  if (result < 0) return DiskError(-result, "rename " + from + " to", to);
  return SyncParents(to, from);
}

std::vector<Status> LocalFileSystem::RenameMany(const std::vector<Move>& moves) {
  std::vector<Status> answers;
  std::set<std::string> touched;  // One sync a folder, however many files leave or enter it.
  for (const Move& move : moves) {
    const std::string target = ParentPath(move.to);
    Status& answer = answers.emplace_back();
    // A folder that a power loss could take away would take the file with it.
    if (!touched.contains(target)) answer = CreateDirectories(target);
    if (!answer.ok()) continue;
    const int result = disk_.RenameNoReplace(move.from, move.to);
    if (result < 0) {
      answer = DiskError(-result, "rename " + move.from + " to", move.to);
      continue;
    }
    for (const std::string& folder : {target, ParentPath(move.from)}) {
      directories_.NoteChange(folder);
      touched.insert(folder);
    }
  }
  // The targets first: a file may be in both folders after a power loss, not in neither.
  for (const bool targets : {true, false}) {
    for (size_t i = 0; i < moves.size(); ++i) {
      if (!answers[i].ok()) continue;
      const std::string folder = ParentPath(targets ? moves[i].to : moves[i].from);
      if (touched.contains(folder)) answers[i] = directories_.EnsureDurable(folder);
    }
  }
  return answers;
}

Result<std::unique_ptr<TreeWatch>> LocalFileSystem::WatchTree(const std::string& directory,
                                                              std::function<void()> wake) {
  if (!disk_.is_real()) return FileSystem::WatchTree(directory, std::move(wake));
  return InotifyWatch::Start(directory, std::move(wake));
}

Status LocalFileSystem::ExchangeDirectories(const std::string& a, const std::string& b) {
  const int result = disk_.Exchange(a, b);
  if (result == -EINVAL || result == -ENOSYS || result == -EXDEV) {
    return Status::Unsupported("The file system of " + a + " cannot exchange it with " + b +
                               " in one step.");
  }
  if (result < 0) return DiskError(-result, "exchange " + a + " with", b);
  return SyncParents(a, b);
}

}  // namespace sluice::fs
