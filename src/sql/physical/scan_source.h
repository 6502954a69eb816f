// From a scan of the logical plan to a runtime source: push-downs applied, computed columns and
// watermark added behind the decoder.
#pragma once

#include <functional>
#include <memory>

#include "connectors/connector.h"
#include "runtime/source.h"
#include "sql/logical/plan.h"

namespace sluice::sql {

/// Makes `scan->source` if it has none, prunes partitions and applies projection, partitions,
/// filters and limit to it.
Status PrepareScan(ScanNode* scan, const connectors::ConnectorContext& connector_context,
                   const expr::EvalContext& eval);

/// The runtime source of a prepared scan: its rows have the scan's output columns. Valid as often
/// as called (once an attempt).
Result<std::function<Result<std::shared_ptr<runtime::Source>>()>> MakeScanSource(
    const ScanNode& scan, const connectors::ConnectorContext& context,
    const expr::EvalContext& eval);

}  // namespace sluice::sql
