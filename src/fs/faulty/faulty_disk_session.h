// The calls of one run of the machine to a FaultyDisk.
#pragma once

#include <map>

#include "fs/faulty/faulty_disk.h"

namespace sluice::fs {

class FaultyDiskSession final : public Disk {
 public:
  FaultyDiskSession(FaultyDisk* disk, int epoch) : disk_(*disk), epoch_(epoch) {}

  int OpenNew(const std::string& path) override;
  int OpenExisting(const std::string& path) override;
  int64_t WriteAt(int descriptor, int64_t offset, std::string_view bytes) override;
  void BeginWriteBack(int descriptor, int64_t offset, int64_t length_bytes) override;
  int64_t Size(int descriptor) override;
  int Truncate(int descriptor, int64_t length_bytes) override;
  int SyncData(int descriptor) override;
  int Close(int descriptor) override;
  int Stat(const std::string& path, FileInfo* info) override;
  int List(const std::string& directory, std::vector<FileInfo>* entries) override;
  int MakeDirectory(const std::string& path) override;
  int SyncDirectory(const std::string& path) override;
  int OpenFileSystem(const std::string& directory) override;
  int SyncFileSystem(int descriptor) override;
  int64_t FileSystemOf(const std::string& path) override;
  int Unlink(const std::string& path) override;
  int RemoveTree(const std::string& path) override;
  int RenameNoReplace(const std::string& from, const std::string& to) override;
  int RenameReplacing(const std::string& from, const std::string& to) override;
  int Link(const std::string& from, const std::string& to) override;
  int Exchange(const std::string& a, const std::string& b) override;
  int OpenRead(const std::string& path,
               std::shared_ptr<arrow::io::RandomAccessFile>* file) override;
  int open_file_limit() const override {
    return 8;
  }  // Small, so that the limit is met all the time.
  int64_t least_files_synced_together() const override { return 2; }

 private:
  /// Tells the hook, then takes the lock; fails when this run of the machine is over.
  std::unique_lock<std::mutex> Begin(std::string_view operation, const std::string& path,
                                     int* error);
  /// The inode behind a descriptor, null when it is not open or its file is gone.
  FaultyDisk::Inode* Open(int descriptor);
  int NewDescriptor(int inode);
  /// Where `path` is; a read that may fail.
  int Find(const std::string& path, FaultyDisk::Place* place);
  /// Where a new entry `path` goes; -EEXIST when there is one.
  int FindFree(const std::string& path, FaultyDisk::Place* place);
  int Rename(const std::string& from, const std::string& to, bool replace);

  FaultyDisk& disk_;
  const int epoch_;
  std::map<int, int> descriptors_;  // Descriptor -> inode.
  int next_descriptor_ = 3;
};

}  // namespace sluice::fs
