#include "fs/s3/s3_client.h"

#include "common/base64.h"
#include "common/text.h"
#include "fs/http/patience.h"

namespace sluice::fs::s3 {
namespace {

constexpr int64_t kFirstPauseMs = 100;
constexpr int64_t kLongestPauseMs = 10'000;
// For a store that never answered: time enough for one that is just starting.
constexpr int64_t kFirstContactMs = 10'000;
constexpr size_t kKeysPerDelete = 1'000;
constexpr int64_t kAbortRetryMs = 3'000;
constexpr int64_t kAbortPauseUs = 30'000'000;

std::string Unquoted(std::string_view etag) {
  if (etag.size() >= 2 && etag.starts_with('"') && etag.ends_with('"')) {
    etag = etag.substr(1, etag.size() - 2);
  }
  return std::string(etag);
}

/// An object may be a document of that very form; the other answers are the store's own words.
bool MayCarryError(std::string_view call, const HttpResponse& response) {
  return call != "GetObject" && !response.body.empty();
}

}  // namespace

S3Client::S3Client(BucketSettings settings, std::unique_ptr<CredentialsProvider> credentials,
                   std::shared_ptr<HttpClient> http, const Clock* clock)
    : settings_(std::move(settings)),
      credentials_(std::move(credentials)),
      http_(std::move(http)),
      clock_(*clock),
      region_(settings_.region),
      endpoint_(settings_.endpoint),
      random_(Random::SystemSeed()) {}

std::string S3Client::Operation(const Call& call) const {
  std::string text = std::string(call.name) + " " + settings_.scheme + "://" + settings_.bucket;
  std::string_view rest = call.key;
  for (const auto& [name, value] : call.query) {
    if (name == "prefix") rest = value;
  }
  if (!rest.empty()) text += "/" + Printable(rest, 400);
  return text;
}

S3Client::Attempt S3Client::SendOnce(const Call& call) {
  Attempt attempt;
  auto credentials = credentials_->Get();
  if (!credentials.ok()) {
    attempt.response = credentials.status().WithContext(Operation(call));
    return attempt;
  }
  attempt.credentials = *credentials;
  std::string endpoint;
  SigningScope scope;
  {
    const std::lock_guard lock(mutex_);
    endpoint = endpoint_;
    scope.region = region_;
  }
  scope.now_ms = clock_.NowMillis();
  const size_t host_at = endpoint.find("://") + 3;
  std::string host = endpoint.substr(host_at);
  SigningRequest signing{.method = call.method,
                         .path = "/",
                         .query = call.query,
                         .headers = call.headers,
                         .payload = {}};
  if (settings_.path_style) {
    signing.path += UriEncode(settings_.bucket, false);
    if (!call.key.empty()) signing.path += "/";
  } else {
    host = settings_.bucket + "." + host;
  }
  signing.path += UriEncode(call.key, true);
  // Over TLS the body is protected already, and hashing it would be done twice.
  const bool hashed = call.body.empty() || endpoint.starts_with("http:");
  signing.payload = hashed ? Sha256Hex(call.body) : std::string(kUnsignedPayload);
  signing.headers.emplace_back("host", host);
  signing.headers.emplace_back("x-amz-content-sha256", signing.payload);
  signing.headers.emplace_back("x-amz-date", AmzDate(scope.now_ms));
  if (!attempt.credentials.session_token.empty()) {
    signing.headers.emplace_back("x-amz-security-token", attempt.credentials.session_token);
  }
  HttpRequest request{.method = call.method,
                      .url = endpoint.substr(0, host_at) + host + signing.path,
                      .headers = signing.headers,
                      .body = call.body};
  const std::string query = CanonicalQuery(call.query);
  if (!query.empty()) request.url += "?" + query;
  if (!attempt.credentials.anonymous()) {
    request.headers.emplace_back("Authorization",
                                 Authorization(signing, scope, attempt.credentials));
  }
  attempt.response = http_->Send(request);
  return attempt;
}

StoreError S3Client::ErrorOf(const HttpResponse& response) const {
  StoreError error{.http_status = response.status};
  ParseErrorDocument(response.body, &error);
  if (error.request_id.empty()) error.request_id = response.Header("x-amz-request-id");
  if (error.request_id.empty()) error.request_id = response.Header("x-oss-request-id");
  if (error.region.empty()) error.region = response.Header("x-amz-bucket-region");
  if (error.server_time.empty()) error.server_time = response.Header("date");
  return error;
}

int64_t S3Client::Pause(int attempt, const HttpResponse* response) {
  const int64_t longest = std::min(kLongestPauseMs, kFirstPauseMs << std::min(attempt, 20));
  int64_t pause_ms = 0;
  {
    const std::lock_guard lock(mutex_);
    pause_ms = random_.Between(longest / 2, longest);
  }
  if (response != nullptr) {
    const auto seconds = ParseInt64(response->Header("retry-after"));
    if (seconds && *seconds > 0)
      pause_ms = std::max(pause_ms, std::min<int64_t>(*seconds, 30) * 1000);
  }
  return pause_ms;
}

void S3Client::Delay(int64_t millis, const std::atomic<bool>* cancelled) {
  constexpr int64_t kSliceMs = 200;
  for (int64_t left = millis; left > 0 && !PatienceIsOver(); left -= kSliceMs) {
    if (cancelled != nullptr && *cancelled) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(left, kSliceMs)));
  }
}

