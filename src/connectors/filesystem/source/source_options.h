// The options of a filesystem table that its source reads.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "connectors/connector.h"
#include "connectors/filesystem/source/path_pattern.h"
#include "connectors/filesystem/source/processed_paths.h"

namespace sluice::connectors::filesystem {

enum class WhenDone { kNone, kMove, kDelete };

struct SourceOptions {
  std::string default_partition_name;
  std::optional<int64_t> monitor_interval_ms;  // Set: watch for ever.
  std::optional<PathPattern> path_pattern;
  int64_t min_age_ms = 0;
  FileIdentity identity = FileIdentity::kPath;
  WhenDone when_done = WhenDone::kNone;
  std::string move_to;  // As written; for kMove.
  bool notifications = true;
  int64_t full_listing_interval_ms = 600'000;
  bool listing_cursor = false;
  std::optional<int64_t> forget_after_ms;
  bool fail_on_empty_files = false;
  int64_t max_record_bytes = 256 << 20;
  bool report_statistics = true;  // Footers may answer instead of rows.
};

std::span<const OptionSpec> SourceOptionSpecs();

/// Reads and checks what one table tells. The values have passed ValidateOptions. Fails with
/// kInvalidArgument naming the option.
Result<SourceOptions> ReadSourceOptions(const TableInfo& table);

/// True when files in `directory` are rows of the table at `table_root`: it is the same directory,
/// or one below without a hidden name on the way.
bool IsReadWithTable(std::string_view table_root, std::string_view directory);
/// Fails when files moved to `move_to` would be files of the table at `table_root` again.
Status CheckMoveTarget(std::string_view table_root, std::string_view move_to);

}  // namespace sluice::connectors::filesystem
