// All scalar functions, in explicit lists.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "expr/function.h"

namespace sluice::expr {

/// The function of that name in any case, null when there is none. Operators are found by their
/// text ("+", "AND", "IS NULL").
const ScalarFunction* FindFunction(std::string_view name);

/// Every function and operator, sorted by name.
std::span<const ScalarFunction* const> AllFunctions();

/// "No match found for function signature foo(<NUMERIC>)" and what to use instead: Flink's name for
/// LENGTH, NVL and the like, else the nearest known name.
Status UnknownFunction(std::string_view name, std::span<const SqlType> argument_types);

/// Names of the aggregate functions (aggregate.h), which FindFunction does not know.
std::span<const std::string_view> AggregateFunctionNames();

}  // namespace sluice::expr
