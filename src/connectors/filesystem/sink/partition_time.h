// The time that a partition stands for, read from its values (filesystem.md §13.4, made strict).
//
// The text is the pattern with each `$key` replaced by that key's value: whole names, the longest
// first, so that `$dtype` is never taken for `$dt`; without a pattern it is the first value.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/connector.h"
#include "connectors/filesystem/sink/date_time_pattern.h"

namespace sluice::connectors::filesystem {

class TimeHook;

class PartitionTimeExtractor {
 public:
  /// Fails with kInvalidArgument when the pattern names something that is no partition key, or when
  /// pattern or formatter can never give a time.
  static Result<PartitionTimeExtractor> Make(const std::vector<std::string>& partition_keys,
                                             const std::optional<std::string>& pattern,
                                             const std::optional<std::string>& formatter);
  /// The times that code of the user gives.
  static PartitionTimeExtractor Make(std::shared_ptr<TimeHook> hook);

  /// Milliseconds of the zone-less date and time; nullopt when the values do not give one (a NULL
  /// value never does). `values` in the order of the keys.
  std::optional<int64_t> LocalMillis(const PartitionValues& values) const;

 private:
  struct Piece {
    std::string text;
    int key = -1;  // Index of the key instead of the text.
  };
  std::vector<Piece> pieces_;
  size_t key_count_ = 0;
  std::optional<DateTimePattern> formatter_;
  std::shared_ptr<TimeHook> hook_;  // Instead of all that.
};

/// "y-M-d", optionally a blank and "H:m:s" with up to 9 digits of a fraction; only dates and times
/// that exist.
std::optional<int64_t> ParseLenientWidthDateTime(std::string_view text);

}  // namespace sluice::connectors::filesystem