void S3Client::AdoptRegion(const std::string& region) {
  const std::lock_guard lock(mutex_);
  region_ = region;
  if (!settings_.endpoint_written) endpoint_ = "https://s3." + region + ".amazonaws.com";
}

Result<bool> S3Client::Adapt(const StoreError& error, const Credentials& used) {
  const ErrorKind kind = Classify(error);
  if (kind == ErrorKind::kExpired) return credentials_->Renew(used);
  if (kind != ErrorKind::kWrongRegion || error.region.empty()) return false;
  {
    const std::lock_guard lock(mutex_);
    if (region_ == error.region) return false;
  }
  AdoptRegion(error.region);
  return true;
}

std::string S3Client::Explain(const Call& call, const Status& failure) const {
  return Operation(call) + ": the store at " + settings_.endpoint + " cannot be reached. " +
         failure.message() + ". Check " + settings_.endpoint_option() +
         (settings_.path_style || settings_.dialect == Dialect::kOss
              ? ""
              : ", and whether it wants 's3.path.style.access' = 'true'") +
         ".";
}

Result<HttpResponse> S3Client::Send(const Call& call, ErrorKind* kind) {
  const int64_t start_us = clock_.MonotonicMicros();
  int adapted = 0;
  for (int attempt = 0;; ++attempt) {
    Attempt sent = SendOnce(call);
    Status failure;
    bool retry = false;
    const HttpResponse* response = sent.response.ok() ? &*sent.response : nullptr;
    if (response == nullptr) {
      failure = sent.response.status();
      retry = failure.retriable();
      if (failure.context().empty()) {
        failure = Status(failure.code(), Explain(call, failure)).Retriable(retry);
      }
    } else {
      answered_ = true;
      const bool good = response->status >= 200 && response->status < 300;
      const bool carries_error =
          MayCarryError(call.name, *response) && IsErrorDocument(response->body);
      if (good && !carries_error) return std::move(sent.response);
      const StoreError error = ErrorOf(*response);
      if (adapted < 2) {
        SLUICE_ASSIGN_OR_RETURN(const bool again, Adapt(error, sent.credentials));
        if (again) {
          ++adapted;
          continue;
        }
      }
      failure = ToStatus(error, Operation(call), settings_, sent.credentials);
      retry = failure.retriable();
      if (kind != nullptr) *kind = Classify(error);
    }
    const bool cancelled = call.cancelled != nullptr && *call.cancelled;
    if (!retry || cancelled || PatienceIsOver()) return failure;
    int64_t limit_ms = call.retry_ms >= 0 ? call.retry_ms : settings_.retry_timeout_ms;
    if (!answered_) limit_ms = std::min(limit_ms, kFirstContactMs);
    const int64_t pause_ms = Pause(attempt, response);
    const int64_t spent_ms = (clock_.MonotonicMicros() - start_us) / 1000;
    if (spent_ms + pause_ms > limit_ms) return failure;
    if (attempt == 2) log_.Warn("Trying again: " + failure.message());
    ++retries_;
    Delay(pause_ms, call.cancelled);
  }
}

Result<ObjectInfo> S3Client::Head(const std::string& key) {
  SLUICE_ASSIGN_OR_RETURN(const HttpResponse response, Send({.name = "HeadObject",
                                                             .method = "HEAD",
                                                             .key = key,
                                                             .query = {},
                                                             .headers = {},
                                                             .body = {}}));
  return ObjectInfo{.size_bytes = ParseInt64(response.Header("content-length")).value_or(0),
                    .modified_ms = ParseHttpDate(response.Header("last-modified")),
                    .etag = Unquoted(response.Header("etag"))};
}

