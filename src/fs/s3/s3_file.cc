#include "fs/s3/s3_file.h"

#include <cstring>

#include "types/carried_status.h"

namespace sluice::fs::s3 {
namespace {

// Costs little more time than one byte does, and holds most footers and small files.
constexpr int64_t kFirstWindowBytes = 256 << 10;
constexpr int64_t kLargeReadBytes = 1 << 20;

}  // namespace

S3File::S3File(std::shared_ptr<BucketStore> store, std::string key, int64_t size_bytes)
    : store_(std::move(store)),
      key_(std::move(key)),
      size_bytes_(size_bytes),
      next_window_bytes_(kFirstWindowBytes) {
  set_mode(arrow::io::FileMode::READ);
}

arrow::Result<std::string> S3File::Fetch(int64_t begin, int64_t length) {
  auto range = store_->client.Get(key_, begin, length);
  if (!range.ok()) return ToArrow(range.status());
  if (range->object_size_bytes < begin + length) {
    return arrow::Status::IOError(store_->client.settings().scheme, "://",
                                  store_->client.settings().bucket, "/", key_, " has ",
                                  range->object_size_bytes, " bytes, but had ", size_bytes_,
                                  " when it was found: it was replaced meanwhile.");
  }
  return std::move(range->bytes);
}

int64_t S3File::CopyFromWindow(int64_t position, int64_t length, char* out) const {
  const int64_t end = window_begin_ + static_cast<int64_t>(window_.size());
  if (position < window_begin_ || position >= end) return 0;
  const int64_t count = std::min(length, end - position);
  std::memcpy(out, window_.data() + (position - window_begin_), static_cast<size_t>(count));
  return count;
}

arrow::Result<int64_t> S3File::ReadAt(int64_t position, int64_t nbytes, void* out) {
  if (position < 0 || position > size_bytes_) {
    return arrow::Status::Invalid("A read at ", position, " of ", size_bytes_, " bytes.");
  }
  const int64_t length = std::min(nbytes, size_bytes_ - position);
  char* target = static_cast<char*>(out);
  int64_t done = 0;
  {
    const std::lock_guard lock(mutex_);
    const int64_t end = window_begin_ + static_cast<int64_t>(window_.size());
    const bool follows = position >= window_begin_ && position <= end && !window_.empty();
    done = CopyFromWindow(position, length, target);
    if (done == length) return length;
    const int64_t most = std::max(store_->client.settings().read_ahead_bytes, kFirstWindowBytes);
    // After a piece of a text file more will follow; a large column chunk stands alone.
    const int64_t first =
        length <= kLargeReadBytes ? std::max(kFirstWindowBytes, 2 * length) : kFirstWindowBytes;
    next_window_bytes_ = follows ? std::min(next_window_bytes_ * 2, most) : first;
    const int64_t begin = position + done;
    if (length - done < next_window_bytes_) {
      const int64_t wanted = std::min(next_window_bytes_, size_bytes_ - begin);
      ARROW_ASSIGN_OR_RAISE(window_, Fetch(begin, wanted));
      window_begin_ = begin;
      return done + CopyFromWindow(begin, length - done, target + done);
    }
  }
  ARROW_ASSIGN_OR_RAISE(const std::string bytes, Fetch(position + done, length - done));
  std::memcpy(target + done, bytes.data(), bytes.size());
  return length;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> S3File::ReadAt(int64_t position, int64_t nbytes) {
  const int64_t length = std::clamp<int64_t>(size_bytes_ - position, 0, nbytes);
  ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(length));
  ARROW_ASSIGN_OR_RAISE(const int64_t count, ReadAt(position, length, buffer->mutable_data()));
  ARROW_RETURN_NOT_OK(buffer->Resize(count));
  return std::shared_ptr<arrow::Buffer>(std::move(buffer));
}

arrow::Result<int64_t> S3File::Read(int64_t nbytes, void* out) {
  ARROW_ASSIGN_OR_RAISE(const int64_t count, ReadAt(position_, nbytes, out));
  position_ += count;
  return count;
}

arrow::Result<std::shared_ptr<arrow::Buffer>> S3File::Read(int64_t nbytes) {
  ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position_, nbytes));
  position_ += buffer->size();
  return buffer;
}

arrow::Status S3File::Seek(int64_t position) {
  if (position < 0) return arrow::Status::Invalid("A seek to ", position, ".");
  position_ = position;
  return arrow::Status::OK();
}

arrow::Status S3File::Close() {
  closed_ = true;
  const std::lock_guard lock(mutex_);
  window_ = std::string();
  return arrow::Status::OK();
}

}  // namespace sluice::fs::s3
