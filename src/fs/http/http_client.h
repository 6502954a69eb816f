// HTTP requests over libcurl, with connections kept for the next request.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"

namespace sluice::fs {

struct HttpRequest {
  std::string method = "GET";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string_view body;  // Sent with GET, HEAD and DELETE only when not empty.
};

struct HttpResponse {
  int status = 0;
  std::map<std::string, std::string> headers;  // Names in lower case; the last of a name counts.
  std::string body;

  /// "" when there is none.
  const std::string& Header(const std::string& lower_case_name) const;
};

struct HttpSettings {
  int64_t connect_timeout_ms = 10'000;
  /// A transfer that moves no byte for so long is given up.
  int64_t stall_timeout_ms = 60'000;
  /// Idle connections that are kept.
  size_t kept_connections = 64;
  std::string ca_file = {};  // Certificates that are trusted; empty: those of the system.
};

/// One request at a time for each connection; any number of threads may send.
class HttpClient {
 public:
  explicit HttpClient(HttpSettings settings) : settings_(std::move(settings)) {}
  ~HttpClient();
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;

  /// Any answer of the server is a response, whatever its status. Fails with kUnavailable (no
  /// connection, connection lost, cut answer, stalled: worth another try) or with a kIoError that
  /// is not (a URL or certificate that cannot work). Blocking.
  Result<HttpResponse> Send(const HttpRequest& request);

 private:
  void* Take();
  void GiveBack(void* handle);

  const HttpSettings settings_;
  std::mutex mutex_;
  std::vector<void*> idle_;  // Easy handles, each with its open connection; newest last.
};

/// Percent-encoding of RFC 3986: all but A-Z a-z 0-9 - . _ ~ and, when asked, '/'.
std::string UriEncode(std::string_view text, bool keep_slash);

/// A date of a header, in ms since the epoch; 0 when it is none.
int64_t ParseHttpDate(const std::string& text);

}  // namespace sluice::fs
