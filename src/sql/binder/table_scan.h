// The scan of a catalog table: computed columns and watermark bound, hints applied.
#pragma once

#include <vector>

#include "catalog/catalog.h"
#include "sql/binder/binder.h"
#include "sql/logical/plan.h"
#include "sql/syntax/ast.h"

namespace sluice::sql {

/// `position` is that of the table's name, for errors inside stored expressions.
Result<PlanPtr> MakeTableScan(const catalog::CatalogManager::Found& found,
                              const std::vector<Hint>& hints, const BindContext& context,
                              SourcePosition position);

/// WITH options of `table` with those of OPTIONS hints on top. Fails when hints are switched off;
/// unknown hints are a warning in the log.
Result<OptionMap> ApplyHints(const OptionMap& options, const std::vector<Hint>& hints,
                             const BindContext& context);

}  // namespace sluice::sql
