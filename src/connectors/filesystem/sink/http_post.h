// One HTTP POST of a JSON body.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/result.h"

namespace sluice::connectors::filesystem {

struct HttpPost {
  std::string url;  // http:// or https://
  std::string body;
  std::vector<std::string> headers;  // "Name: value", in addition to Content-Type.
  int64_t timeout_ms = 60'000;
  std::string option = {};  // That names the URL, for messages.
};

/// Blocking. Returns the body of a 2xx answer, at most 64 KiB of it. kUnavailable (a retry can
/// help) for 408, 429, 5xx and when there is no answer; other answers are kInvalidArgument with the
/// beginning of their body.
Result<std::string> PostJson(const HttpPost& request);

}  // namespace sluice::connectors::filesystem
