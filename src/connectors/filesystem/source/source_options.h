// The options of a filesystem table that its source reads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "connectors/connector.h"
#include "connectors/filesystem/source/path_pattern.h"

namespace sluice::connectors::filesystem {

struct SourceOptions {
  std::string default_partition_name;
  std::optional<int64_t> monitor_interval_ms;  // Set: watch for ever.
  std::optional<PathPattern> path_pattern;
  int64_t min_age_ms = 0;
  bool fail_on_empty_files = false;
  int64_t max_record_bytes = 256 << 20;
};

std::span<const OptionSpec> SourceOptionSpecs();

/// Reads and checks what one table tells. The values have passed ValidateOptions. Fails with
/// kInvalidArgument naming the option.
Result<SourceOptions> ReadSourceOptions(const TableInfo& table);

}  // namespace sluice::connectors::filesystem
