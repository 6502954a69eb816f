// Tells the content of two files apart: 128 bits, for names and against damage, not against
// attackers.
#pragma once

#include <string>
#include <string_view>

namespace sluice::runtime {

/// 32 hexadecimal digits. Stable over releases: they are names of files in checkpoints. Several
/// GB/s, so that state of many megabytes may be recognised at every checkpoint.
std::string ContentHash(std::string_view bytes);

}  // namespace sluice::runtime
