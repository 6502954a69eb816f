// One open part file of S3Publisher: bytes become parts, which are uploaded while more are written.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "fs/file_system.h"
#include "fs/s3/bucket_store.h"
#include "fs/s3/s3_handle.h"

namespace sluice::fs::s3 {

/// Append never waits for the store; a failed upload is told by the next call. At most 10,000
/// parts: parts grow so that this is enough for 5 TiB.
class S3PartFileWriter final : public PartFileWriter {
 public:
  /// `handle` is that of a new file (a path only) or of one to continue.
  S3PartFileWriter(std::shared_ptr<BucketStore> store, UploadRoom* room, UploadHandle handle);
  ~S3PartFileWriter() override;

  Status Append(std::string_view bytes) override;
  int64_t size_bytes() const override { return length_bytes_; }
  int64_t buffered_bytes() const override { return static_cast<int64_t>(buffer_.capacity()); }
  Result<std::string> Persist() override;
  Result<std::string> Close() override;
  Status Discard() override;

 private:
  /// What the upload pool works on. The writer waits for it before it goes.
  struct Upload {
    std::mutex creating;  // Held while the upload is begun; taken before `mutex`.
    std::mutex mutex;     // Guards the rest.
    std::condition_variable idle;
    std::string upload_id;
    std::map<int, UploadedPart> parts;
    int in_flight = 0;
    std::atomic<bool> cancelled{false};
    Status failure;
  };
  static void UploadPart(BucketStore& store, const std::string& key, Upload& upload, int number,
                         std::string_view bytes);
  static Result<std::string> UploadIdOf(BucketStore& store, const std::string& key, Upload& upload);

  size_t part_size() const;
  void StartPart();
  Status Failure() const;
  /// Returns when no part is on its way.
  Status WaitForParts();
  std::string Handle() const;

  const std::shared_ptr<BucketStore> store_;
  UploadRoom* const room_;
  const std::string path_;
  const std::string key_;
  const std::shared_ptr<Upload> upload_ = std::make_shared<Upload>();
  std::string buffer_;  // Bytes behind the last part.
  int64_t length_bytes_;
  int next_number_ = 1;
};

}  // namespace sluice::fs::s3
