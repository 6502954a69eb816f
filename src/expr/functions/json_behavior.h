// The clauses of JSON functions travel to the kernels as words.
#pragma once

#include <string_view>

#include "expr/builder.h"

namespace sluice::expr {

/// "NULL", "ERROR", "DEFAULT", …
std::string_view JsonBehaviorText(JsonBehavior behavior);
JsonBehavior JsonBehaviorOf(std::string_view text);

}  // namespace sluice::expr
