// The lists of functions, one an area. A new area is one line here and one in registry.cc.
#pragma once

#include <span>

#include "expr/function.h"

namespace sluice::expr {

std::span<const ScalarFunction> ComparisonOperators();
std::span<const ScalarFunction> LogicOperators();
std::span<const ScalarFunction> ArithmeticOperators();
std::span<const ScalarFunction> PatternOperators();
std::span<const ScalarFunction> NestedOperators();
std::span<const ScalarFunction> ConditionalFunctions();
std::span<const ScalarFunction> RoundingFunctions();
std::span<const ScalarFunction> MathFunctions();
std::span<const ScalarFunction> StringFunctions();
std::span<const ScalarFunction> StringSearchFunctions();
std::span<const ScalarFunction> StringCodeFunctions();
std::span<const ScalarFunction> HashFunctions();
std::span<const ScalarFunction> UrlFunctions();
std::span<const ScalarFunction> RegexFunctions();
std::span<const ScalarFunction> ClockFunctions();
std::span<const ScalarFunction> DateFormatFunctions();
std::span<const ScalarFunction> UnixTimeFunctions();
std::span<const ScalarFunction> ExtractFunctions();
std::span<const ScalarFunction> TimeArithmeticFunctions();
std::span<const ScalarFunction> ArrayFunctions();
std::span<const ScalarFunction> ArraySetFunctions();
std::span<const ScalarFunction> MapFunctions();
std::span<const ScalarFunction> JsonFunctions();
std::span<const ScalarFunction> JsonMakingFunctions();

}  // namespace sluice::expr