Result<ObjectRange> S3Client::Get(const std::string& key, int64_t begin, int64_t length) {
  const std::string range =
      "bytes=" + std::to_string(begin) + "-" + std::to_string(begin + length - 1);
  SLUICE_ASSIGN_OR_RETURN(HttpResponse response, Send({.name = "GetObject",
                                                       .method = "GET",
                                                       .key = key,
                                                       .query = {},
                                                       .headers = {{"range", range}},
                                                       .body = {}}));
  ObjectRange found;
  const std::string& content_range = response.Header("content-range");
  const size_t slash = content_range.rfind('/');
  if (response.status == 206 && slash != std::string::npos) {
    found.object_size_bytes = ParseInt64(content_range.substr(slash + 1)).value_or(0);
    found.bytes = std::move(response.body);
  } else {
    // A store that does not know ranges sends the whole object.
    found.object_size_bytes = static_cast<int64_t>(response.body.size());
    const auto from = static_cast<size_t>(std::min(begin, found.object_size_bytes));
    found.bytes = response.body.substr(from, static_cast<size_t>(length));
  }
  const int64_t expected = std::clamp<int64_t>(found.object_size_bytes - begin, 0, length);
  if (static_cast<int64_t>(found.bytes.size()) != expected) {
    return Status::Unavailable("GetObject " + settings_.scheme + "://" + settings_.bucket + "/" +
                               key + " gave " + std::to_string(found.bytes.size()) + " bytes for " +
                               range + " of " + std::to_string(found.object_size_bytes) + ".");
  }
  return found;
}

Status S3Client::Put(const std::string& key, std::string_view bytes, IfExists if_exists) {
  const bool conditional = if_exists == IfExists::kFail && conditions_offered_;
  Call call{
      .name = "PutObject", .method = "PUT", .key = key, .query = {}, .headers = {}, .body = bytes};
  if (conditional && settings_.dialect == Dialect::kOss) {
    call.headers = {{"x-oss-forbid-overwrite", "true"}};
  } else if (conditional) {
    call.headers = {{"if-none-match", "*"}};
  }
  const Status status = Send(call).status();
  if (!conditional || status.code() != StatusCode::kUnsupported) return status;
  conditions_offered_ = false;
  call.headers.clear();
  return Send(call).status();
}

Status S3Client::Delete(const std::string& key) {
  const Status status = Send({.name = "DeleteObject",
                              .method = "DELETE",
                              .key = key,
                              .query = {},
                              .headers = {},
                              .body = {}})
                            .status();
  return status.code() == StatusCode::kNotFound ? Status() : status;
}

Status S3Client::DeleteMany(const std::vector<std::string>& keys) {
  for (size_t begin = 0; begin < keys.size(); begin += kKeysPerDelete) {
    const size_t end = std::min(begin + kKeysPerDelete, keys.size());
    const std::vector<std::string> some(keys.begin() + static_cast<std::ptrdiff_t>(begin),
                                        keys.begin() + static_cast<std::ptrdiff_t>(end));
    const std::string body = DeleteObjectsBody(some);
    // Amazon demands this sum here, and only here.
    SLUICE_ASSIGN_OR_RETURN(const HttpResponse response,
                            Send({.name = "DeleteObjects",
                                  .method = "POST",
                                  .key = "",
                                  .query = {{"delete", ""}},
                                  .headers = {{"content-md5", EncodeBase64(Md5(body))}},
                                  .body = body}));
    if (response.body.empty()) continue;
    SLUICE_ASSIGN_OR_RETURN(const auto failed, ParseDeleteResult(response.body));
    // One by one: that retries, and says what is wrong.
    for (const FailedDelete& failure : failed) SLUICE_RETURN_NOT_OK(Delete(failure.key));
  }
  return {};
}

Status S3Client::Copy(const std::string& from, const std::string& to) {
  const std::string source = "/" + UriEncode(settings_.bucket, false) + "/" + UriEncode(from, true);
  return Send({.name = "CopyObject",
               .method = "PUT",
               .key = to,
               .query = {},
               .headers = {{"x-amz-copy-source", source}},
               .body = {}})
      .status();
}

Result<ListPage> S3Client::List(const ListRequest& request, ErrorKind* kind) {
  Call call{
      .name = "ListObjectsV2", .method = "GET", .key = "", .query = {}, .headers = {}, .body = {}};
  call.query = {{"list-type", "2"},
                {"encoding-type", "url"},
                {"prefix", request.prefix},
                {"max-keys", std::to_string(request.max_keys)}};
  if (request.by_directory) call.query.emplace_back("delimiter", "/");
  if (!request.token.empty()) {
    call.query.emplace_back("continuation-token", request.token);
  } else if (!request.start_after.empty()) {
    call.query.emplace_back("start-after", request.start_after);
  }
  for (int attempt = 0;; ++attempt) {
    SLUICE_ASSIGN_OR_RETURN(const HttpResponse response, Send(call, kind));
    auto page = ParseListPage(response.body);
    if (page.ok()) return page;
    if (attempt == 3) return page.status().WithContext(Operation(call));
  }
}

