// CRC-32C (Castagnoli), RFC 3720 appendix B.4: the checksum of state files.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::runtime {

/// Checksum of `bytes`; pass the last result as `crc` to go on.
uint32_t Crc32c(std::string_view bytes, uint32_t crc = 0);

}  // namespace sluice::runtime
