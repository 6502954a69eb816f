// The system calls that the local file system makes, as an interface: the same publishing code runs
// on a real disk and on one that fails, crashes and forgets on command (fs/faulty/).
#pragma once

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/io/interfaces.h>

#include "fs/file_system.h"

struct stat;

namespace sluice::fs {

/// Calls return 0 or a positive value, or the negative errno. Thread-safe.
class Disk {
 public:
  virtual ~Disk() = default;

  /// Creates a file that must not be there; returns a descriptor for writing.
  virtual int OpenNew(const std::string& path) = 0;
  /// Opens an existing regular file for writing, not through a symbolic link.
  virtual int OpenExisting(const std::string& path) = 0;
  /// Writes at `offset`; returns the count written, which may be less than asked.
  virtual int64_t WriteAt(int descriptor, int64_t offset, std::string_view bytes) = 0;
  /// A hint: bytes that have been written and are to be made durable later. Does not wait for them.
  virtual void BeginWriteBack(int descriptor, int64_t offset, int64_t length_bytes) {
    (void)descriptor;
    (void)offset;
    (void)length_bytes;
  }
  virtual int64_t Size(int descriptor) = 0;
  virtual int Truncate(int descriptor, int64_t length_bytes) = 0;
  /// Makes the content durable; the entry in the directory is durable after SyncDirectory only.
  virtual int SyncData(int descriptor) = 0;
  virtual int Close(int descriptor) = 0;

  virtual int Stat(const std::string& path, FileInfo* info) = 0;
  /// Entries in any order, without "." and "..".
  virtual int List(const std::string& directory, std::vector<FileInfo>* entries) = 0;
  /// The same; sizes and times may be left out.
  virtual int ListNames(const std::string& directory, std::vector<FileInfo>* entries) {
    return List(directory, entries);
  }
  virtual int MakeDirectory(const std::string& path) = 0;
  /// What making a file in the directory would meet, without making one. A disk in memory takes
  /// everything.
  virtual int CheckWritable(const std::string& directory) {
    (void)directory;
    return 0;
  }
  virtual int SyncDirectory(const std::string& path) = 0;
  /// SyncData of the files and SyncDirectory of the directories, in any order: a real disk takes
  /// them at one go. Stops at or after the first failure, and `*failed` is which one it was,
  /// counted through the files and then the directories.
  virtual int SyncTogether(const std::vector<int>& descriptors,
                           const std::vector<std::string>& directories, size_t* failed);
  /// A descriptor for SyncFileSystem, which reports what fails to reach the disk from now on.
  virtual int OpenFileSystem(const std::string& directory) = 0;
  /// Makes everything durable that is on the file system of the descriptor: contents and names.
  virtual int SyncFileSystem(int descriptor) = 0;
  /// The number of the file system that a path is on.
  virtual int64_t FileSystemOf(const std::string& path) = 0;
  virtual int Unlink(const std::string& path) = 0;
  virtual int RemoveTree(const std::string& path) = 0;
  /// -EEXIST when `to` is there.
  virtual int RenameNoReplace(const std::string& from, const std::string& to) = 0;
  virtual int RenameReplacing(const std::string& from, const std::string& to) = 0;
  /// A second name of a file. -EPERM, -EOPNOTSUPP, -ENOSYS or -EXDEV where that cannot be.
  virtual int Link(const std::string& from, const std::string& to) = 0;
  /// -EINVAL or -ENOSYS where the file system cannot do it.
  virtual int Exchange(const std::string& a, const std::string& b) = 0;
  virtual int OpenRead(const std::string& path,
                       std::shared_ptr<arrow::io::RandomAccessFile>* file) = 0;

  /// Fills `bytes` from the start of a regular file; -ENOSYS: by OpenRead only.
  virtual int ReadWhole(const std::string& path, std::string* bytes) {
    (void)path;
    (void)bytes;
    return -ENOSYS;
  }
  /// True when the kernel tells what happens in it (inotify); false for a disk in memory.
  virtual bool is_real() const { return false; }
  /// How many descriptors the writers of one publisher may keep open.
  virtual int open_file_limit() const = 0;
  /// From this many files or directories on SyncFileSystem is called once instead of a sync for
  /// each: it waits for what others have written to the same file system, too.
  virtual int64_t least_files_synced_together() const { return 128; }
};

/// The disks of this machine; lives for ever.
Disk& RealDisk();

/// True when `folder` is the folder `path` or one that it is in: to follow a link there would never
/// end, and give every file below again and again.
bool IsFolderAbove(const struct stat& folder, const std::string& path);

/// "Cannot open /a/b: Permission denied. …" with what to do about it. `error` is a positive errno.
Status DiskError(int error, std::string_view what, std::string_view path);

}  // namespace sluice::fs
