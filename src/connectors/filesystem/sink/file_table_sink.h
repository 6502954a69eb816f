// A filesystem table about to be written: checks the INSERT and plans its two operators.
#pragma once

#include <memory>

#include "connectors/connector.h"
#include "connectors/filesystem/sink/file_sink_plan.h"
#include "formats/format.h"

namespace sluice::connectors::filesystem {

/// The options of `table` have passed the connector's validation. Fails when the table cannot be
/// written: the format, a column's type. `operations` null: those of the format.
Result<std::unique_ptr<TableSink>> MakeFileTableSink(
    const TableInfo& table, const ConnectorContext& context, const formats::Format& format,
    const formats::FileOperations* operations = nullptr);

}  // namespace sluice::connectors::filesystem
