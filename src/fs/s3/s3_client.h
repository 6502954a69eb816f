// The requests of the S3 interface to one bucket: signed, retried, and their errors told apart.
//
// Retries: exponential back-off with jitter on 5xx, 429, time-outs and lost connections until
// settings.retry_timeout_ms has passed; a store that has never answered is given up sooner, because
// then the endpoint is wrong. A 200 that carries an <Error> counts as the error that it is.
// Thread-safe. All calls block.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/log.h"
#include "common/random.h"
#include "common/result.h"
#include "fs/http/http_client.h"
#include "fs/s3/credentials.h"
#include "fs/s3/s3_error.h"
#include "fs/s3/s3_options.h"
#include "fs/s3/s3_xml.h"

namespace sluice::fs::s3 {

struct ObjectInfo {
  int64_t size_bytes = 0;
  int64_t modified_ms = 0;
  std::string etag;  // Without quotes.
};

struct ObjectRange {
  std::string bytes;
  int64_t object_size_bytes = 0;
};

struct ListRequest {
  std::string prefix;
  bool by_directory = true;  // With '/' as delimiter.
  int max_keys = 1000;
  std::string token;
  std::string start_after = {};  // Only keys above it, in the order of bytes.
};

class S3Client {
 public:
  S3Client(BucketSettings settings, std::unique_ptr<CredentialsProvider> credentials,
           std::shared_ptr<HttpClient> http, const Clock* clock);

  /// kNotFound when there is no such object.
  Result<ObjectInfo> Head(const std::string& key);
  /// Bytes [begin, begin + length) as far as the object has them; length > 0.
  Result<ObjectRange> Get(const std::string& key, int64_t begin, int64_t length);
  enum class IfExists { kReplace, kFail };
  /// kAlreadyExists when told to fail and the store can tell; one that cannot replaces.
  Status Put(const std::string& key, std::string_view bytes, IfExists if_exists);
  /// A missing object is OK.
  Status Delete(const std::string& key);
  Status DeleteMany(const std::vector<std::string>& keys);
  /// At most 5 GiB; within the bucket.
  Status Copy(const std::string& from, const std::string& to);
  /// `kind` (may be null) tells what an error was.
  Result<ListPage> List(const ListRequest& request, ErrorKind* kind = nullptr);

  Result<std::string> CreateUpload(const std::string& key);
  /// Returns the part's tag. Ends its retries when `cancelled` (may be null) turns true.
  Result<std::string> UploadPart(const std::string& key, const std::string& upload_id, int number,
                                 std::string_view bytes, const std::atomic<bool>* cancelled);
  /// kNotFound when the upload is gone; kAlreadyExists when something has that name and the store
  /// can tell.
  Status CompleteUpload(const std::string& key, const std::string& upload_id,
                        const std::vector<UploadedPart>& parts);
  /// A missing upload is OK. Not tried for long, and not at all just after it failed: it happens on
  /// the way out, and what stays is found again when the job starts.
  Status AbortUpload(const std::string& key, const std::string& upload_id);
  /// kNotFound when the upload is gone.
  Result<std::vector<UploadedPart>> ListParts(const std::string& key, const std::string& upload_id);
  Result<std::vector<ListedUpload>> ListUploads(const std::string& prefix);

  const BucketSettings& settings() const { return settings_; }
  /// Requests that were sent again.
  int64_t retries() const { return retries_.load(); }

 private:
  struct Call {
    std::string_view name;  // "PutObject".
    std::string method;
    std::string key;  // Empty: the bucket itself.
    Pairs query;
    Pairs headers;
    std::string_view body;
    int64_t retry_ms = -1;  // Shorter than the setting; -1: that.
    const std::atomic<bool>* cancelled = nullptr;
  };
  /// Sends until there is an answer with status 2xx that is no error document.
  Result<HttpResponse> Send(const Call& call, ErrorKind* kind = nullptr);
  struct Attempt {
    Result<HttpResponse> response = Status::Internal("not sent");
    Credentials credentials;
  };
  Attempt SendOnce(const Call& call);
  /// True when the call should be sent again at once: with other keys, or to another region.
  Result<bool> Adapt(const StoreError& error, const Credentials& used);
  void AdoptRegion(const std::string& region);
  StoreError ErrorOf(const HttpResponse& response) const;
  std::string Operation(const Call& call) const;
  std::string Explain(const Call& call, const Status& failure) const;
  int64_t Pause(int attempt, const HttpResponse* response);
  static void Delay(int64_t millis, const std::atomic<bool>* cancelled);

  const BucketSettings settings_;
  const std::unique_ptr<CredentialsProvider> credentials_;
  const std::shared_ptr<HttpClient> http_;
  const Clock& clock_;
  std::mutex mutex_;  // Guards what follows up to `random_`.
  std::string region_;
  std::string endpoint_;
  Random random_;
  std::atomic<bool> answered_{false};  // The store has been reached once.
  std::atomic<bool> conditions_offered_{true};
  std::atomic<int64_t> retries_{0};
  std::atomic<int64_t> no_aborts_until_us_{0};
  LimitedLog log_{3, 30'000};
};

}  // namespace sluice::fs::s3
