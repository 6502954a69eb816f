#include "fs/local/directory_sync.h"

#include <algorithm>
#include <cerrno>
#include <functional>

namespace sluice::fs {

namespace {

constexpr size_t kUsedLimit = 1 << 16;  // 512 KiB; forgetting costs a sync a folder.

}  // namespace

void DirectorySync::NoteChange(const std::string& directory) {
  const std::lock_guard lock(mutex_);
  changed_[directory] = ++change_count_;
}

std::vector<std::string> DirectorySync::ChangedUpTo(const std::string& directory) {
  std::vector<std::string> changed;
  const std::lock_guard lock(mutex_);
  if (changed_.empty()) return changed;
  for (std::string path = directory;; path = ParentPath(path)) {
    if (changed_.contains(path)) changed.push_back(path);
    if (path.empty() || path == "/") break;
  }
  std::reverse(changed.begin(), changed.end());
  return changed;
}

Status DirectorySync::EnsureDurable(const std::string& directory) {
  const std::vector<std::string> changed = ChangedUpTo(directory);
  if (changed.size() > 1) {
    const auto noted = Noted({changed.begin(), changed.end()});
    size_t failed = 0;
    if (disk_.SyncTogether({}, changed, &failed) >= 0) {
      Forget(noted);
      return {};
    }
  }
  for (const std::string& path : changed) SLUICE_RETURN_NOT_OK(SyncOne(path));
  return {};
}

int DirectorySync::SyncFileWithNames(int descriptor, const std::string& directory, Status* names) {
  const std::vector<std::string> changed = ChangedUpTo(directory);
  const auto noted = Noted({changed.begin(), changed.end()});
  size_t failed = 0;
  const int result = disk_.SyncTogether({descriptor}, changed, &failed);
  if (result >= 0) {
    Forget(noted);
  } else if (failed == 0) {
    return result;
  } else {
    *names = EnsureDurable(directory);
  }
  return 0;
}

Status DirectorySync::SyncOne(const std::string& directory) {
  uint64_t number = 0;
  {
    const std::lock_guard lock(mutex_);
    const auto it = changed_.find(directory);
    if (it == changed_.end()) return {};
    number = it->second;
  }
  const int result = disk_.SyncDirectory(directory);
  // A removed folder (an overwritten partition) has no entries left to lose.
  // Without read permission there is no way to sync it; it is then not one that this program made.
  if (result < 0 && result != -ENOENT && result != -EACCES)
    return DiskError(-result, "make durable the names in", directory);
  const std::lock_guard lock(mutex_);
  const auto it = changed_.find(directory);
  if (it != changed_.end() && it->second == number) changed_.erase(it);
  return {};
}

std::map<std::string, uint64_t> DirectorySync::Noted(const std::set<std::string>& directories) {
  std::map<std::string, uint64_t> noted;
  const std::lock_guard lock(mutex_);
  for (const std::string& directory : directories) {
    const auto it = changed_.find(directory);
    if (it != changed_.end()) noted.insert(*it);
  }
  return noted;
}

void DirectorySync::Forget(const std::map<std::string, uint64_t>& noted) {
  const std::lock_guard lock(mutex_);
  for (const auto& [directory, number] : noted) {
    const auto it = changed_.find(directory);
    if (it != changed_.end() && it->second == number) changed_.erase(it);
  }
}

bool DirectorySync::NoteFirstUse(const std::string& directory) {
  const std::lock_guard lock(mutex_);
  if (used_.size() >= kUsedLimit) used_.clear();
  if (!used_.insert(std::hash<std::string>()(directory)).second) return false;
  changed_[ParentPath(directory)] = ++change_count_;
  return true;
}

bool DirectorySync::WasUsed(const std::string& directory) {
  const std::lock_guard lock(mutex_);
  return used_.contains(std::hash<std::string>()(directory));
}

// One call of the system for a new partition: what is above it is known from the last one.
bool DirectorySync::MakeInUsedFolder(const std::string& path) {
  const std::string parent = ParentPath(path);
  if (WasUsed(path) || !WasUsed(parent) || disk_.MakeDirectory(path) != 0) return false;
  NoteFirstUse(path);
  NoteChange(parent);
  return true;
}

Status DirectorySync::CreateDirectories(const std::string& path, bool* fresh) {
  if (fresh != nullptr) *fresh = false;
  if (MakeInUsedFolder(path)) {
    if (fresh != nullptr) *fresh = true;
    return {};
  }
  std::vector<std::string> missing;
  for (std::string current = path;; current = ParentPath(current)) {
    FileInfo info;
    const int result = disk_.Stat(current, &info);
    if (result == 0) {
      if (!info.is_directory) {
        return DiskError(ENOTDIR, "create the folder " + path + " below", current);
      }
      // A run that was killed may have made it and not synced it: see to it once.
      if (current == "/" || !NoteFirstUse(current)) break;
      continue;
    }
    if (result != -ENOENT) return DiskError(-result, "create the folder", current);
    missing.push_back(current);
    if (current.empty() || current == "/") break;
  }
  for (auto it = missing.rbegin(); it != missing.rend(); ++it) {
    const int result = disk_.MakeDirectory(*it);
    if (result < 0 && result != -EEXIST) return DiskError(-result, "create the folder", *it);
    NoteFirstUse(*it);
    NoteChange(ParentPath(*it));
  }
  return {};
}

}  // namespace sluice::fs
