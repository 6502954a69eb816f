// The local disks as a FileSystem.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "fs/file_system.h"
#include "fs/local/directory_sync.h"
#include "fs/local/local_publisher.h"

namespace sluice::fs {

/// `disk` must outlive it.
class LocalFileSystem final : public FileSystem {
 public:
  LocalFileSystem() : LocalFileSystem(RealDisk()) {}
  explicit LocalFileSystem(Disk& disk)
      : disk_(disk), directories_(disk), publisher_(disk, directories_) {}

  std::string_view scheme() const override { return "file"; }
  Status CheckAccess(const std::string& directory) override;
  Result<FileInfo> Stat(const std::string& path) override;
  Result<std::vector<FileInfo>> List(const std::string& directory) override;
  Result<std::vector<FileInfo>> ListNames(const std::string& directory) override;
  Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenRead(const std::string& path) override;
  Result<std::string> ReadWhole(const FileInfo& file) override;
  Status WriteWhole(const std::string& path, std::string_view bytes) override;
  Status CreateDirectories(const std::string& path) override;
  Status DeleteFile(const std::string& path) override;
  Status DeleteTree(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  std::vector<Status> RenameMany(const std::vector<Move>& moves) override;
  Result<std::unique_ptr<TreeWatch>> WatchTree(const std::string& directory,
                                               std::function<void()> wake) override;
  Status ExchangeDirectories(const std::string& a, const std::string& b) override;
  Publisher& publisher() override { return publisher_; }

 private:
  Status SyncParents(const std::string& a, const std::string& b);
  Status WriteDurably(const std::string& path, std::string_view bytes);

  Disk& disk_;
  DirectorySync directories_;
  LocalPublisher publisher_;
  std::atomic<uint64_t> temporary_count_{0};
};

}  // namespace sluice::fs
