// "Did you mean …?": the known name nearest to one the user wrote.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Returns the candidate with the smallest edit distance (case-insensitive), if it is near enough
/// to be a slip of the pen: at most a third of the length, and never a wholly different word.
std::optional<std::string> NearestName(std::string_view written,
                                       std::span<const std::string> known);

/// " Did you mean 'x'?" or "" when nothing is near.
std::string DidYouMean(std::string_view written, std::span<const std::string> known);

}  // namespace sluice
