// Puts other expressions in the place of columns.
#pragma once

#include <functional>
#include <vector>

#include "expr/expr.h"

namespace sluice::expr {

/// `expression` with each column replaced by what `replacement` gives for it, which has the same
/// type. Subtrees without a change stay the same nodes. For other positions of the same columns
/// RemapColumns is enough.
ExprPtr ReplaceColumns(const ExprPtr& expression,
                       const std::function<ExprPtr(const ColumnExpr&)>& replacement);

/// The same, column i by replacements[i] (not null for the columns in use).
ExprPtr ReplaceColumns(const ExprPtr& expression, const std::vector<ExprPtr>& replacements);

}  // namespace sluice::expr
