// LIKE patterns of SHOW: '%' any text, '_' one character, a backslash takes the next character as
// it is.
#pragma once

#include <string_view>

namespace sluice::engine {

/// `ignore_case` is ILIKE; ASCII letters only.
bool MatchesPattern(std::string_view text, std::string_view pattern, bool ignore_case);

}  // namespace sluice::engine
