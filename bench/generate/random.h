#pragma once

#include <cstdint>

namespace sluice::bench {

/// Random numbers of one row: a function of seed and row number alone, so that any part of a set
/// can be made again (splitmix64).
class RowRandom {
 public:
  RowRandom(uint64_t seed, uint64_t row)
      : state_(seed * 0x9E3779B97F4A7C15ULL ^ (row + 1) * 0xD1B54A32D192ED03ULL) {}

  uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15ULL;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

  /// Evenly from 0 to bound - 1, bound below 2^32.
  uint64_t Below(uint64_t bound) { return ((Next() >> 32) * bound) >> 32; }

  bool OneIn(uint64_t count) { return Below(count) == 0; }

 private:
  uint64_t state_;
};

}  // namespace sluice::bench
