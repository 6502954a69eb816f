#include "sql/physical/table_access.h"

#include <algorithm>

#include "common/nearest_name.h"
#include "common/text.h"

namespace sluice::sql {
namespace {

Status Wrapped(Status status, std::string_view what, const catalog::ObjectPath& path,
               const OptionMap& options) {
  if (status.ok()) return status;
  std::string text = "Unable to create a " + std::string(what) + " table '" + path.ToString() +
                     "'.\n\nTable options are:\n\n";
  for (const auto& [key, value] : options)
    text += "'" + key + "'='" + MaskSecret(key, value) + "'\n";
  // The reason comes last: it is what the reader needs, and tools look for it at the end of the
  // chain.
  return Status(status.code(), text + "\n" + status.message()).At(status.position());
}

Result<const connectors::Connector*> ConnectorOf(const OptionMap& options) {
  const auto it = options.find("connector");
  if (it == options.end()) {
    return Status::Validation(
        "Table options do not contain an option key 'connector' for discovering a connector.");
  }
  return connectors::FindConnector(it->second);
}

Status CheckMetadata(const connectors::Connector& connector, const connectors::TableInfo& info,
                     const catalog::CatalogTable& table, const catalog::ObjectPath& path,
                     bool writing) {
  const std::vector<connectors::MetadataColumn> offered =
      connector.metadata ? connector.metadata(info) : std::vector<connectors::MetadataColumn>();
  std::vector<std::string> keys;
  for (const connectors::MetadataColumn& column : offered) {
    if (writing ? column.writable : column.readable) keys.push_back(column.key);
  }
  for (const catalog::TableColumn& column : table.columns) {
    if (column.kind != catalog::ColumnKind::kMetadata || (writing && column.is_virtual)) continue;
    if (std::find(keys.begin(), keys.end(), column.key()) != keys.end()) continue;
    if (writing && keys.empty()) {
      return Status::Validation("Table '" + path.ToString() +
                                "' declares persistable metadata columns, but the connector '" +
                                std::string(connector.name) +
                                "' does not support writing metadata. Declare the column '" +
                                column.name + "' VIRTUAL.");
    }
    return Status::Validation(
        "Invalid metadata key '" + column.key() + "' in column '" + column.name + "' of table '" +
        path.ToString() + "'. The connector '" + std::string(connector.name) +
        "' supports the following metadata keys for " + (writing ? "writing" : "reading") + ":\n" +
        Join(keys, "\n") + DidYouMean(column.key(), keys));
  }
  return {};
}

/// Options that Flink has and that would change nothing here: accepted silently they would promise
/// what does not happen.
Status CheckNoPowerlessOptions(const OptionMap& options) {
  for (const auto& [key, value] : options) {
    if (!key.starts_with("scan.watermark.alignment.")) continue;
    return Status::Unsupported("'" + key +
                               "' is not supported yet: sources do not wait for each other's "
                               "watermarks. Take the scan.watermark.alignment.* options out.");
  }
  return {};
}

Status Validate(const connectors::Connector& connector, const connectors::TableInfo& info,
                const connectors::ConnectorContext& context) {
  SLUICE_RETURN_NOT_OK(CheckNoPowerlessOptions(info.options));
  return connector.validate ? connector.validate(info, context) : Status();
}

}  // namespace

connectors::TableInfo MakeTableInfo(const catalog::ObjectPath& path,
                                    const catalog::CatalogTable& table, const OptionMap& options) {
  connectors::TableInfo info;
  info.identifier = path.ToString();
  info.physical = table.PhysicalSchema();
  info.partition_keys = table.partition_keys;
  if (table.primary_key) info.primary_key = table.primary_key->columns;
  info.options = options;
  return info;
}

Result<std::unique_ptr<connectors::TableSource>> OpenTableSource(
    const catalog::ObjectPath& path, const catalog::CatalogTable& table, const OptionMap& options,
    const connectors::ConnectorContext& context) {
  Result<std::unique_ptr<connectors::TableSource>> source =
      [&]() -> Result<std::unique_ptr<connectors::TableSource>> {
    SLUICE_ASSIGN_OR_RETURN(const connectors::Connector* connector, ConnectorOf(options));
    if (connector->make_source == nullptr) {
      return Status::Validation("Connector '" + std::string(connector->name) +
                                "' can only be used as a sink. It cannot be used as a source.");
    }
    const connectors::TableInfo info = MakeTableInfo(path, table, options);
    SLUICE_RETURN_NOT_OK(Validate(*connector, info, context));
    SLUICE_RETURN_NOT_OK(CheckMetadata(*connector, info, table, path, false));
    return connector->make_source(info, context);
  }();
  if (!source.ok()) return Wrapped(source.status(), "source for reading", path, options);
  return source;
}

Result<std::unique_ptr<connectors::TableSink>> OpenTableSink(
    const catalog::ObjectPath& path, const catalog::CatalogTable& table, const OptionMap& options,
    const connectors::ConnectorContext& context) {
  Result<std::unique_ptr<connectors::TableSink>> sink =
      [&]() -> Result<std::unique_ptr<connectors::TableSink>> {
    SLUICE_ASSIGN_OR_RETURN(const connectors::Connector* connector, ConnectorOf(options));
    if (connector->make_sink == nullptr) {
      return Status::Validation("Connector '" + std::string(connector->name) +
                                "' can only be used as a source. It cannot be used as a sink.");
    }
    const connectors::TableInfo info = MakeTableInfo(path, table, options);
    SLUICE_RETURN_NOT_OK(Validate(*connector, info, context));
    SLUICE_RETURN_NOT_OK(CheckMetadata(*connector, info, table, path, true));
    return connector->make_sink(info, context);
  }();
  if (!sink.ok()) return Wrapped(sink.status(), "sink for writing", path, options);
  return sink;
}

Status CheckTableOptions(const catalog::ObjectPath& path, const catalog::CatalogTable& table,
                         const connectors::ConnectorContext& context) {
  if (!table.options.contains("connector")) return {};
  Result<const connectors::Connector*> connector = ConnectorOf(table.options);
  if (!connector.ok()) return connector.status();
  return Validate(**connector, MakeTableInfo(path, table, table.options), context);
}

}  // namespace sluice::sql
