// A filesystem table about to be read: takes the planner's push-downs and makes the runtime source.
#pragma once

#include <memory>
#include <vector>

#include "connectors/connector.h"
#include "formats/format.h"

namespace sluice::connectors::filesystem {

/// file.path, file.name, file.size, file.modification-time; all read-only.
std::vector<MetadataColumn> FileMetadataColumns();

/// The options of `table` have passed the connector's validation. Fails when the table cannot be
/// read.
Result<std::unique_ptr<TableSource>> MakeFileTableSource(const TableInfo& table,
                                                         const ConnectorContext& context,
                                                         const formats::Format& format);

}  // namespace sluice::connectors::filesystem
