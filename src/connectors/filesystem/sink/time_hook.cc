#include "connectors/filesystem/sink/time_hook.h"

#include <chrono>

#include <nlohmann/json.hpp>

#include "common/log.h"
#include "common/text.h"
#include "connectors/filesystem/sink/child_process.h"
#include "connectors/filesystem/sink/hook_library.h"
#include "connectors/filesystem/sink/http_post.h"
#include "connectors/filesystem/sink/partition_time.h"

namespace sluice::connectors::filesystem {
namespace {

constexpr size_t kAnswersKept = 4'096;
constexpr int64_t kRetryAfterMs = 60'000;

int64_t SteadyMillis() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

class LibraryHook final : public TimeHook {
 public:
  LibraryHook(std::vector<std::string> keys, std::unique_ptr<LibraryTime> time)
      : TimeHook(std::move(keys)), time_(std::move(time)) {}

 private:
  Result<std::optional<int64_t>> Ask(const PartitionValues& values) override {
    return time_->LocalMillis(keys(), values);
  }
  const std::unique_ptr<LibraryTime> time_;
};

/// {"keys": ["dt"], "values": ["2020-05-20"]}; NULL is null.
std::string ToJson(const std::vector<std::string>& keys, const PartitionValues& values) {
  nlohmann::ordered_json document = {{"keys", keys}, {"values", nlohmann::ordered_json::array()}};
  for (const auto& value : values) {
    document["values"].push_back(value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json());
  }
  return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

/// "2020-05-20 08:00:00" or nothing.
Result<std::optional<int64_t>> ReadTime(std::string_view answer, const std::string& source) {
  const std::string_view text = TrimAscii(answer);
  if (text.empty()) return std::optional<int64_t>();
  const std::optional<int64_t> millis = ParseLenientWidthDateTime(text);
  if (millis) return millis;
  return Status::InvalidArgument(source + " answered '" + Printable(text) +
                                 "', which is no time of the form yyyy-MM-dd HH:mm:ss.");
}

class CommandHook final : public TimeHook {
 public:
  CommandHook(std::vector<std::string> keys, HookOptions options)
      : TimeHook(std::move(keys)), options_(std::move(options)) {}

 private:
  Result<std::optional<int64_t>> Ask(const PartitionValues& values) override {
    SLUICE_ASSIGN_OR_RETURN(const CommandResult result,
                            RunCommand({.command = options_.command,
                                        .input = ToJson(keys(), values) + "\n",
                                        .environment = {},
                                        .timeout_ms = options_.timeout_ms}));
    if (result.exit_code == 0) return ReadTime(result.output, "'" + options_.command + "'");
    return Status::InvalidArgument("'" + options_.command + "' " + HowItEnded(result) + ".");
  }
  const HookOptions options_;
};

class HttpHook final : public TimeHook {
 public:
  HttpHook(std::vector<std::string> keys, HookOptions options)
      : TimeHook(std::move(keys)), options_(std::move(options)) {}

 private:
  Result<std::optional<int64_t>> Ask(const PartitionValues& values) override {
    SLUICE_ASSIGN_OR_RETURN(const std::string answer,
                            PostJson({.url = options_.url,
                                      .body = ToJson(keys(), values),
                                      .headers = options_.headers,
                                      .timeout_ms = options_.timeout_ms,
                                      .option = "partition.time-extractor.http.url"}));
    return ReadTime(answer, options_.url);
  }
  const HookOptions options_;
};

}  // namespace

Result<std::shared_ptr<TimeHook>> TimeHook::Make(const PartitionCommitOptions& options,
                                                 std::vector<std::string> keys) {
  const HookOptions& hook = options.extractor_hook;
  switch (options.extractor) {
    case ExtractorKind::kDefault:
      return std::shared_ptr<TimeHook>();
    case ExtractorKind::kCommand:
      return std::make_shared<CommandHook>(std::move(keys), hook);
    case ExtractorKind::kHttp:
      return std::make_shared<HttpHook>(std::move(keys), hook);
    case ExtractorKind::kCustom:
      break;
  }
  SLUICE_ASSIGN_OR_RETURN(auto library,
                          HookLibrary::Load("partition.time-extractor.class", hook.library));
  SLUICE_ASSIGN_OR_RETURN(auto time, LibraryTime::Open(std::move(library), hook.parameters));
  return std::make_shared<LibraryHook>(std::move(keys), std::move(time));
}

std::optional<int64_t> TimeHook::LocalMillis(const PartitionValues& values) {
  {
    const std::lock_guard lock(mutex_);
    const auto known = answers_.find(values);
    if (known != answers_.end() &&
        (known->second.retry_at_ms == 0 || SteadyMillis() < known->second.retry_at_ms)) {
      return known->second.local_millis;
    }
  }
  const auto asked = Ask(values);
  Answer answer;
  if (asked.ok()) {
    answer.local_millis = *asked;
  } else {
    answer.retry_at_ms = SteadyMillis() + kRetryAfterMs;
    Log(LogLevel::kWarning, "A partition has no time for now: " + asked.status().ToString());
  }
  const std::lock_guard lock(mutex_);
  if (answers_.size() >= kAnswersKept) answers_.clear();
  answers_[values] = answer;
  return answer.local_millis;
}

}  // namespace sluice::connectors::filesystem
