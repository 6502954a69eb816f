// The parts of a table that CREATE TABLE, LIKE and ALTER TABLE have in common: columns, keys,
// watermark and their checks.
#pragma once

#include <string>
#include <vector>

#include "catalog/table.h"
#include "sql/binder/binder.h"

namespace sluice::sql {

/// A type that a table may have: INTERVAL and NULL are for expressions only.
Status CheckColumnType(const SqlType& type, SourcePosition position);

/// The column as written. A computed one has its text and no type yet: BindComputedColumns finds
/// it.
Result<catalog::TableColumn> ColumnOf(const ColumnDefinition& definition);

/// A computed column and the expression it was made of.
struct ComputedColumn {
  std::string name;
  const Expr* expression;
};
/// Types the computed columns, each over the columns that are not computed themselves. Those in
/// `written` are bound as written, for exact positions; the others from their stored text, because
/// a change of the other columns may have changed their type.
Status BindComputedColumns(const std::vector<ComputedColumn>& written, const BindContext& context,
                           catalog::CatalogTable* table);

/// Sets the watermark after checking column and expression (sql.md §3.1, §7).
Status SetWatermark(const WatermarkDefinition& watermark, const BindContext& context,
                    catalog::CatalogTable* table);
/// Checks that the stored watermark still fits its columns.
Status CheckStoredWatermark(const BindContext& context, const catalog::CatalogTable& table);

/// Sets the primary key and makes its columns NOT NULL. `column` is the column that the key was
/// written at, else null.
Status SetPrimaryKey(const KeyConstraint& key, const Identifier* column,
                     catalog::CatalogTable* table);

Status SetPartitionKeys(const std::vector<Identifier>& keys, catalog::CatalogTable* table);

/// Two metadata columns may not show the same key.
Status CheckMetadataKeys(const catalog::CatalogTable& table);

std::vector<std::string> ColumnNames(const catalog::CatalogTable& table);

/// The parts of WatermarkSpec::column: one for a column, more for a field of a row.
std::vector<std::string> RowtimePath(const catalog::CatalogTable& table);

}  // namespace sluice::sql
