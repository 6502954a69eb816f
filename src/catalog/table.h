// Tables and views as a catalog keeps them: resolved types, expressions as canonical SQL text.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/options.h"
#include "common/result.h"
#include "types/schema.h"
#include "types/sql_type.h"

namespace sluice::catalog {

/// catalog.database.object, every part present.
struct ObjectPath {
  std::string catalog;
  std::string database;
  std::string object;
  /// "c.d.t", as messages write it.
  std::string ToString() const { return catalog + "." + database + "." + object; }
  /// "`c`.`d`.`t`".
  std::string ToQuotedString() const;
  friend auto operator<=>(const ObjectPath&, const ObjectPath&) = default;
};

enum class ColumnKind { kPhysical, kComputed, kMetadata };

struct TableColumn {
  ColumnKind kind = ColumnKind::kPhysical;
  std::string name;
  SqlType type;            // Of a computed column: of its expression.
  std::string expression;  // kComputed: canonical SQL over the other columns' names.
  std::optional<std::string> metadata_key;  // kMetadata: FROM 'key'; nullopt: the column's name.
  bool is_virtual = false;                  // kMetadata: read only.
  std::optional<std::string> comment;

  const std::string& key() const { return metadata_key ? *metadata_key : name; }
  /// True for columns that INSERT takes.
  bool persisted() const {
    return kind == ColumnKind::kPhysical || (kind == ColumnKind::kMetadata && !is_virtual);
  }
};

struct WatermarkSpec {
  std::string column;      // Dotted path for a field of a row.
  std::string expression;  // Canonical SQL.
  SqlType type;            // Of the expression.
};

struct PrimaryKey {
  std::string name;
  std::vector<std::string> columns;
};

enum class TableKind { kTable, kView };

struct CatalogTable {
  TableKind kind = TableKind::kTable;
  std::vector<TableColumn> columns;
  std::optional<WatermarkSpec> watermark;
  std::optional<PrimaryKey> primary_key;
  std::vector<std::string> partition_keys;
  OptionMap options;
  std::optional<std::string> comment;
  bool temporary = false;
  /// Made in streaming mode: as in Flink, DESCRIBE marks the rowtime of such a table, whatever the
  /// mode is by then.
  bool event_time = true;
  std::string view_query;  // kView: expanded, every name qualified and back-ticked.

  int IndexOf(std::string_view column) const;
  /// All columns in order: what SELECT sees.
  Schema SourceSchema() const;
  /// Physical and non-VIRTUAL metadata columns in order: what INSERT takes.
  Schema SinkSchema() const;
  /// Physical columns in order.
  Schema PhysicalSchema() const;
};

}  // namespace sluice::catalog
