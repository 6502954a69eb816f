#include "connectors/filesystem/sink/commit_trigger.h"

#include "connectors/filesystem/sink/time_hook.h"
#include "runtime/element.h"
#include "types/value_text.h"

namespace sluice::connectors::filesystem {
namespace {

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

std::string TimeText(int64_t millis, const TimeZone& zone) {
  int64_t seconds = 0;
  int32_t nanos = 0;
  SplitTimestamp(zone.InstantToLocalMillis(millis), 1000, &seconds, &nanos);
  std::string text;
  AppendTimestampText(seconds, nanos, 3, &text);
  return text;
}

}  // namespace

Result<CommitTrigger> CommitTrigger::Make(const PartitionCommitOptions& options,
                                          const std::vector<std::string>& partition_keys) {
  SLUICE_ASSIGN_OR_RETURN(auto hook, TimeHook::Make(options, partition_keys));
  if (hook != nullptr) {
    return CommitTrigger(options, PartitionTimeExtractor::Make(std::move(hook)));
  }
  SLUICE_ASSIGN_OR_RETURN(auto extractor,
                          PartitionTimeExtractor::Make(partition_keys, options.timestamp_pattern,
                                                       options.timestamp_formatter));
  return CommitTrigger(options, std::move(extractor));
}

CommitTrigger::Answer CommitTrigger::Ask(const PartitionValues& values, int64_t first_row_ms,
                                         int64_t watermark_ms, int64_t now_ms) const {
  if (kind_ == TriggerKind::kProcessTime) {
    const bool due = delay_ms_ == 0 || now_ms > SaturatingAdd(first_row_ms, delay_ms_);
    return due ? Answer::kDue : Answer::kNotYet;
  }
  const std::optional<int64_t> local_ms = extractor_.LocalMillis(values);
  if (!local_ms) return Answer::kNever;
  // Strictly greater: a row with the partition's last millisecond may still come at that watermark.
  const bool due = watermark_ms > SaturatingAdd(zone_.LocalToInstantMillis(*local_ms), delay_ms_);
  return due ? Answer::kDue : Answer::kNotYet;
}

std::optional<int64_t> CommitTrigger::DueAfterWatermark(const PartitionValues& values) const {
  if (kind_ == TriggerKind::kProcessTime) return std::nullopt;
  const std::optional<int64_t> local_ms = extractor_.LocalMillis(values);
  if (!local_ms) return std::nullopt;
  return SaturatingAdd(zone_.LocalToInstantMillis(*local_ms), delay_ms_);
}

std::string CommitTrigger::Explain(const PartitionValues& values, int64_t first_row_ms,
                                   int64_t watermark_ms) const {
  if (kind_ == TriggerKind::kProcessTime) {
    return "is committed after " + TimeText(SaturatingAdd(first_row_ms, delay_ms_), zone_) + " (" +
           zone_.name() + ")";
  }
  const std::optional<int64_t> local_ms = extractor_.LocalMillis(values);
  if (!local_ms) return "has no time in its name: it is committed when the input ends";
  const int64_t due_ms = SaturatingAdd(zone_.LocalToInstantMillis(*local_ms), delay_ms_);
  std::string text = "needs a watermark after " + TimeText(due_ms, zone_) + ", it is at ";
  text += watermark_ms == runtime::kMinWatermarkMs ? "none" : TimeText(watermark_ms, zone_);
  return text + " (" + zone_.name() + ")";
}

}  // namespace sluice::connectors::filesystem
