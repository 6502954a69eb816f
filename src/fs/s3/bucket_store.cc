#include "fs/s3/bucket_store.h"

#include <algorithm>

namespace sluice::fs::s3 {

void UploadRoom::Take(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  used_bytes_ += bytes;
}

void UploadRoom::Return(int64_t bytes) {
  {
    const std::lock_guard lock(mutex_);
    used_bytes_ -= bytes;
  }
  changed_.notify_all();
}

void UploadRoom::RaiseLimit(int64_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_bytes_ = std::max(limit_bytes_, bytes);
}

bool UploadRoom::HasRoom(int64_t at_most_bytes) const {
  const std::lock_guard lock(mutex_);
  return used_bytes_ <= std::min(limit_bytes_, at_most_bytes);
}

void UploadRoom::Wait(int64_t at_most_bytes) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return used_bytes_ <= std::min(limit_bytes_, at_most_bytes); });
}

int64_t UploadRoom::used_bytes() const {
  const std::lock_guard lock(mutex_);
  return used_bytes_;
}

BucketPath SplitBucketPath(std::string_view path) {
  const size_t begin = path.find("://") + 3;
  const size_t slash = path.find('/', begin);
  if (slash == std::string_view::npos) return {std::string(path.substr(begin)), ""};
  return {std::string(path.substr(begin, slash - begin)), std::string(path.substr(slash + 1))};
}

}  // namespace sluice::fs::s3
