// Helpers of the builder that are no part of its interface.
#pragma once

#include <string_view>
#include <vector>

#include "expr/builder.h"
#include "expr/function.h"

namespace sluice::expr::internal {

std::vector<Argument> ArgumentsOf(const std::vector<ExprPtr>& expressions);
/// `input` as `type` (nullability follows the input), which must be castable; an untyped NULL
/// becomes a typed one.
ExprPtr CoerceTo(ExprPtr input, const SqlType& type);
/// Types the call by the function's signature.
Result<ExprPtr> BuildCall(const ScalarFunction& function, std::vector<ExprPtr> arguments);
/// A call whose arguments already have the right types.
Result<ExprPtr> BuildOperator(std::string_view name, std::vector<ExprPtr> arguments,
                              const SqlType& type);
bool IsUntypedNull(const ExprPtr& expression);

}  // namespace sluice::expr::internal
