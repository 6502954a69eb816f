// DESCRIBE of tables, views, catalogs and databases; SHOW COLUMNS.
#include <algorithm>

#include "common/text.h"
#include "engine/definition/statements.h"
#include "sql/binder/binder.h"
#include "sql/syntax/parser.h"

namespace sluice::engine {
namespace {

using Cell = std::optional<std::string>;

/// Time attributes by column: of a table from its definition, of a view from its query.
Result<std::vector<sql::TimeAttribute>> TimeAttributesOf(
    const catalog::CatalogManager::Found& found, const SessionState& state) {
  const catalog::CatalogTable& table = *found.table;
  std::vector<sql::TimeAttribute> attributes(table.columns.size(), sql::TimeAttribute::kNone);
  SLUICE_ASSIGN_OR_RETURN(const sql::BindContext bind, state.MakeBindContext());
  if (table.kind == catalog::TableKind::kView) {
    const Result<sql::QueryPtr> query = sql::ParseQuery(table.view_query);
    if (!query.ok()) return attributes;
    const Result<sql::PlanPtr> plan = sql::Binder(bind).BindQuery(**query);
    // A view whose tables are gone can still be described.
    if (plan.ok() && (*plan)->time_attributes.size() == attributes.size())
      attributes = (*plan)->time_attributes;
  } else {
    for (size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].expression == "PROCTIME()")
        attributes[i] = sql::TimeAttribute::kProctime;
    }
    const int rowtime = table.watermark ? table.IndexOf(table.watermark->column) : -1;
    if (rowtime >= 0) attributes[static_cast<size_t>(rowtime)] = sql::TimeAttribute::kRowtime;
  }
  if (!table.event_time) {  // Batch knows no event time: the column is an ordinary one.
    std::replace(attributes.begin(), attributes.end(), sql::TimeAttribute::kRowtime,
                 sql::TimeAttribute::kNone);
  }
  return attributes;
}

std::string TypeText(const SqlType& type, sql::TimeAttribute attribute) {
  std::string text = type.WithNullable(true).ToString();
  if (attribute == sql::TimeAttribute::kRowtime) text += " *ROWTIME*";
  if (attribute == sql::TimeAttribute::kProctime) text += " *PROCTIME*";
  return text;
}

Cell ExtrasOf(const catalog::TableColumn& column) {
  if (column.kind == catalog::ColumnKind::kComputed) return "AS " + column.expression;
  if (column.kind != catalog::ColumnKind::kMetadata) return std::nullopt;
  std::string text = "METADATA";
  if (column.metadata_key) text += " FROM '" + *column.metadata_key + "'";
  if (column.is_virtual) text += " VIRTUAL";
  return text;
}

Cell KeyOf(const catalog::CatalogTable& table, const std::string& column) {
  if (!table.primary_key) return std::nullopt;
  const std::vector<std::string>& keys = table.primary_key->columns;
  if (std::find(keys.begin(), keys.end(), column) == keys.end()) return std::nullopt;
  return "PRI(" + Join(keys, ", ") + ")";
}

Result<TextTable> DescribeCatalog(const sql::DescribeStatement& statement,
                                  const SessionState& state) {
  const std::string& name = statement.object.parts.back().name;
  const Result<const catalog::CatalogManager::CatalogInfo*> info = state.catalogs.FindCatalog(name);
  if (!info.ok()) return Located(info.status(), statement.object.range);
  TextTable table{{"info name", "info value"}, {}};
  table.rows.push_back({"name", name});
  table.rows.push_back({"type", (*info)->type});
  table.rows.push_back({"comment", (*info)->comment});
  if (!statement.extended) return table;
  for (const auto& [key, value] : (*info)->options) {
    if (key != "type") table.rows.push_back({"option:" + key, MaskSecret(key, value)});
  }
  return table;
}

Result<TextTable> DescribeDatabase(const sql::DescribeStatement& statement,
                                   const SessionState& state) {
  const sql::NamePath& object = statement.object;
  if (object.parts.size() > 2) {
    return Status::Validation(
        "A database name has at most two parts (catalog.database): " + object.ToString(),
        object.range.begin);
  }
  const std::string catalog_name =
      object.parts.size() == 2 ? object.parts[0].name : state.catalogs.current_catalog();
  const Result<catalog::Catalog*> found = state.catalogs.GetCatalog(catalog_name);
  if (!found.ok()) return Located(found.status(), object.range);
  const std::string& name = object.parts.back().name;
  const Result<catalog::Database> database = (*found)->GetDatabase(name);
  if (!database.ok()) return Located(database.status(), object.range);
  TextTable table{{"info name", "info value"}, {}};
  table.rows.push_back({"name", name});
  table.rows.push_back({"catalog", catalog_name});
  table.rows.push_back({"comment", database->comment});
  if (!statement.extended) return table;
  for (const auto& [key, value] : database->options) {
    table.rows.push_back({"option:" + key, MaskSecret(key, value)});
  }
  return table;
}

}  // namespace

Result<TextTable> DescribeColumns(const sql::NamePath& object, const SessionState& state,
                                  const std::function<bool(const std::string&)>& keep) {
  SLUICE_ASSIGN_OR_RETURN(
      const catalog::CatalogManager::Found found,
      FindObject(object, state, "Tables or views with the identifier '", "' doesn't exist."));
  SLUICE_ASSIGN_OR_RETURN(const std::vector<sql::TimeAttribute> attributes,
                          TimeAttributesOf(found, state));
  const catalog::CatalogTable& table = *found.table;
  const bool comments =
      std::any_of(table.columns.begin(), table.columns.end(),
                  [](const catalog::TableColumn& column) { return column.comment.has_value(); });
  TextTable answer{{"name", "type", "null", "key", "extras", "watermark"}, {}};
  if (comments) answer.columns.push_back("comment");
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const catalog::TableColumn& column = table.columns[i];
    if (!keep(column.name)) continue;
    const bool rowtime = table.watermark && table.watermark->column == column.name;
    std::vector<Cell> row = {column.name,
                             TypeText(column.type, attributes[i]),
                             column.type.nullable() ? "TRUE" : "FALSE",
                             KeyOf(table, column.name),
                             ExtrasOf(column),
                             rowtime ? Cell(table.watermark->expression) : std::nullopt};
    if (comments) row.push_back(column.comment);
    answer.rows.push_back(std::move(row));
  }
  return answer;
}

Result<TextTable> ExecuteDescribe(const sql::DescribeStatement& statement,
                                  const SessionState& state) {
  switch (statement.what) {
    case sql::DescribeKind::kTable:
      return DescribeColumns(statement.object, state, [](const std::string&) { return true; });
    case sql::DescribeKind::kCatalog:
      return DescribeCatalog(statement, state);
    case sql::DescribeKind::kDatabase:
      return DescribeDatabase(statement, state);
    case sql::DescribeKind::kJob: {
      Result<TextTable> job = DescribeJob(statement.job_id, state);
      if (!job.ok()) return Located(job.status(), statement.range);
      return job;
    }
  }
  return Status::Internal("unknown DESCRIBE statement");
}

}  // namespace sluice::engine
