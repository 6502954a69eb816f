#include "fs/faulty/faulty_disk_session.h"

#include <cerrno>

#include <arrow/buffer.h>
#include <arrow/io/memory.h>

namespace sluice::fs {

std::unique_ptr<Disk> FaultyDisk::NewSession() {
  const std::lock_guard lock(mutex_);
  return std::make_unique<FaultyDiskSession>(this, epoch_);
}

std::unique_lock<std::mutex> FaultyDiskSession::Begin(std::string_view operation,
                                                      const std::string& path, int* error) {
  std::function<void(std::string_view, const std::string&)> hook;
  {
    const std::lock_guard lock(disk_.mutex_);
    hook = disk_.hook_;
  }
  if (hook) hook(operation, path);
  std::unique_lock lock(disk_.mutex_);
  *error = epoch_ == disk_.epoch_ ? 0 : -EIO;
  return lock;
}

FaultyDisk::Inode* FaultyDiskSession::Open(int descriptor) {
  const auto it = descriptors_.find(descriptor);
  if (it == descriptors_.end()) return nullptr;
  const auto inode = disk_.inodes_.find(it->second);
  return inode == disk_.inodes_.end() ? nullptr : &inode->second;
}

int FaultyDiskSession::NewDescriptor(int inode) {
  descriptors_[next_descriptor_] = inode;
  return next_descriptor_++;
}

int FaultyDiskSession::Find(const std::string& path, FaultyDisk::Place* place) {
  const auto verdict = disk_.Decide(disk_.rates_.read, EIO);
  return verdict.error != 0 ? -verdict.error : disk_.Resolve(path, place);
}

int FaultyDiskSession::FindFree(const std::string& path, FaultyDisk::Place* place) {
  const int found = disk_.Resolve(path, place);
  if (found == 0) return -EEXIST;
  const bool free = found == -ENOENT && place->directory >= 0 && path.ends_with(place->name);
  return free ? 0 : found;
}

int FaultyDiskSession::OpenNew(const std::string& path) {
  int error = 0;
  const auto lock = Begin("create", path, &error);
  if (error != 0) return error;
  FaultyDisk::Place place;
  if (const int found = FindFree(path, &place); found < 0) return found;
  const auto verdict = disk_.Decide(disk_.rates_.write, ENOSPC);
  int inode = -1;
  if (verdict.apply) {
    inode = disk_.NewInode(false);
    disk_.inodes_.at(place.directory).entries[place.name] = inode;
    disk_.Changed(place.directory);
  }
  return verdict.error != 0 ? -verdict.error : NewDescriptor(inode);
}

int FaultyDiskSession::OpenExisting(const std::string& path) {
  int error = 0;
  const auto lock = Begin("open", path, &error);
  if (error != 0) return error;
  FaultyDisk::Place place;
  if (const int found = Find(path, &place); found < 0) return found;
  return disk_.inodes_.at(place.inode).is_directory ? -EISDIR : NewDescriptor(place.inode);
}

int64_t FaultyDiskSession::WriteAt(int descriptor, int64_t offset, std::string_view bytes) {
  int error = 0;
  const auto lock = Begin("write", "", &error);
  if (error != 0) return error;
  FaultyDisk::Inode* const inode = Open(descriptor);
  if (inode == nullptr) return -EBADF;
  const auto verdict = disk_.Decide(disk_.rates_.write, ENOSPC);
  size_t count = bytes.size();
  // A failing write leaves a part behind; a good one may be short.
  if (verdict.error != 0) {
    count = verdict.apply ? disk_.random_.Below(count + 1) : 0;
  } else if (disk_.rates_.write > 0 && count > 1 && disk_.random_.OneIn(8)) {
    count = 1 + disk_.random_.Below(count);
  }
  const size_t start = static_cast<size_t>(offset);
  if (count > 0) {
    if (inode->data.size() < start + count) inode->data.resize(start + count, '\0');
    inode->data.replace(start, count, bytes.substr(0, count));
    inode->modified_ms = disk_.clock_->NowMillis();
  }
  return verdict.error != 0 ? -verdict.error : static_cast<int64_t>(count);
}

// No operation of its own: what a crash leaves of bytes that were not synced is anybody's guess
// with it and without.
void FaultyDiskSession::BeginWriteBack(int descriptor, int64_t offset, int64_t length_bytes) {
  const std::lock_guard lock(disk_.mutex_);
  const FaultyDisk::Inode* const inode = Open(descriptor);
  if (inode == nullptr) return;
  disk_.write_backs_.push_back(
      {offset, length_bytes, offset + length_bytes <= static_cast<int64_t>(inode->data.size())});
}

int64_t FaultyDiskSession::Size(int descriptor) {
  int error = 0;
  const auto lock = Begin("size", "", &error);
  if (error != 0) return error;
  const FaultyDisk::Inode* const inode = Open(descriptor);
  return inode == nullptr ? -EBADF : static_cast<int64_t>(inode->data.size());
}

int FaultyDiskSession::Truncate(int descriptor, int64_t length_bytes) {
  int error = 0;
  const auto lock = Begin("truncate", "", &error);
  if (error != 0) return error;
  FaultyDisk::Inode* const inode = Open(descriptor);
  if (inode == nullptr) return -EBADF;
  const auto verdict = disk_.Decide(disk_.rates_.write, EIO);
  if (verdict.apply) inode->data.resize(static_cast<size_t>(length_bytes), '\0');
  return -verdict.error;
}

int FaultyDiskSession::SyncData(int descriptor) {
  int error = 0;
  const auto lock = Begin("sync", "", &error);
  if (error != 0) return error;
  FaultyDisk::Inode* const inode = Open(descriptor);
  if (inode == nullptr) return -EBADF;
  const auto verdict = disk_.Decide(disk_.rates_.sync, EIO);
  if (verdict.apply) inode->durable_data = inode->data;
  return -verdict.error;
}

int FaultyDiskSession::Close(int descriptor) {
  int error = 0;
  const auto lock = Begin("close", "", &error);
  if (error != 0) return error;
  return descriptors_.erase(descriptor) == 0 ? -EBADF : 0;
}

int FaultyDiskSession::Stat(const std::string& path, FileInfo* info) {
  int error = 0;
  const auto lock = Begin("stat", path, &error);
  if (error != 0) return error;
  FaultyDisk::Place place;
  if (const int found = Find(path, &place); found < 0) return found;
  const FaultyDisk::Inode& inode = disk_.inodes_.at(place.inode);
  *info = FileInfo{path, inode.is_directory, static_cast<int64_t>(inode.data.size()),
                   inode.modified_ms};
  return 0;
}

int FaultyDiskSession::List(const std::string& directory, std::vector<FileInfo>* entries) {
  int error = 0;
  const auto lock = Begin("list", directory, &error);
  if (error != 0) return error;
  FaultyDisk::Place place;
  if (const int found = Find(directory, &place); found < 0) return found;
  if (!disk_.inodes_.at(place.inode).is_directory) return -ENOTDIR;
  for (const auto& [name, number] : disk_.inodes_.at(place.inode).entries) {
    const FaultyDisk::Inode& inode = disk_.inodes_.at(number);
    entries->push_back({JoinPath(directory, name), inode.is_directory,
                        static_cast<int64_t>(inode.data.size()), inode.modified_ms});
  }
  return 0;
}

int FaultyDiskSession::MakeDirectory(const std::string& path) {
  int error = 0;
  const auto lock = Begin("mkdir", path, &error);
  if (error != 0) return error;
  FaultyDisk::Place place;
  if (const int found = FindFree(path, &place); found < 0) return found;
  const auto verdict = disk_.Decide(disk_.rates_.write, ENOSPC);
  if (verdict.apply) {
    const int inode = disk_.NewInode(true);
    disk_.inodes_.at(place.directory).entries[place.name] = inode;
    disk_.Changed(place.directory);
  }
  return -verdict.error;
}

int FaultyDiskSession::SyncDirectory(const std::string& path) {
  int error = 0;
  const auto lock = Begin("sync directory", path, &error);
  if (error != 0) return error;
  FaultyDisk::Place place;
  const int found = disk_.Resolve(path, &place);
  if (found < 0) return found;
  const auto verdict = disk_.Decide(disk_.rates_.sync, EIO);
  if (verdict.apply) disk_.SyncEntries(place.inode);
  return -verdict.error;
}

int FaultyDiskSession::OpenFileSystem(const std::string& directory) {
  int error = 0;
  const auto lock = Begin("open file system", directory, &error);
  if (error != 0) return error;
  FaultyDisk::Place place;
  const int found = disk_.Resolve(directory, &place);
  return found < 0 ? found : NewDescriptor(place.inode);
}

int FaultyDiskSession::SyncFileSystem(int descriptor) {
  int error = 0;
  const auto lock = Begin("sync file system", "", &error);
  if (error != 0) return error;
  if (Open(descriptor) == nullptr) return -EBADF;
  const auto verdict = disk_.Decide(disk_.rates_.sync, EIO);
  if (!verdict.apply) return -verdict.error;
  for (auto& [id, inode] : disk_.inodes_) {
    // A failure leaves some of it undone.
    if (verdict.error != 0 && id % 2 == 0) continue;
    if (inode.is_directory) {
      disk_.SyncEntries(id);
    } else {
      inode.durable_data = inode.data;
    }
  }
  return -verdict.error;
}

int64_t FaultyDiskSession::FileSystemOf(const std::string& path) {
  int error = 0;
  const auto lock = Begin("stat", path, &error);
  if (error != 0) return error;
  FaultyDisk::Place place;
  const int found = disk_.Resolve(path, &place);
  return found < 0 ? found : 1;
}

int FaultyDiskSession::Unlink(const std::string& path) {
  int error = 0;
  const auto lock = Begin("unlink", path, &error);
  if (error != 0) return error;
  FaultyDisk::Place place;
  const int found = disk_.Resolve(path, &place);
  if (found < 0) return found;
  if (disk_.inodes_.at(place.inode).is_directory) return -EISDIR;
  const auto verdict = disk_.Decide(disk_.rates_.rename, EIO);
  if (verdict.apply) {
    disk_.inodes_.at(place.directory).entries.erase(place.name);
    disk_.Changed(place.directory);
  }
  return -verdict.error;
}

int FaultyDiskSession::RemoveTree(const std::string& path) {
  int error = 0;
  const auto lock = Begin("remove tree", path, &error);
  if (error != 0) return error;
  FaultyDisk::Place place;
  const int found = disk_.Resolve(path, &place);
  if (found < 0) return found;
  if (place.directory < 0) return -EBUSY;
  const auto verdict = disk_.Decide(disk_.rates_.rename, EIO);
  if (verdict.error != 0 && verdict.apply && disk_.inodes_.at(place.inode).is_directory) {
    // Half done: some entries are gone, the folder is still there.
    FaultyDisk::Entries& entries = disk_.inodes_.at(place.inode).entries;
    std::erase_if(entries, [&](const auto&) { return disk_.random_.OneIn(2); });
    disk_.Changed(place.inode);
  } else if (verdict.apply) {
    disk_.inodes_.at(place.directory).entries.erase(place.name);
    disk_.Changed(place.directory);
  }
  return -verdict.error;
}

int FaultyDiskSession::Rename(const std::string& from, const std::string& to, bool replace) {
  int error = 0;
  const auto lock = Begin("rename", from, &error);
  if (error != 0) return error;
  FaultyDisk::Place source;
  FaultyDisk::Place target;
  const int found = disk_.Resolve(from, &source);
  if (found < 0) return found;
  const int there = disk_.Resolve(to, &target);
  if (there == 0 && !replace) return -EEXIST;
  if (there != 0 && (there != -ENOENT || !to.ends_with(target.name))) return there;
  if (source.directory < 0 || target.directory < 0) return -EBUSY;
  const auto verdict = disk_.Decide(disk_.rates_.rename, EIO);
  if (verdict.apply) {
    disk_.inodes_.at(source.directory).entries.erase(source.name);
    disk_.inodes_.at(target.directory).entries[target.name] = source.inode;
    disk_.Changed(source.directory);
    if (source.directory != target.directory) disk_.Changed(target.directory);
    disk_.Couple(source.directory, target.directory);
  }
  return -verdict.error;
}

int FaultyDiskSession::RenameNoReplace(const std::string& from, const std::string& to) {
  return Rename(from, to, false);
}
int FaultyDiskSession::RenameReplacing(const std::string& from, const std::string& to) {
  return Rename(from, to, true);
}

int FaultyDiskSession::Link(const std::string& from, const std::string& to) {
  int error = 0;
  const auto lock = Begin("link", from, &error);
  if (error != 0) return error;
  FaultyDisk::Place source;
  FaultyDisk::Place target;
  int found = disk_.Resolve(from, &source);
  if (found == 0) found = FindFree(to, &target);
  if (found < 0) return found;
  if (disk_.inodes_.at(source.inode).is_directory) return -EPERM;
  const auto verdict = disk_.Decide(disk_.rates_.write, ENOSPC);
  if (verdict.apply) {
    disk_.inodes_.at(target.directory).entries[target.name] = source.inode;
    disk_.Changed(target.directory);
  }
  return -verdict.error;
}

int FaultyDiskSession::Exchange(const std::string& a, const std::string& b) {
  int error = 0;
  const auto lock = Begin("exchange", a, &error);
  if (error != 0) return error;
  FaultyDisk::Place first;
  FaultyDisk::Place second;
  int found = disk_.Resolve(a, &first);
  if (found == 0) found = disk_.Resolve(b, &second);
  if (found < 0) return found;
  const auto verdict = disk_.Decide(disk_.rates_.rename, EIO);
  if (verdict.apply) {
    disk_.inodes_.at(first.directory).entries[first.name] = second.inode;
    disk_.inodes_.at(second.directory).entries[second.name] = first.inode;
    disk_.Changed(first.directory);
    if (first.directory != second.directory) disk_.Changed(second.directory);
    disk_.Couple(first.directory, second.directory);
  }
  return -verdict.error;
}

int FaultyDiskSession::OpenRead(const std::string& path,
                                std::shared_ptr<arrow::io::RandomAccessFile>* file) {
  int error = 0;
  const auto lock = Begin("read", path, &error);
  if (error != 0) return error;
  FaultyDisk::Place place;
  if (const int found = Find(path, &place); found < 0) return found;
  if (disk_.inodes_.at(place.inode).is_directory) return -EISDIR;
  *file = std::make_shared<arrow::io::BufferReader>(
      arrow::Buffer::FromString(disk_.inodes_.at(place.inode).data));
  return 0;
}

}  // namespace sluice::fs
