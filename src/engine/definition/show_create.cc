// SHOW CREATE TABLE, VIEW and CATALOG in Flink's layout: a statement that makes the same object
// again (secrets apart).
#include "common/quoted_name.h"
#include "common/text.h"
#include "engine/definition/statements.h"
#include "sql/binder/table_definition.h"
#include "sql/syntax/unparse.h"

namespace sluice::engine {
namespace {

constexpr std::string_view kIndent = "  ";

std::string QuotedList(const std::vector<std::string>& names, std::string_view separator = ", ") {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(QuotedName(name));
  return Join(quoted, separator);
}

std::string CommentOf(const std::optional<std::string>& comment) {
  return comment ? "COMMENT " + sql::QuoteString(*comment) : std::string();
}

std::string ColumnLine(const catalog::TableColumn& column) {
  std::string text = std::string(kIndent) + QuotedName(column.name);
  if (column.kind == catalog::ColumnKind::kComputed) {
    text += " AS " + column.expression;
  } else {
    text += " " + column.type.ToFullString();
  }
  if (column.kind == catalog::ColumnKind::kMetadata) {
    text += " METADATA";
    if (column.metadata_key) text += " FROM " + sql::QuoteString(*column.metadata_key);
    if (column.is_virtual) text += " VIRTUAL";
  }
  if (column.comment) text += " " + CommentOf(column.comment);
  return text;
}

std::string OptionLines(const OptionMap& options) {
  std::vector<std::string> lines;
  for (const auto& [key, value] : options) {
    lines.push_back(std::string(kIndent) + sql::QuoteString(key) + " = " +
                    sql::QuoteString(MaskSecret(key, value)));
  }
  return "WITH (\n" + Join(lines, ",\n") + "\n)\n";
}

std::string Head(std::string_view kind, const catalog::CatalogManager::Found& found) {
  return std::string("CREATE ") + (found.table->temporary ? "TEMPORARY " : "") + std::string(kind) +
         " " + found.path.ToQuotedString() + " (\n";
}

std::string CreateTableText(const catalog::CatalogManager::Found& found) {
  const catalog::CatalogTable& table = *found.table;
  std::vector<std::string> lines;
  for (const catalog::TableColumn& column : table.columns) lines.push_back(ColumnLine(column));
  if (table.watermark) {
    lines.push_back(std::string(kIndent) + "WATERMARK FOR " +
                    QuotedList(sql::RowtimePath(table), ".") + " AS " +
                    table.watermark->expression);
  }
  if (table.primary_key) {
    lines.push_back(std::string(kIndent) + "CONSTRAINT " + QuotedName(table.primary_key->name) +
                    " PRIMARY KEY (" + QuotedList(table.primary_key->columns) + ") NOT ENFORCED");
  }
  std::string text = Head("TABLE", found) + Join(lines, ",\n") + "\n)\n";
  if (table.comment) text += CommentOf(table.comment) + "\n";
  if (!table.partition_keys.empty())
    text += "PARTITIONED BY (" + QuotedList(table.partition_keys) + ")\n";
  if (!table.options.empty()) text += OptionLines(table.options);
  return text;
}

std::string CreateViewText(const catalog::CatalogManager::Found& found) {
  std::vector<std::string> lines;
  for (const catalog::TableColumn& column : found.table->columns) {
    std::string line = std::string(kIndent) + QuotedName(column.name);
    if (column.comment) line += " " + CommentOf(column.comment);
    lines.push_back(std::move(line));
  }
  std::string text = Head("VIEW", found) + Join(lines, ",\n") + "\n)\n";
  if (found.table->comment) text += CommentOf(found.table->comment) + "\n";
  return text + "AS " + found.table->view_query + "\n";
}

Result<std::string> CreateCatalogText(const sql::NamePath& name, const SessionState& state) {
  const Result<const catalog::CatalogManager::CatalogInfo*> info =
      state.catalogs.FindCatalog(name.parts.back().name);
  if (!info.ok()) return Located(info.status(), name.range);
  OptionMap options = (*info)->options;
  options.try_emplace("type", (*info)->type);
  std::string text = "CREATE CATALOG " + QuotedName(name.parts.back().name) + "\n";
  if ((*info)->comment) text += CommentOf((*info)->comment) + "\n";
  return text + OptionLines(options);
}

}  // namespace

Result<TextTable> ShowCreate(const sql::ShowStatement& statement, const SessionState& state) {
  if (statement.what == sql::ShowKind::kCreateCatalog) {
    SLUICE_ASSIGN_OR_RETURN(std::string text, CreateCatalogText(*statement.object, state));
    return TextTable{{"result"}, {{std::move(text)}}};
  }
  const bool wants_view = statement.what == sql::ShowKind::kCreateView;
  const std::string asked = wants_view ? "VIEW" : "TABLE";
  SLUICE_ASSIGN_OR_RETURN(const catalog::CatalogManager::Found found,
                          FindObject(*statement.object, state,
                                     "Could not execute SHOW CREATE " + asked + ". " +
                                         (wants_view ? "View" : "Table") + " with identifier '",
                                     "' does not exist."));
  const bool is_view = found.table->kind == catalog::TableKind::kView;
  if (is_view != wants_view) {
    const std::string right = wants_view ? "TABLE" : "VIEW";
    return Status::Validation("SHOW CREATE " + asked + " is only supported for " +
                                  ToLowerAscii(asked) + "s, but " + found.path.ToString() +
                                  " is a " + ToLowerAscii(right) + ". Please use SHOW CREATE " +
                                  right + " instead.",
                              statement.object->range.begin);
  }
  return TextTable{{"result"}, {{is_view ? CreateViewText(found) : CreateTableText(found)}}};
}

}  // namespace sluice::engine
