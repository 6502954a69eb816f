// Counters that sources keep for each of their splits, set when a reader takes its snapshot. What
// follows the prefix is the split: "orders-0".
#pragma once

#include <string_view>

namespace sluice::connectors {

/// The position behind the last row of the checkpoint.
inline constexpr std::string_view kSplitPositionPrefix = "split_position:";
/// The reader's watermark in ms for the split that holds it back, kMaxWatermarkMs for the others.
inline constexpr std::string_view kSplitWatermarkPrefix = "split_watermark_ms:";

}  // namespace sluice::connectors
