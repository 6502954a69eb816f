// From catalog tables to connector objects: options checked, sources and sinks made, errors wrapped
// as Flink words them.
#pragma once

#include <memory>
#include <string>

#include "catalog/table.h"
#include "connectors/connector.h"
#include "sql/logical/plan.h"

namespace sluice::sql {

connectors::TableInfo MakeTableInfo(const catalog::ObjectPath& path,
                                    const catalog::CatalogTable& table, const OptionMap& options);

/// Finds the connector, checks options and metadata columns, makes the source. Failures say "Unable
/// to create a source for reading table 'c.d.t'." with the table's options (secrets masked) and the
/// reason.
Result<std::unique_ptr<connectors::TableSource>> OpenTableSource(
    const catalog::ObjectPath& path, const catalog::CatalogTable& table, const OptionMap& options,
    const connectors::ConnectorContext& context);

/// Same for writing: "Unable to create a sink for writing table 'c.d.t'."
Result<std::unique_ptr<connectors::TableSink>> OpenTableSink(
    const catalog::ObjectPath& path, const catalog::CatalogTable& table, const OptionMap& options,
    const connectors::ConnectorContext& context);

/// What CREATE TABLE can check already: option names and values of known connectors. Tables without
/// `connector` pass.
Status CheckTableOptions(const catalog::ObjectPath& path, const catalog::CatalogTable& table,
                         const connectors::ConnectorContext& context);

}  // namespace sluice::sql
