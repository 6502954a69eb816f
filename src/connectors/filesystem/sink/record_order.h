// In which order the records of a table (table_record.h) were made.
#pragma once

#include <vector>

#include "connectors/filesystem/sink/table_record.h"

namespace sluice::connectors::filesystem {

/// In the order in which they were made, each once. Records of one sink follow each other by branch
/// and checkpoint, and one that merges files follows those that have published them. Wall time,
/// which may leap, orders only what is left: records of different sinks.
std::vector<TableRecord> OrderRecords(std::vector<TableRecord> records);

}  // namespace sluice::connectors::filesystem