Result<std::string> S3Client::CreateUpload(const std::string& key) {
  SLUICE_ASSIGN_OR_RETURN(const HttpResponse response, Send({.name = "CreateMultipartUpload",
                                                             .method = "POST",
                                                             .key = key,
                                                             .query = {{"uploads", ""}},
                                                             .headers = {},
                                                             .body = {}}));
  SLUICE_ASSIGN_OR_RETURN(std::string id, ParseElement(response.body, "UploadId"));
  if (id.empty()) {
    return Status::Unavailable("CreateMultipartUpload " + settings_.scheme + "://" +
                               settings_.bucket + "/" + key +
                               " gave no upload id: " + Printable(response.body, 200));
  }
  return id;
}

Result<std::string> S3Client::UploadPart(const std::string& key, const std::string& upload_id,
                                         int number, std::string_view bytes,
                                         const std::atomic<bool>* cancelled) {
  Call call{.name = "UploadPart",
            .method = "PUT",
            .key = key,
            .query = {{"partNumber", std::to_string(number)}, {"uploadId", upload_id}},
            .headers = {},
            .body = bytes};
  call.cancelled = cancelled;
  SLUICE_ASSIGN_OR_RETURN(const HttpResponse response, Send(call));
  std::string etag = Unquoted(response.Header("etag"));
  if (etag.empty()) {
    return Status::Unavailable("UploadPart " + std::to_string(number) + " of " + settings_.scheme +
                               "://" + settings_.bucket + "/" + key + " gave no ETag.");
  }
  return etag;
}

Status S3Client::CompleteUpload(const std::string& key, const std::string& upload_id,
                                const std::vector<UploadedPart>& parts) {
  const std::string body = CompleteUploadBody(parts);
  const bool conditional = settings_.dialect == Dialect::kS3 && conditions_offered_;
  Call call{.name = "CompleteMultipartUpload",
            .method = "POST",
            .key = key,
            .query = {{"uploadId", upload_id}},
            .headers = {},
            .body = body};
  if (conditional) call.headers = {{"if-none-match", "*"}};
  const Status status = Send(call).status();
  if (!conditional || status.code() != StatusCode::kUnsupported) return status;
  conditions_offered_ = false;
  call.headers.clear();
  return Send(call).status();
}

Status S3Client::AbortUpload(const std::string& key, const std::string& upload_id) {
  if (clock_.MonotonicMicros() < no_aborts_until_us_) {
    return Status::Unavailable("The upload " + upload_id + " of " + key +
                               " is left for later: the store does not answer.");
  }
  Call call{.name = "AbortMultipartUpload",
            .method = "DELETE",
            .key = key,
            .query = {{"uploadId", upload_id}},
            .headers = {},
            .body = {}};
  call.retry_ms = kAbortRetryMs;
  const Status status = Send(call).status();
  if (status.code() == StatusCode::kUnavailable) {
    no_aborts_until_us_ = clock_.MonotonicMicros() + kAbortPauseUs;
  }
  return status.code() == StatusCode::kNotFound ? Status() : status;
}

Result<std::vector<UploadedPart>> S3Client::ListParts(const std::string& key,
                                                      const std::string& upload_id) {
  std::vector<UploadedPart> parts;
  std::string marker;
  do {
    Call call{.name = "ListParts",
              .method = "GET",
              .key = key,
              .query = {{"uploadId", upload_id}},
              .headers = {},
              .body = {}};
    if (!marker.empty()) call.query.emplace_back("part-number-marker", marker);
    SLUICE_ASSIGN_OR_RETURN(const HttpResponse response, Send(call));
    auto parsed = ParsePartPage(response.body);
    if (!parsed.ok()) return parsed.status().WithContext(Operation(call));
    PartPage page = std::move(*parsed);
    parts.insert(parts.end(), page.parts.begin(), page.parts.end());
    marker = std::move(page.next_number);
  } while (!marker.empty());
  return parts;
}

Result<std::vector<ListedUpload>> S3Client::ListUploads(const std::string& prefix) {
  std::vector<ListedUpload> uploads;
  std::string next_key;
  std::string next_upload_id;
  do {
    Call call{.name = "ListMultipartUploads",
              .method = "GET",
              .key = "",
              .query = {{"uploads", ""}, {"encoding-type", "url"}, {"prefix", prefix}},
              .headers = {},
              .body = {}};
    if (!next_key.empty()) {
      call.query.emplace_back("key-marker", next_key);
      call.query.emplace_back("upload-id-marker", next_upload_id);
    }
    SLUICE_ASSIGN_OR_RETURN(const HttpResponse response, Send(call));
    auto parsed = ParseUploadPage(response.body);
    if (!parsed.ok()) return parsed.status().WithContext(Operation(call));
    UploadPage page = std::move(*parsed);
    uploads.insert(uploads.end(), page.uploads.begin(), page.uploads.end());
    next_key = std::move(page.next_key);
    next_upload_id = std::move(page.next_upload_id);
  } while (!next_key.empty());
  return uploads;
}

}  // namespace sluice::fs::s3
