// The scan of a catalog table: computed columns and watermark bound, hints applied.
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "sql/binder/binder.h"
#include "sql/binder/scope.h"
#include "sql/logical/plan.h"
#include "sql/syntax/ast.h"

namespace sluice::sql {

/// Over the columns of `table` as the relation `name`, empty where its own definition speaks of
/// them; computed ones only when `with_computed` (they cannot use each other).
Scope TableScope(const catalog::CatalogTable& table, std::vector<std::string> name,
                 bool with_computed);

/// `position` is that of the table's name, for errors inside stored expressions.
Result<PlanPtr> MakeTableScan(const catalog::CatalogManager::Found& found,
                              const std::vector<Hint>& hints, const BindContext& context,
                              SourcePosition position);

/// WITH options of `table` with those of OPTIONS hints on top. Fails when hints are switched off;
/// unknown hints are a warning in the log.
Result<OptionMap> ApplyHints(const OptionMap& options, const std::vector<Hint>& hints,
                             const BindContext& context);

}  // namespace sluice::sql
