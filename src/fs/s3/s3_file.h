// An object read by ranges.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include <arrow/buffer.h>
#include <arrow/io/interfaces.h>

#include "fs/s3/bucket_store.h"

namespace sluice::fs::s3 {

/// Small reads that follow one another are served from one larger request, which grows with them;
/// large ones are requested as they are. So a footer costs one request, and a text file few.
/// Thread-safe, as Arrow wants ReadAt to be.
class S3File final : public arrow::io::RandomAccessFile {
 public:
  S3File(std::shared_ptr<BucketStore> store, std::string key, int64_t size_bytes);

  arrow::Result<int64_t> GetSize() override { return size_bytes_; }
  arrow::Result<int64_t> ReadAt(int64_t position, int64_t nbytes, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t nbytes) override;
  arrow::Result<int64_t> Read(int64_t nbytes, void* out) override;
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t nbytes) override;
  arrow::Status Seek(int64_t position) override;
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Close() override;
  bool closed() const override { return closed_; }

 private:
  arrow::Result<std::string> Fetch(int64_t begin, int64_t length);
  /// Serves from the window what it covers from `position` on; returns the bytes.
  int64_t CopyFromWindow(int64_t position, int64_t length, char* out) const;

  const std::shared_ptr<BucketStore> store_;
  const std::string key_;
  const int64_t size_bytes_;
  std::mutex mutex_;  // Guards the window.
  std::string window_;
  int64_t window_begin_ = 0;
  int64_t next_window_bytes_;
  int64_t position_ = 0;
  bool closed_ = false;
};

}  // namespace sluice::fs::s3
