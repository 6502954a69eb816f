#include "connectors/filesystem/sink/http_post.h"

#include <memory>

#include <curl/curl.h>

#include "common/text.h"

namespace sluice::connectors::filesystem {
namespace {

constexpr size_t kAnswerLimit = 64 << 10;
constexpr size_t kShownAnswer = 300;

size_t TakeAnswer(char* data, size_t, size_t count, void* target) {
  std::string& answer = *static_cast<std::string*>(target);
  if (answer.size() < kAnswerLimit)
    answer.append(data, std::min(count, kAnswerLimit - answer.size()));
  return count;
}

}  // namespace

Result<std::string> PostJson(const HttpPost& request) {
  static const CURLcode kInitialised = curl_global_init(CURL_GLOBAL_DEFAULT);
  const std::unique_ptr<CURL, void (*)(CURL*)> handle(curl_easy_init(), &curl_easy_cleanup);
  if (kInitialised != CURLE_OK || handle == nullptr) return Status::Internal("libcurl is unusable");
  curl_slist* list = curl_slist_append(nullptr, "Content-Type: application/json");
  for (const std::string& header : request.headers) list = curl_slist_append(list, header.c_str());
  const std::unique_ptr<curl_slist, void (*)(curl_slist*)> headers(list, &curl_slist_free_all);
  std::string answer;
  CURL* curl = handle.get();
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.c_str());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(request.timeout_ms));
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);  // This program has threads.
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "sluice");
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &TakeAnswer);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
  const std::string what =
      "POST " + request.url + (request.option.empty() ? "" : " of '" + request.option + "'");
  const CURLcode code = curl_easy_perform(curl);
  if (code != CURLE_OK) {
    std::string message = what + " got no answer: " + curl_easy_strerror(code) + ".";
    if (code == CURLE_OPERATION_TIMEDOUT)
      message += " 'sink.partition-commit.policy.timeout' allows more time.";
    return Status::Unavailable(std::move(message));
  }
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  if (status >= 200 && status < 300) return answer;
  const std::string message = what + " answered " + std::to_string(status) +
                              (answer.empty() ? "" : ": " + Printable(answer, kShownAnswer)) + ".";
  const bool may_heal = status == 408 || status == 429 || status >= 500;
  return may_heal ? Status::Unavailable(message) : Status::InvalidArgument(message);
}

}  // namespace sluice::connectors::filesystem
