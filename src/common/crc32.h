// CRC-32 as in zlib and gzip (polynomial 0x04C11DB7, reflected): the checksum of Parquet pages.
// Debian's zlib takes a nanosecond a byte, more than decompressing a page costs.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice {

/// The same as zlib's crc32(0, bytes).
uint32_t Crc32(std::string_view bytes);

}  // namespace sluice
