#include "fs/s3/s3_publisher.h"

#include "common/crash_point.h"
#include "fs/s3/s3_part_file_writer.h"

namespace sluice::fs::s3 {
namespace {

constexpr std::string_view kUploadMark = "?uploadId=";

std::string UploadPath(const std::string& path, const std::string& upload_id) {
  return upload_id.empty() ? "" : path + std::string(kUploadMark) + upload_id;
}

Status MissingData(const UploadHandle& handle, const std::string& found) {
  return Status::Corrupt(
      "Cannot publish " + handle.path + ": data is missing. The checkpoint recorded " +
      std::to_string(handle.length_bytes) + " bytes in " + std::to_string(handle.parts.size()) +
      " part(s) of upload " + handle.upload_id + ", but that upload is gone and " + found +
      ". Was it aborted, by hand or by a rule of the bucket that removes incomplete uploads? Such "
      "a "
      "rule must wait longer than a job may stand still. Start from an older checkpoint, or with "
      "--fresh.");
}

Status NameTaken(const UploadHandle& handle, int64_t size_bytes) {
  return Status::AlreadyExists(
      "Cannot publish " + handle.path + " (" + std::to_string(handle.length_bytes) +
      " bytes): another object of that name with " + std::to_string(size_bytes) +
      " bytes is there. A published file is never overwritten; move it "
      "away and resume.");
}

/// An ETag of a multipart upload ends in "-<number of parts>".
bool TagFits(const std::string& etag, size_t part_count) {
  const size_t dash = etag.rfind('-');
  return dash == std::string::npos || etag.substr(dash + 1) == std::to_string(part_count);
}

}  // namespace

Result<std::unique_ptr<PartFileWriter>> S3Publisher::Open(const std::string& final_path,
                                                          const std::string& attempt) {
  (void)attempt;  // Nothing is visible that would need a name of its own.
  const BucketPath path = SplitBucketPath(final_path);
  SLUICE_ASSIGN_OR_RETURN(auto store, find_store_(path.bucket));
  return std::make_unique<S3PartFileWriter>(std::move(store), &room_,
                                            UploadHandle{.path = final_path});
}

Result<std::unique_ptr<PartFileWriter>> S3Publisher::Resume(const std::string& handle) {
  SLUICE_ASSIGN_OR_RETURN(UploadHandle upload, DecodeUploadHandle(handle));
  const BucketPath path = SplitBucketPath(upload.path);
  SLUICE_ASSIGN_OR_RETURN(auto store, find_store_(path.bucket));
  if (!upload.upload_id.empty()) {
    // Better now than after hours of further rows.
    const auto parts = store->client.ListParts(path.key, upload.upload_id);
    if (parts.status().code() == StatusCode::kNotFound) {
      return MissingData(upload, "it cannot be continued");
    }
    SLUICE_RETURN_NOT_OK(parts.status());
  }
  return std::make_unique<S3PartFileWriter>(std::move(store), &room_, std::move(upload));
}

std::vector<Status> S3Publisher::Publish(const std::vector<std::string>& handles) {
  std::vector<Status> results;
  results.reserve(handles.size());
  for (const std::string& bytes : handles) {
    auto handle = DecodeUploadHandle(bytes);
    results.push_back(handle.ok() ? PublishOne(*handle) : handle.status());
  }
  return results;
}

Status S3Publisher::PublishOne(const UploadHandle& handle) {
  const BucketPath path = SplitBucketPath(handle.path);
  SLUICE_ASSIGN_OR_RETURN(const auto store, find_store_(path.bucket));
  SLUICE_CRASH_POINT("store.before_complete");
  SLUICE_RETURN_NOT_OK(handle.upload_id.empty() ? PutWhole(store->client, path.key, handle)
                                                : Complete(store->client, path.key, handle));
  SLUICE_CRASH_POINT("store.after_complete");
  return {};
}

Status S3Publisher::PutWhole(S3Client& client, const std::string& key, const UploadHandle& handle) {
  const Status put = client.Put(key, handle.tail, S3Client::IfExists::kFail);
  if (put.code() != StatusCode::kAlreadyExists) return put;
  // Published before a crash, or an answer was lost.
  SLUICE_ASSIGN_OR_RETURN(const ObjectInfo info, client.Head(key));
  return info.size_bytes == handle.length_bytes ? Status() : NameTaken(handle, info.size_bytes);
}

Status S3Publisher::Complete(S3Client& client, const std::string& key, UploadHandle handle) {
  if (!handle.tail.empty()) {  // From Persist: the last bytes become the last part.
    const int number = handle.parts.empty() ? 1 : handle.parts.back().number + 1;
    auto etag = client.UploadPart(key, handle.upload_id, number, handle.tail, nullptr);
    if (!etag.ok() && etag.status().code() != StatusCode::kNotFound) return etag.status();
    handle.parts.push_back(
        {number, etag.ok() ? *etag : "", static_cast<int64_t>(handle.tail.size())});
  }
  const Status completed = client.CompleteUpload(key, handle.upload_id, handle.parts);
  const bool gone = completed.code() == StatusCode::kNotFound;
  const bool taken = completed.code() == StatusCode::kAlreadyExists;
  if (!gone && !taken) return completed;
  const auto info = client.Head(key);
  if (!info.ok() && info.status().code() != StatusCode::kNotFound) return info.status();
  const bool done = info.ok() && info->size_bytes == handle.length_bytes &&
                    TagFits(info->etag, handle.parts.size());
  if (done) return taken ? client.AbortUpload(key, handle.upload_id) : Status();
  if (taken && info.ok()) return NameTaken(handle, info->size_bytes);
  return MissingData(
      handle, info.ok() ? "the object there has " + std::to_string(info->size_bytes) + " bytes"
                        : "there is no such object");
}

Status S3Publisher::Abandon(const std::string& bytes) {
  SLUICE_ASSIGN_OR_RETURN(const UploadHandle handle, DecodeUploadHandle(bytes));
  if (handle.upload_id.empty()) return {};
  const BucketPath path = SplitBucketPath(handle.path);
  SLUICE_ASSIGN_OR_RETURN(const auto store, find_store_(path.bucket));
  return store->client.AbortUpload(path.key, handle.upload_id);
}

Result<Publisher::HandleInfo> S3Publisher::Describe(const std::string& bytes) const {
  SLUICE_ASSIGN_OR_RETURN(const UploadHandle handle, DecodeUploadHandle(bytes));
  return HandleInfo{handle.path, UploadPath(handle.path, handle.upload_id), handle.length_bytes};
}

Result<std::vector<Publisher::HandleInfo>> S3Publisher::ListUnfinished(
    const std::string& directory) {
  const BucketPath path = SplitBucketPath(directory);
  SLUICE_ASSIGN_OR_RETURN(const auto store, find_store_(path.bucket));
  SLUICE_ASSIGN_OR_RETURN(const auto uploads,
                          store->client.ListUploads(path.key.empty() ? "" : path.key + "/"));
  const std::string root = directory.substr(0, directory.size() - path.key.size());
  std::vector<HandleInfo> found;
  for (const ListedUpload& upload : uploads) {
    const std::string final_path = JoinPath(root, upload.key);
    found.push_back({final_path, UploadPath(final_path, upload.upload_id), 0, upload.initiated_ms});
  }
  return found;
}

Result<int64_t> S3Publisher::UnfinishedBytes(const HandleInfo& unfinished) {
  const size_t mark = unfinished.hidden_path.rfind(kUploadMark);
  if (mark == std::string::npos) return Status::NotFound("It is no upload.");
  const BucketPath path = SplitBucketPath(unfinished.final_path);
  SLUICE_ASSIGN_OR_RETURN(const auto store, find_store_(path.bucket));
  SLUICE_ASSIGN_OR_RETURN(
      const auto parts,
      store->client.ListParts(path.key, unfinished.hidden_path.substr(mark + kUploadMark.size())));
  int64_t bytes = 0;
  for (const UploadedPart& part : parts) bytes += part.size_bytes;
  return bytes;
}

Status S3Publisher::DropUnfinished(const HandleInfo& unfinished) {
  const size_t mark = unfinished.hidden_path.rfind(kUploadMark);
  if (mark == std::string::npos) return {};
  const BucketPath path = SplitBucketPath(unfinished.final_path);
  SLUICE_ASSIGN_OR_RETURN(const auto store, find_store_(path.bucket));
  return store->client.AbortUpload(path.key,
                                   unfinished.hidden_path.substr(mark + kUploadMark.size()));
}

}  // namespace sluice::fs::s3
