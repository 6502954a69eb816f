#include "catalog/table.h"

#include "common/quoted_name.h"

namespace sluice::catalog {
namespace {

template <typename Keep>
Schema SchemaOf(const std::vector<TableColumn>& columns, Keep keep) {
  std::vector<Column> kept;
  for (const TableColumn& column : columns) {
    if (keep(column)) kept.push_back({column.name, column.type});
  }
  return Schema(std::move(kept));
}

}  // namespace

std::string ObjectPath::ToQuotedString() const {
  return QuotedName(catalog) + "." + QuotedName(database) + "." + QuotedName(object);
}

int CatalogTable::IndexOf(std::string_view column) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == column) return static_cast<int>(i);
  }
  return -1;
}

Schema CatalogTable::SourceSchema() const {
  return SchemaOf(columns, [](const TableColumn&) { return true; });
}

Schema CatalogTable::SinkSchema() const {
  return SchemaOf(columns, [](const TableColumn& column) { return column.persisted(); });
}

Schema CatalogTable::PhysicalSchema() const {
  return SchemaOf(columns,
                  [](const TableColumn& column) { return column.kind == ColumnKind::kPhysical; });
}

}  // namespace sluice::catalog
