// Part files on an object store: a multipart upload of the final key, which nobody sees before it
// is completed (design.md §5).
//
// Invariants:
//  - What Persist or Close returned needs nothing of this process: parts are in the store, the rest
//    (less than one part) is inside the handle.
//  - An upload that a handle names is aborted by Abandon only; Discard aborts one that this writer
//    began and that no handle names.
//  - A file of a few bytes begins no upload: it is one PutObject when it is published.
// State: handles (s3_handle.h) live in the caller's checkpoint.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fs/file_system.h"
#include "fs/s3/bucket_store.h"
#include "fs/s3/s3_handle.h"

namespace sluice::fs::s3 {

/// Finds the store of a bucket.
using StoreFinder = std::function<Result<std::shared_ptr<BucketStore>>(const std::string& bucket)>;

class S3Publisher final : public Publisher {
 public:
  explicit S3Publisher(StoreFinder find_store) : find_store_(std::move(find_store)) {}

  Result<std::unique_ptr<PartFileWriter>> Open(const std::string& final_path,
                                               const std::string& attempt) override;
  Result<std::unique_ptr<PartFileWriter>> Resume(const std::string& handle) override;
  std::vector<Status> Publish(const std::vector<std::string>& handles) override;
  Status Abandon(const std::string& handle) override;
  Result<HandleInfo> Describe(const std::string& handle) const override;
  Result<std::vector<HandleInfo>> ListUnfinished(const std::string& directory) override;
  Result<int64_t> UnfinishedBytes(const HandleInfo& unfinished) override;
  Status DropUnfinished(const HandleInfo& unfinished) override;
  bool HasRoom(int64_t at_most_bytes) const override { return room_.HasRoom(at_most_bytes); }
  void WaitForRoom(int64_t at_most_bytes) override { room_.Wait(at_most_bytes); }
  int64_t bytes_under_way() const override { return room_.used_bytes(); }

  UploadRoom& room() { return room_; }

 private:
  Status PublishOne(const UploadHandle& handle);
  Status PutWhole(S3Client& client, const std::string& key, const UploadHandle& handle);
  Status Complete(S3Client& client, const std::string& key, UploadHandle handle);

  const StoreFinder find_store_;
  UploadRoom room_;
};

}  // namespace sluice::fs::s3
