// Where the bits of a mask are: what is left to do when a vector comparison has looked at 64 bytes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace sluice::formats::text {

/// Writes `base` plus the number of each bit that is set, ascending; returns the end of what it
/// wrote. Four at a time, whether there are as many or not: the number of turns hardly varies. Up
/// to three places behind the end are written to. Always inlined, so that it is compiled for what
/// the caller's processor has.
inline __attribute__((always_inline)) uint32_t* PutSetBits(uint64_t mask, size_t base,
                                                           uint32_t* out) {
  uint32_t* const end = out + std::popcount(mask);
  while (mask != 0) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      *out++ = static_cast<uint32_t>(base) + static_cast<uint32_t>(std::countr_zero(mask));
      mask &= mask - 1;
    }
  }
  return end;
}

}  // namespace sluice::formats::text
