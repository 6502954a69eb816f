#include "connectors/filesystem/sink/rolling_policy.h"

#include <string>

namespace sluice::connectors::filesystem {
namespace {

Status CheckAboveZero(const char* name, int64_t value) {
  if (value > 0) return {};
  return Status::InvalidArgument("Invalid value for option 'sink.rolling-policy." +
                                 std::string(name) + "': it must be larger than 0. Leave the " +
                                 "option out for its default.");
}

}  // namespace

Result<RollingPolicy> RollingPolicy::Make(const RollingOptions& options) {
  SLUICE_RETURN_NOT_OK(CheckAboveZero("file-size", options.file_size_bytes));
  SLUICE_RETURN_NOT_OK(CheckAboveZero("rollover-interval", options.rollover_interval_ms));
  SLUICE_RETURN_NOT_OK(CheckAboveZero("inactivity-interval", options.inactivity_interval_ms));
  SLUICE_RETURN_NOT_OK(CheckAboveZero("check-interval", options.check_interval_ms));
  return RollingPolicy(options);
}

RollingPolicy RollingPolicy::Never() {
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  return RollingPolicy({.file_size_bytes = kNever,
                        .rollover_interval_ms = kNever,
                        .inactivity_interval_ms = kNever,
                        .check_interval_ms = 0,
                        .on_checkpoint = false});
}

}  // namespace sluice::connectors::filesystem
