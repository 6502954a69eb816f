// Which values a condition leaves to each partition key, told by the condition alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "expr/expr.h"

namespace sluice::connectors::filesystem {

/// For each of `key_count` partition keys the texts of which it must be one where `predicate` (over
/// keys, by position) is true: from `k = 'text'`, `k IN (…)` and their OR. nullopt unless every key
/// has some. Only for keys that are texts: a number or a time has many spellings.
std::optional<std::vector<std::vector<std::string>>> EqualitiesOf(const expr::ExprPtr& predicate,
                                                                  size_t key_count);

}  // namespace sluice::connectors::filesystem
