#include "common/crc32.h"

#include <isa-l/crc.h>

namespace sluice {

uint32_t Crc32(std::string_view bytes) {
  // The library only reads; its parameter is not const.
  return crc32_gzip_refl(0, reinterpret_cast<unsigned char*>(const_cast<char*>(bytes.data())),
                         bytes.size());
}

}  // namespace sluice
