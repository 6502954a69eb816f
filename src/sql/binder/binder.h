// Binds syntax to meaning: resolves names and types, inserts casts, and is the only place that
// knows Flink's typing rules for queries, INSERT and DDL. Reads catalogs, opens nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "common/options.h"
#include "expr/expr.h"
#include "sql/logical/plan.h"
#include "sql/syntax/ast.h"

namespace sluice::sql {

/// What binding depends on. Borrowed; must outlive the binder.
struct BindContext {
  const catalog::CatalogManager* catalogs = nullptr;
  const OptionMap* configuration = nullptr;  // SET values.
  TimeZone session_zone;
  bool streaming = true;
  bool hints_enabled = true;  // table.dynamic-table-options.enabled
};

class Binder {
 public:
  explicit Binder(const BindContext& context) : context_(context) {}

  /// SELECT, VALUES, TABLE t, WITH. Errors are kValidation with the position of the token at fault.
  Result<PlanPtr> BindQuery(const Query& query);

  /// Checks counts and types against the sink (sql.md §6), inserts implicit casts, places static
  /// partition values and column lists.
  Result<InsertPlan> BindInsert(const InsertStatement& insert);

  /// CREATE TABLE with resolved types; LIKE merged; checks of sql.md §3.1. AS SELECT: columns from
  /// `query_schema` (the caller binds the query).
  Result<catalog::CatalogTable> BindCreateTable(const CreateTable& statement,
                                                const Schema* query_schema);
  /// The query of CREATE TABLE AS as an INSERT into the table just made.
  Result<InsertPlan> BindCtasInsert(const CreateTable& statement, const catalog::ObjectPath& path,
                                    std::shared_ptr<const catalog::CatalogTable> table);

  /// CREATE VIEW / ALTER VIEW AS: validates the query and stores it expanded.
  Result<catalog::CatalogTable> BindView(
      const Query& query, const std::vector<Identifier>& columns,
      const std::vector<std::optional<std::string>>& column_comments,
      std::optional<std::string> comment);

  /// ALTER TABLE ADD / MODIFY / DROP / RENAME column, SET, RESET, constraints, watermark: the
  /// changed table (texts of sql.md §3.3).
  Result<catalog::CatalogTable> BindAlterTable(const AlterTable& statement,
                                               const catalog::ObjectPath& path,
                                               const catalog::CatalogTable& table);

 private:
  BindContext context_;
};

/// A SQL type from its syntax; checks ranges ("Decimal scale must be between …").
Result<SqlType> BindType(const TypeSyntax& syntax);

}  // namespace sluice::sql
