#include "sql/binder/table_scan.h"

#include "common/log.h"
#include "common/text.h"
#include "expr/builder.h"
#include "sql/binder/expression_binder.h"
#include "sql/syntax/parser.h"

namespace sluice::sql {
namespace {

Result<expr::ExprPtr> BindStored(const std::string& text, const Scope& scope,
                                 const BindContext& context, const std::string& what,
                                 SourcePosition position) {
  Result<ExprPtr> parsed = ParseExpression(text);
  if (!parsed.ok())
    return Status::Internal("stored expression of " + what + ": " + parsed.status().message());
  ExpressionBinder binder(scope, context.session_zone);
  Result<expr::ExprPtr> bound = binder.Bind(**parsed);
  if (bound.ok()) return bound;
  return Status(bound.status().code(), bound.status().message())
      .WithContext("In " + what)
      .At(position);
}

bool IsProctime(const expr::ExprPtr& expression) {
  return expression && expression->kind() == expr::ExprKind::kCall &&
         static_cast<const expr::CallExpr&>(*expression).name() == "PROCTIME";
}

}  // namespace

Scope TableScope(const catalog::CatalogTable& table, std::vector<std::string> name,
                 bool with_computed) {
  ScopeRelation relation;
  relation.name = std::move(name);
  for (size_t i = 0; i < table.columns.size(); ++i) {
    const catalog::TableColumn& column = table.columns[i];
    if (column.kind == catalog::ColumnKind::kComputed && !with_computed) continue;
    relation.columns.push_back({column.name, column.type, TimeAttribute::kNone,
                                expr::MakeColumn(static_cast<int>(i), column.type)});
  }
  Scope scope;
  scope.Add(std::move(relation));
  return scope;
}

Result<OptionMap> ApplyHints(const OptionMap& options, const std::vector<Hint>& hints,
                             const BindContext& context) {
  OptionMap merged = options;
  for (const Hint& hint : hints) {
    if (!EqualsIgnoreCaseAscii(hint.name.name, "OPTIONS")) {
      Log(LogLevel::kWarning, "The hint " + hint.name.name + " is not known and has no effect.");
      continue;
    }
    if (!context.hints_enabled) {
      return Status::Validation(
          "The 'OPTIONS' hint is allowed only when the config option "
          "'table.dynamic-table-options.enabled' is set to true.",
          hint.range.begin);
    }
    for (const OptionPair& pair : hint.options) merged[pair.key] = pair.value;
  }
  return merged;
}

Result<PlanPtr> MakeTableScan(const catalog::CatalogManager::Found& found,
                              const std::vector<Hint>& hints, const BindContext& context,
                              SourcePosition position) {
  const catalog::CatalogTable& table = *found.table;
  auto scan = std::make_shared<ScanNode>();
  scan->path = found.path;
  scan->table = found.table;
  SLUICE_ASSIGN_OR_RETURN(scan->options, ApplyHints(table.options, hints, context));
  scan->schema = table.SourceSchema();
  const Scope base = TableScope(table, {found.path.object}, false);
  for (size_t i = 0; i < table.columns.size(); ++i) {
    scan->columns.push_back(static_cast<int>(i));
    const catalog::TableColumn& column = table.columns[i];
    expr::ExprPtr computed;
    if (column.kind == catalog::ColumnKind::kComputed) {
      SLUICE_ASSIGN_OR_RETURN(
          computed, BindStored(column.expression, base, context,
                               "computed column '" + column.name + "' of " + found.path.ToString(),
                               position));
    }
    scan->time_attributes.push_back(IsProctime(computed) ? TimeAttribute::kProctime
                                                         : TimeAttribute::kNone);
    scan->computed.push_back(std::move(computed));
  }
  if (table.watermark) {
    const Scope all = TableScope(table, {found.path.object}, true);
    SLUICE_ASSIGN_OR_RETURN(scan->watermark,
                            BindStored(table.watermark->expression, all, context,
                                       "the watermark of " + found.path.ToString(), position));
    scan->rowtime_column = table.IndexOf(table.watermark->column);
    if (scan->rowtime_column >= 0) {
      scan->time_attributes[static_cast<size_t>(scan->rowtime_column)] = TimeAttribute::kRowtime;
    }
  }
  return PlanPtr(scan);
}

}  // namespace sluice::sql
