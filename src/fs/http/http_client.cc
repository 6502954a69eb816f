#include "fs/http/http_client.h"

#include <curl/curl.h>

#include "common/check.h"
#include "common/clock.h"
#include "common/text.h"
#include "fs/http/patience.h"

namespace sluice::fs {
namespace {

/// What a transfer reads and writes.
struct Transfer {
  std::string_view unsent;
  size_t sent = 0;
  HttpResponse response;
  curl_off_t moved_bytes = 0;  // By the last report of progress.
  int64_t moved_us = 0;        // When that changed.
};

size_t OnBody(char* data, size_t size, size_t count, void* transfer) {
  static_cast<Transfer*>(transfer)->response.body.append(data, size * count);
  return size * count;
}

size_t OnHeader(char* data, size_t size, size_t count, void* transfer) {
  HttpResponse& response = static_cast<Transfer*>(transfer)->response;
  const std::string_view line(data, size * count);
  if (line.starts_with("HTTP/")) {
    response.headers.clear();  // A 100 Continue came before.
    response.body.clear();
  } else if (const size_t colon = line.find(':'); colon != std::string_view::npos) {
    response.headers[ToLowerAscii(TrimAscii(line.substr(0, colon)))] =
        std::string(TrimAscii(line.substr(colon + 1)));
  }
  return size * count;
}

size_t OnRead(char* buffer, size_t size, size_t count, void* transfer) {
  Transfer& state = *static_cast<Transfer*>(transfer);
  const size_t step = std::min(size * count, state.unsent.size() - state.sent);
  std::memcpy(buffer, state.unsent.data() + state.sent, step);
  state.sent += step;
  return step;
}

int OnSeek(void* transfer, curl_off_t offset, int origin) {
  if (origin != SEEK_SET) return CURL_SEEKFUNC_CANTSEEK;
  static_cast<Transfer*>(transfer)->sent = static_cast<size_t>(offset);
  return CURL_SEEKFUNC_OK;
}

/// Gives up a silent transfer early when the process is to end; one that moves goes on.
int OnProgress(void* transfer, curl_off_t, curl_off_t received, curl_off_t, curl_off_t sent) {
  constexpr int64_t kSilentUs = 3'000'000;
  Transfer& state = *static_cast<Transfer*>(transfer);
  const int64_t now_us = Clock::System().MonotonicMicros();
  if (received + sent != state.moved_bytes || state.moved_us == 0) {
    state.moved_bytes = received + sent;
    state.moved_us = now_us;
  }
  return PatienceIsOver() && now_us - state.moved_us > kSilentUs ? 1 : 0;
}

/// A request that is the same the next time may then succeed.
bool CanHeal(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_PARTIAL_FILE:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_HTTP2:
    case CURLE_HTTP2_STREAM:
    case CURLE_AGAIN:
    case CURLE_ABORTED_BY_CALLBACK:  // The process ends; the next one goes on.
      return true;
    default:
      return false;
  }
}

/// The address without its query, which may hold signatures.
std::string_view WithoutQuery(std::string_view url) { return url.substr(0, url.find('?')); }

struct HeaderList {
  curl_slist* list = nullptr;
  ~HeaderList() { curl_slist_free_all(list); }
  void Add(const std::string& line) { list = curl_slist_append(list, line.c_str()); }
};

void SetMethod(CURL* curl, const HttpRequest& request) {
  const auto size = static_cast<curl_off_t>(request.body.size());
  if (request.method == "PUT") {
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, size);
  } else if (request.method == "POST") {
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, size);
  } else if (request.method == "HEAD") {
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  } else if (request.method != "GET") {
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
}

}  // namespace

const std::string& HttpResponse::Header(const std::string& lower_case_name) const {
  static const std::string kNone;
  const auto found = headers.find(lower_case_name);
  return found == headers.end() ? kNone : found->second;
}

HttpClient::~HttpClient() {
  for (void* handle : idle_) curl_easy_cleanup(static_cast<CURL*>(handle));
}

void* HttpClient::Take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      void* handle = idle_.back();
      idle_.pop_back();
      return handle;
    }
  }
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_ALL);
  SLUICE_CHECK(ready == CURLE_OK, "libcurl cannot be initialised");
  CURL* curl = curl_easy_init();
  SLUICE_CHECK(curl != nullptr, "libcurl gives no handle");
  return curl;
}

void HttpClient::GiveBack(void* handle) {
  // Keeps the connection, forgets the request.
  curl_easy_reset(static_cast<CURL*>(handle));
  std::unique_lock lock(mutex_);
  if (idle_.size() < settings_.kept_connections) {
    idle_.push_back(handle);
    return;
  }
  lock.unlock();
  curl_easy_cleanup(static_cast<CURL*>(handle));
}

Result<HttpResponse> HttpClient::Send(const HttpRequest& request) {
  CURL* curl = static_cast<CURL*>(Take());
  Transfer transfer;
  transfer.unsent = request.body;
  HeaderList headers;
  for (const auto& [name, value] : request.headers) headers.Add(name + ": " + value);
  headers.Add("Expect:");        // Waiting for 100 Continue costs a second with many stores.
  headers.Add("Content-Type:");  // Nothing that was not signed.
  char message[CURL_ERROR_SIZE] = "";
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);  // "a/../b" is a key like any other.
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.list);
  curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, message);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(settings_.connect_timeout_ms));
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME,
                   static_cast<long>(std::max<int64_t>(settings_.stall_timeout_ms / 1000, 1)));
  curl_easy_setopt(curl, CURLOPT_UPLOAD_BUFFERSIZE, 512L << 10);
  curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 256L << 10);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, &OnProgress);
  curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &OnBody);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &OnHeader);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_READFUNCTION, &OnRead);
  curl_easy_setopt(curl, CURLOPT_READDATA, &transfer);
  curl_easy_setopt(curl, CURLOPT_SEEKFUNCTION, &OnSeek);
  curl_easy_setopt(curl, CURLOPT_SEEKDATA, &transfer);
  if (!settings_.ca_file.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, settings_.ca_file.c_str());
  }
  SetMethod(curl, request);
  const CURLcode code = curl_easy_perform(curl);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  transfer.response.status = static_cast<int>(status);
  GiveBack(curl);
  if (code == CURLE_OK) return std::move(transfer.response);
  const std::string reason = message[0] != '\0' ? message : curl_easy_strerror(code);
  Status failure(CanHeal(code) ? StatusCode::kUnavailable : StatusCode::kIoError,
                 request.method + " " + std::string(WithoutQuery(request.url)) + ": " + reason);
  return std::move(failure).Retriable(CanHeal(code));
}

std::string UriEncode(std::string_view text, bool keep_slash) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= '0' && byte <= '9') || c == '-' || c == '.' || c == '_' ||
                       c == '~' || (keep_slash && c == '/');
    if (plain) {
      encoded += c;
    } else {
      encoded += '%';
      encoded += kHex[byte >> 4];
      encoded += kHex[byte & 15];
    }
  }
  return encoded;
}

int64_t ParseHttpDate(const std::string& text) {
  const time_t seconds = curl_getdate(text.c_str(), nullptr);
  return seconds < 0 ? 0 : static_cast<int64_t>(seconds) * 1000;
}

}  // namespace sluice::fs
