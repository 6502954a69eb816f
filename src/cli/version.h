// The version of the program.
#pragma once

namespace sluice::cli {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace sluice::cli
