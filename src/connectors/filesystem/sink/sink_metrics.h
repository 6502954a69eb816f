// Names of the counters that only the file sink has. Units last.
#pragma once

#include <string_view>

namespace sluice::connectors::filesystem::sink_metric {

/// Files merged away by compaction, and files made of them.
inline constexpr std::string_view kCompactedInputs = "compacted_input_files";
inline constexpr std::string_view kCompactedFiles = "compacted_files";
/// What waits for compaction: closed in complete checkpoints and not visible yet.
inline constexpr std::string_view kBacklogFiles = "compaction_backlog_files";
inline constexpr std::string_view kBacklogBytes = "compaction_backlog_bytes";
/// Rows for partitions that were committed before, by what the table does with them.
inline constexpr std::string_view kLateRowsDropped = "late_rows_dropped";
inline constexpr std::string_view kLateRowsAside = "late_rows_aside";

}  // namespace sluice::connectors::filesystem::sink_metric
