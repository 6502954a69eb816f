// Partition times from code of the user: a shared library, a command, an HTTP call.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "connectors/connector.h"
#include "connectors/filesystem/sink/sink_options.h"

namespace sluice::connectors::filesystem {

/// Asks once for each partition and remembers the answer (of the last 4,096 partitions): writers
/// and committer ask at every checkpoint. Thread-safe; a command or a call blocks the task that
/// sees a partition for the first time.
class TimeHook {
 public:
  /// Loads a library; fails with kInvalidArgument naming the option.
  static Result<std::shared_ptr<TimeHook>> Make(const PartitionCommitOptions& options,
                                                std::vector<std::string> keys);
  virtual ~TimeHook() = default;

  /// As PartitionTimeExtractor::LocalMillis. A failure is logged and asked again after a minute;
  /// until then the partition has no time.
  std::optional<int64_t> LocalMillis(const PartitionValues& values);

 protected:
  explicit TimeHook(std::vector<std::string> keys) : keys_(std::move(keys)) {}
  virtual Result<std::optional<int64_t>> Ask(const PartitionValues& values) = 0;
  const std::vector<std::string>& keys() const { return keys_; }

 private:
  struct Answer {
    std::optional<int64_t> local_millis;
    int64_t retry_at_ms = 0;  // Steady clock; 0: it stands.
  };
  const std::vector<std::string> keys_;
  std::mutex mutex_;
  std::map<PartitionValues, Answer> answers_;
};

}  // namespace sluice::connectors::filesystem
