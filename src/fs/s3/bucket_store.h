// One bucket: its client, and the pool on which its parts are uploaded.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "common/io_pool.h"
#include "fs/s3/s3_client.h"

namespace sluice::fs::s3 {

/// Bytes on their way to the stores of one file system. Thread-safe.
class UploadRoom {
 public:
  void Take(int64_t bytes);
  void Return(int64_t bytes);
  /// The limit grows with the largest part size and concurrency that a bucket asks for.
  void RaiseLimit(int64_t bytes);
  /// No more than the limit, and than `at_most_bytes`, is under way.
  bool HasRoom(int64_t at_most_bytes) const;
  void Wait(int64_t at_most_bytes);
  int64_t used_bytes() const;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int64_t used_bytes_ = 0;
  int64_t limit_bytes_ = 0;
};

struct BucketStore {
  BucketStore(BucketSettings bucket_settings, std::unique_ptr<CredentialsProvider> credentials,
              std::shared_ptr<HttpClient> http, const Clock* clock)
      : client(std::move(bucket_settings), std::move(credentials), std::move(http), clock),
        uploads(client.settings().concurrent_uploads) {}

  S3Client client;
  ThreadIoPool uploads;
};

/// "s3://bucket/a/b" is bucket and "a/b"; the bucket alone has key "".
struct BucketPath {
  std::string bucket;
  std::string key;
};
BucketPath SplitBucketPath(std::string_view path);

}  // namespace sluice::fs::s3
