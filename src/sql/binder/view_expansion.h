// The text of a view as it is stored: every table by its full path, every column by its table, `*`
// written out. So the view means the same whatever the current catalog and database are when it is
// read, and when columns are added to its tables.
#pragma once

#include <string>

#include "sql/binder/binder.h"

namespace sluice::sql {

/// `query` must bind. The text binds to the same columns again.
Result<std::string> ExpandedQueryText(const Query& query, const BindContext& context);

}  // namespace sluice::sql
