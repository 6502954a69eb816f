#include "sql/binder/table_definition.h"

#include <algorithm>

#include "common/nearest_name.h"
#include "common/text.h"
#include "expr/builder.h"
#include "sql/binder/expression_binder.h"
#include "sql/binder/table_scan.h"
#include "sql/syntax/parser.h"
#include "sql/syntax/unparse.h"

namespace sluice::sql {
namespace {

std::string AtText(SourcePosition position) {
  return "line " + std::to_string(position.line) + ", column " + std::to_string(position.column);
}

/// "Column 'x' not found in any table" says little where there is no table yet: Flink's word is
/// "Unknown identifier 'x'".
Status AsDefinitionError(const Status& status, const catalog::CatalogTable& table) {
  constexpr std::string_view kPrefix = "Column '";
  constexpr std::string_view kSuffix = "' not found in any table";
  const std::string& message = status.message();
  const size_t end = message.find(kSuffix);
  if (!message.starts_with(kPrefix) || end == std::string::npos) return status;
  const std::string name = message.substr(kPrefix.size(), end - kPrefix.size());
  const int index = table.IndexOf(name);
  if (index >= 0 &&
      table.columns[static_cast<size_t>(index)].kind == catalog::ColumnKind::kComputed) {
    return Status::Validation(
        "Unknown identifier '" + name + "'. A computed column cannot use another computed column.",
        status.position());
  }
  return Status::Validation(
      "Unknown identifier '" + name + "'" + message.substr(end + kSuffix.size()),
      status.position());
}

Result<SqlType> TypeOfExpression(const Expr& expression, const catalog::CatalogTable& table,
                                 bool with_computed, const BindContext& context) {
  if (expression.kind == ExprKind::kSubquery) {
    return Status::Validation("Query expression encountered in illegal context",
                              expression.range.begin);
  }
  const Scope scope = TableScope(table, {}, with_computed);
  ExpressionBinder binder(scope, context.session_zone);
  const Result<expr::ExprPtr> bound = binder.Bind(expression);
  if (!bound.ok()) return AsDefinitionError(bound.status(), table);
  return (*bound)->type();
}

Status CheckTimeType(const SqlType& type, std::string_view what, std::string_view is) {
  if (type.is_timestamp() && type.precision() <= 3) return {};
  return Status::Validation(
      "Invalid data type of " + std::string(what) +
      " for watermark definition. The field must be of type TIMESTAMP(p) or TIMESTAMP_LTZ(p), the "
      "supported precision 'p' is from 0 to 3, but the " +
      std::string(is) + " type is " + type.ToString());
}

/// Type of the rowtime column or of the field of a row that `parts` names.
Result<SqlType> RowtimeType(const NamePath& path, const catalog::CatalogTable& table) {
  const int index = table.IndexOf(path.parts[0].name);
  std::vector<std::string> known = ColumnNames(table);
  const SqlType* type = index < 0 ? nullptr : &table.columns[static_cast<size_t>(index)].type;
  for (size_t i = 1; i < path.parts.size() && type != nullptr; ++i) {
    const SqlType* row = type;
    type = nullptr;
    if (row->kind() != TypeKind::kRow) break;
    for (const RowField& field : row->fields()) {
      if (field.name == path.parts[i].name) type = &field.type;
    }
  }
  if (type != nullptr) return *type;
  std::string fields;
  for (const std::string& name : known) fields += (fields.empty() ? "'" : ", '") + name + "'";
  return Status::Validation("The rowtime attribute field '" + path.ToString() +
                                "' is not defined in the table schema, at " +
                                AtText(path.range.begin) + "\nAvailable fields: [" + fields + "]" +
                                DidYouMean(path.ToString(), known),
                            path.range.begin);
}

Status CheckWatermark(const SqlType& column, const SqlType& expression) {
  SLUICE_RETURN_NOT_OK(CheckTimeType(column, "time field", "time field"));
  SLUICE_RETURN_NOT_OK(CheckTimeType(expression, "expression", "watermark expression"));
  if (column.kind() == expression.kind()) return {};
  return Status::Validation(
      "The watermark declaration's output data type '" + expression.ToString() +
      "' is different from the time field's data type '" + column.ToString() + "'.");
}

Result<SqlType> TypeOfStored(const std::string& text, const std::string& what,
                             const catalog::CatalogTable& table, bool with_computed,
                             const BindContext& context) {
  Result<ExprPtr> parsed = ParseExpression(text);
  if (!parsed.ok())
    return Status::Internal("stored expression of " + what + ": " + parsed.status().message());
  Result<SqlType> type = TypeOfExpression(**parsed, table, with_computed, context);
  if (type.ok()) return type;
  // Positions inside a stored text mean nothing in this statement.
  return Status(type.status().code(),
                "Invalid expression for " + what + ": " + text + "\n" + type.status().message());
}

}  // namespace

Status CheckColumnType(const SqlType& type, SourcePosition position) {
  switch (type.kind()) {
    case TypeKind::kIntervalYearMonth:
    case TypeKind::kIntervalDayTime:
    case TypeKind::kNull:
      return Status::Validation("Type is not supported: " + type.WithNullable(true).ToString() +
                                    ". It can be used in expressions, not as the type of a column.",
                                position);
    case TypeKind::kArray:
    case TypeKind::kMultiset:
      return CheckColumnType(type.element(), position);
    case TypeKind::kMap:
      SLUICE_RETURN_NOT_OK(CheckColumnType(type.key(), position));
      return CheckColumnType(type.value(), position);
    case TypeKind::kRow:
      for (const RowField& field : type.fields())
        SLUICE_RETURN_NOT_OK(CheckColumnType(field.type, position));
      return {};
    default:
      return {};
  }
}

Result<catalog::TableColumn> ColumnOf(const ColumnDefinition& definition) {
  catalog::TableColumn column;
  column.name = definition.name.name;
  column.comment = definition.comment;
  switch (definition.kind) {
    case ColumnKind::kComputed:
      column.kind = catalog::ColumnKind::kComputed;
      column.expression = ToSql(*definition.computed);
      return column;
    case ColumnKind::kMetadata:
      column.kind = catalog::ColumnKind::kMetadata;
      column.metadata_key = definition.metadata_key;
      column.is_virtual = definition.is_virtual;
      break;
    case ColumnKind::kPhysical:
      break;
  }
  if (definition.type == nullptr) {
    return Status::Validation("Column '" + column.name + "' needs a type.",
                              definition.name.range.begin);
  }
  SLUICE_ASSIGN_OR_RETURN(column.type, BindType(*definition.type));
  SLUICE_RETURN_NOT_OK(CheckColumnType(column.type, definition.type->range.begin));
  return column;
}

Status BindComputedColumns(const std::vector<ComputedColumn>& written, const BindContext& context,
                           catalog::CatalogTable* table) {
  for (catalog::TableColumn& column : table->columns) {
    if (column.kind != catalog::ColumnKind::kComputed) continue;
    const auto as_written =
        std::find_if(written.begin(), written.end(),
                     [&](const ComputedColumn& other) { return other.name == column.name; });
    const bool stored = as_written == written.end();
    Result<SqlType> type =
        stored ? TypeOfStored(column.expression, "computed column '" + column.name + "'", *table,
                              false, context)
               : TypeOfExpression(*as_written->expression, *table, false, context);
    if (!type.ok()) return type.status();
    const SourcePosition position = stored ? SourcePosition{} : as_written->expression->range.begin;
    SLUICE_RETURN_NOT_OK(CheckColumnType(*type, position));
    column.type = *std::move(type);
  }
  return {};
}

Status SetWatermark(const WatermarkDefinition& watermark, const BindContext& context,
                    catalog::CatalogTable* table) {
  SLUICE_ASSIGN_OR_RETURN(const SqlType column, RowtimeType(watermark.column, *table));
  SLUICE_ASSIGN_OR_RETURN(SqlType type,
                          TypeOfExpression(*watermark.expression, *table, true, context));
  const bool column_fits = CheckTimeType(column, "time field", "time field").ok();
  SLUICE_RETURN_NOT_OK(Located(CheckWatermark(column, type), column_fits
                                                                 ? watermark.expression->range.begin
                                                                 : watermark.column.range.begin));
  table->watermark = catalog::WatermarkSpec{watermark.column.ToString(),
                                            ToSql(*watermark.expression), std::move(type)};
  return {};
}

std::vector<std::string> RowtimePath(const catalog::CatalogTable& table) {
  if (!table.watermark) return {};
  const std::string& column = table.watermark->column;
  if (table.IndexOf(column) >= 0) return {column};  // A column's own name may hold dots.
  std::vector<std::string> parts;
  for (const std::string_view part : Split(column, '.')) parts.emplace_back(part);
  return parts;
}

Status CheckStoredWatermark(const BindContext& context, const catalog::CatalogTable& table) {
  if (!table.watermark) return {};
  NamePath path;
  for (const std::string& part : RowtimePath(table)) {
    Identifier name;
    name.name = part;
    path.parts.push_back(std::move(name));
  }
  SLUICE_ASSIGN_OR_RETURN(const SqlType column, RowtimeType(path, table));
  SLUICE_ASSIGN_OR_RETURN(
      const SqlType type,
      TypeOfStored(table.watermark->expression,
                   "watermark of column '" + table.watermark->column + "'", table, true, context));
  return CheckWatermark(column, type);
}

Status SetPrimaryKey(const KeyConstraint& key, const Identifier* column,
                     catalog::CatalogTable* table) {
  if (key.unique)
    return Status::Validation("UNIQUE constraint is not supported yet", key.range.begin);
  if (key.enforced) {
    return Status::Validation(
        "Flink doesn't support ENFORCED mode for PRIMARY KEY constraint. ENFORCED/NOT ENFORCED "
        "controls if the constraint "
        "checks are performed on the incoming/outgoing data. Flink does not own the data therefore "
        "the only supported mode "
        "is the NOT ENFORCED mode",
        key.range.begin);
  }
  if (table->primary_key)
    return Status::Validation("Duplicate primary key definition", key.range.begin);
  std::vector<const Identifier*> names;
  for (const Identifier& name : key.columns) names.push_back(&name);
  if (names.empty() && column != nullptr) names.push_back(column);
  catalog::PrimaryKey primary_key;
  for (const Identifier* name : names) {
    const int index = table->IndexOf(name->name);
    if (index < 0) {
      return Status::Validation(
          "Primary key column '" + name->name + "' is not defined in the schema at " +
              AtText(name->range.begin) + DidYouMean(name->name, ColumnNames(*table)),
          name->range.begin);
    }
    catalog::TableColumn& target = table->columns[static_cast<size_t>(index)];
    if (target.kind != catalog::ColumnKind::kPhysical) {
      return Status::Validation(
          "Could not create a PRIMARY KEY with column '" + name->name + "' at " +
              AtText(name->range.begin) +
              ".\nA PRIMARY KEY constraint must be declared on physical columns.",
          name->range.begin);
    }
    const auto& taken = primary_key.columns;
    if (std::find(taken.begin(), taken.end(), name->name) != taken.end()) {
      return Status::Validation(
          "The primary key names the column '" + name->name + "' more than once.",
          name->range.begin);
    }
    target.type = target.type.NotNull();
    primary_key.columns.push_back(name->name);
  }
  primary_key.name = key.name ? key.name->name : "PK_" + Join(primary_key.columns, "_");
  table->primary_key = std::move(primary_key);
  return {};
}

Status SetPartitionKeys(const std::vector<Identifier>& keys, catalog::CatalogTable* table) {
  std::vector<std::string> names;
  for (const Identifier& key : keys) {
    const int index = table->IndexOf(key.name);
    if (index < 0) {
      std::string available;
      const std::vector<std::string> known = ColumnNames(*table);
      for (const std::string& name : known)
        available += (available.empty() ? "'" : ", '") + name + "'";
      return Status::Validation("Partition column '" + key.name +
                                    "' not defined in the table schema. Available columns: [" +
                                    available + "]" + DidYouMean(key.name, known),
                                key.range.begin);
    }
    if (table->columns[static_cast<size_t>(index)].kind != catalog::ColumnKind::kPhysical) {
      return Status::Validation(
          "Invalid partition key '" + key.name +
              "'. A partition key must reference a physical column in the schema.",
          key.range.begin);
    }
    if (std::find(names.begin(), names.end(), key.name) != names.end()) {
      return Status::Validation("Partition column '" + key.name + "' is named more than once.",
                                key.range.begin);
    }
    names.push_back(key.name);
  }
  table->partition_keys = std::move(names);
  return {};
}

Status CheckMetadataKeys(const catalog::CatalogTable& table) {
  for (size_t i = 0; i < table.columns.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const catalog::TableColumn& first = table.columns[j];
      const catalog::TableColumn& second = table.columns[i];
      if (first.kind != catalog::ColumnKind::kMetadata ||
          second.kind != catalog::ColumnKind::kMetadata)
        continue;
      if (first.key() != second.key()) continue;
      return Status::Validation(
          "The column `" + first.name + "` and column `" + second.name +
          "` are both from the same metadata key '" + first.key() +
          "'. Please specify one of the columns as the metadata column and use the computed column "
          "syntax to specify the others.");
    }
  }
  return {};
}

std::vector<std::string> ColumnNames(const catalog::CatalogTable& table) {
  std::vector<std::string> names;
  for (const catalog::TableColumn& column : table.columns) names.push_back(column.name);
  return names;
}

}  // namespace sluice::sql
