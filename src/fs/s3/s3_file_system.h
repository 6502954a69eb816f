// S3, OSS and every store that speaks the S3 interface, as a FileSystem.
//
// A directory is there as long as an object is below it. Listing asks for one level at a time
// (delimiter '/'); an object "a/" that other programs make to stand for a directory is no entry.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/options.h"
#include "fs/file_system.h"
#include "fs/s3/s3_publisher.h"

namespace sluice::fs {

namespace s3 {

class S3FileSystem final : public FileSystem {
 public:
  S3FileSystem(std::string_view scheme, OptionMap options, Environment environment);

  std::string_view scheme() const override { return scheme_; }
  bool has_directories() const override { return false; }
  Status CheckAccess(const std::string& directory) override;
  Result<FileInfo> Stat(const std::string& path) override;
  Result<std::vector<FileInfo>> List(const std::string& directory) override;
  Result<std::vector<FileInfo>> ListTree(const std::string& directory) override;
  Result<std::vector<FileInfo>> ListTreeAfter(const std::string& directory,
                                              const std::string& after) override;
  Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenRead(const std::string& path) override;
  Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenFound(const FileInfo& file) override;
  Status WriteWhole(const std::string& path, std::string_view bytes) override;
  /// Makes an empty object "path/", so that the directory is there before its first file.
  Status CreateDirectories(const std::string& path) override;
  Status DeleteFile(const std::string& path) override;
  Status DeleteFiles(const std::vector<std::string>& paths) override;
  Status DeleteTree(const std::string& path) override;
  /// Of one object: copies and deletes, so it is not atomic. Directories: kUnsupported.
  Status Rename(const std::string& from, const std::string& to) override;
  Status ExchangeDirectories(const std::string& a, const std::string& b) override;
  Publisher& publisher() override { return publisher_; }
  int64_t retries() const override;

 private:
  Result<std::shared_ptr<BucketStore>> StoreOf(const std::string& bucket);

  const std::string scheme_;
  const OptionMap options_;
  const Environment environment_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<BucketStore>> stores_;  // By bucket.
  S3Publisher publisher_;
};

}  // namespace s3

/// `options` are those of the session; unknown and impossible ones are refused here, the rest is
/// read when a bucket is first used.
Result<std::shared_ptr<FileSystem>> MakeS3FileSystem(std::string_view scheme,
                                                     const OptionMap& options);

}  // namespace sluice::fs
