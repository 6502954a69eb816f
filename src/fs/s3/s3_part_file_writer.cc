#include "fs/s3/s3_part_file_writer.h"

#include "common/crash_point.h"

namespace sluice::fs::s3 {
namespace {

// A closed file up to this size stays in its handle: one request in place of three. Small, because
// handles travel through the checkpoint.
constexpr size_t kInlineBytes = 16 << 10;
constexpr int kMostParts = 10'000;
// Parts double after each thousand: 5 MiB parts add up to 5 TiB then, the largest object there is.
constexpr int kPartsOfOneSize = 1'000;

}  // namespace

S3PartFileWriter::S3PartFileWriter(std::shared_ptr<BucketStore> store, UploadRoom* room,
                                   UploadHandle handle)
    : store_(std::move(store)),
      room_(room),
      path_(std::move(handle.path)),
      key_(SplitBucketPath(path_).key),
      buffer_(std::move(handle.tail)),
      length_bytes_(handle.length_bytes) {
  upload_->upload_id = std::move(handle.upload_id);
  for (UploadedPart& part : handle.parts) {
    next_number_ = std::max(next_number_, part.number + 1);
    upload_->parts.emplace(part.number, std::move(part));
  }
}

S3PartFileWriter::~S3PartFileWriter() {
  upload_->cancelled = true;
  (void)WaitForParts();
}

size_t S3PartFileWriter::part_size() const {
  const int doublings = (next_number_ - 1) / kPartsOfOneSize;
  const int64_t size = store_->client.settings().part_size_bytes << doublings;
  return static_cast<size_t>(std::min<int64_t>(size, int64_t{5} << 30));
}

Status S3PartFileWriter::Failure() const {
  const std::lock_guard lock(upload_->mutex);
  return upload_->failure;
}

Status S3PartFileWriter::Append(std::string_view bytes) {
  SLUICE_RETURN_NOT_OK(Failure());
  length_bytes_ += static_cast<int64_t>(bytes.size());
  while (!bytes.empty()) {
    const size_t size = part_size();
    const size_t step = std::min(bytes.size(), size - std::min(size, buffer_.size()));
    // Doubling would take up to twice the size of a part.
    if (buffer_.size() + step > size / 2) buffer_.reserve(size);
    buffer_.append(bytes.substr(0, step));
    bytes.remove_prefix(step);
    if (buffer_.size() < size) continue;
    if (next_number_ > kMostParts) {
      return Status::IoError("The upload of " + path_ +
                             " has 10,000 parts, the most that a store takes. Lower "
                             "'sink.rolling-policy.file-size'.");
    }
    StartPart();
  }
  return {};
}

void S3PartFileWriter::StartPart() {
  const int number = next_number_++;
  auto bytes = std::make_shared<std::string>(std::exchange(buffer_, std::string()));
  const auto size = static_cast<int64_t>(bytes->capacity());
  room_->Take(size);
  {
    const std::lock_guard lock(upload_->mutex);
    ++upload_->in_flight;
  }
  store_->uploads.Submit([this, upload = upload_, number, size, bytes]() mutable {
    UploadPart(*store_, key_, *upload, number, *bytes);
    bytes.reset();
    room_->Return(size);
    // Last: the writer may go as soon as nothing is in flight.
    const std::lock_guard lock(upload->mutex);
    --upload->in_flight;
    upload->idle.notify_all();
  });
}

Result<std::string> S3PartFileWriter::UploadIdOf(BucketStore& store, const std::string& key,
                                                 Upload& upload) {
  const std::lock_guard creating(upload.creating);
  {
    const std::lock_guard lock(upload.mutex);
    if (!upload.upload_id.empty()) return upload.upload_id;
    if (!upload.failure.ok()) return upload.failure;
  }
  SLUICE_ASSIGN_OR_RETURN(std::string id, store.client.CreateUpload(key));
  SLUICE_CRASH_POINT("store.after_create_upload");
  const std::lock_guard lock(upload.mutex);
  upload.upload_id = id;
  return id;
}

void S3PartFileWriter::UploadPart(BucketStore& store, const std::string& key, Upload& upload,
                                  int number, std::string_view bytes) {
  {
    const std::lock_guard lock(upload.mutex);
    if (upload.cancelled || !upload.failure.ok()) return;
  }
  auto id = UploadIdOf(store, key, upload);
  Result<std::string> etag =
      id.ok() ? store.client.UploadPart(key, *id, number, bytes, &upload.cancelled)
              : Result<std::string>(id.status());
  SLUICE_CRASH_POINT("store.after_upload_part");
  const std::lock_guard lock(upload.mutex);
  if (etag.ok()) {
    upload.parts[number] = {number, std::move(*etag), static_cast<int64_t>(bytes.size())};
  } else if (upload.failure.ok()) {
    upload.failure = etag.status();
    if (etag.status().code() == StatusCode::kNotFound) {
      upload.failure = Status::Corrupt(
          "The upload " + *id + " of " + key +
          " is gone while it is written: it was aborted, by hand or by a rule of the bucket. " +
          etag.status().message());
    }
  }
}

Status S3PartFileWriter::WaitForParts() {
  std::unique_lock lock(upload_->mutex);
  upload_->idle.wait(lock, [this] { return upload_->in_flight == 0; });
  return upload_->failure;
}

std::string S3PartFileWriter::Handle() const {
  UploadHandle handle{.path = path_,
                      .upload_id = upload_->upload_id,
                      .parts = {},
                      .tail = buffer_,
                      .length_bytes = length_bytes_};
  for (const auto& [number, part] : upload_->parts) handle.parts.push_back(part);
  return EncodeUploadHandle(handle);
}

Result<std::string> S3PartFileWriter::Persist() {
  SLUICE_RETURN_NOT_OK(WaitForParts());
  return Handle();
}

Result<std::string> S3PartFileWriter::Close() {
  SLUICE_RETURN_NOT_OK(Failure());
  const bool begun = next_number_ > 1 || !upload_->upload_id.empty();
  if (!buffer_.empty() && (begun || buffer_.size() > kInlineBytes)) StartPart();
  SLUICE_RETURN_NOT_OK(WaitForParts());
  std::string handle = Handle();
  buffer_ = std::string();
  return handle;
}

Status S3PartFileWriter::Discard() {
  upload_->cancelled = true;
  (void)WaitForParts();
  buffer_ = std::string();
  if (upload_->upload_id.empty()) return {};
  return store_->client.AbortUpload(key_, upload_->upload_id);
}

}  // namespace sluice::fs::s3
