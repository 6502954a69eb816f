// CREATE VIEW, ALTER VIEW AS: validates the query, names the columns, stores the text expanded
// (sql.md §3.2).
#include "common/text.h"
#include "sql/binder/binder.h"
#include "sql/binder/view_expansion.h"

namespace sluice::sql {
namespace {

std::string NameList(const std::vector<std::string>& names) {
  return "[" + Join(names, ", ") + "]";
}

Status CheckColumnList(const std::vector<Identifier>& columns, const Schema& query) {
  if (columns.empty()) return {};
  std::vector<std::string> defined;
  for (const Identifier& column : columns) {
    for (const std::string& other : defined) {
      if (other == column.name) {
        return Status::Validation("A column with the same name `" + column.name +
                                      "` has been defined at line " +
                                      std::to_string(column.range.begin.line) + ", column " +
                                      std::to_string(column.range.begin.column) + ".",
                                  column.range.begin);
      }
    }
    defined.push_back(column.name);
  }
  if (static_cast<int>(columns.size()) == query.column_count()) return {};
  std::vector<std::string> input;
  for (const Column& column : query.columns()) input.push_back(column.name);
  return Status::Validation("VIEW definition and input fields not match:\n\tDef fields: " +
                                NameList(defined) + ".\n\tInput fields: " + NameList(input) + ".",
                            columns[0].range.begin);
}

}  // namespace

Result<catalog::CatalogTable> Binder::BindView(
    const Query& query, const std::vector<Identifier>& columns,
    const std::vector<std::optional<std::string>>& column_comments,
    std::optional<std::string> comment) {
  SLUICE_ASSIGN_OR_RETURN(const PlanPtr plan, BindQuery(query));
  SLUICE_RETURN_NOT_OK(CheckColumnList(columns, plan->schema));
  catalog::CatalogTable view;
  view.kind = catalog::TableKind::kView;
  view.comment = std::move(comment);
  view.event_time = context_.streaming;
  for (int i = 0; i < plan->schema.column_count(); ++i) {
    const size_t index = static_cast<size_t>(i);
    catalog::TableColumn column;
    column.name = columns.empty() ? plan->schema.column(i).name : columns[index].name;
    column.type = plan->schema.column(i).type;
    if (index < column_comments.size()) column.comment = column_comments[index];
    view.columns.push_back(std::move(column));
  }
  SLUICE_ASSIGN_OR_RETURN(view.view_query, ExpandedQueryText(query, context_));
  return view;
}

}  // namespace sluice::sql
