// Which vector instructions loops over text may use. Programs are built for the least x86-64; loops
// that gain from more are compiled for each level and chosen when the program starts.
#pragma once

#include <cstdint>
#include <vector>

namespace sluice::formats::text {

enum class VectorLevel : uint8_t {
  kBaseline,  // SSE2, or what another machine has.
  kAvx2,      // With BMI and POPCNT.
  kAvx512,    // With BW, BMI and POPCNT.
};

#if defined(__x86_64__)
#define SLUICE_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define SLUICE_TARGET_AVX512 __attribute__((target("avx512f,avx512bw,bmi,bmi2,popcnt")))
#endif

/// The best that this machine has.
VectorLevel BestVectorLevel();
/// All that it has, for tests: what is chosen elsewhere is run here too.
std::vector<VectorLevel> UsableVectorLevels();

}  // namespace sluice::formats::text
