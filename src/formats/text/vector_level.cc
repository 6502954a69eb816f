#include "formats/text/vector_level.h"

namespace sluice::formats::text {

namespace {

VectorLevel FindBestVectorLevel() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
      !__builtin_cpu_supports("popcnt"))
    return VectorLevel::kBaseline;
  if (__builtin_cpu_supports("avx512bw")) return VectorLevel::kAvx512;
  if (__builtin_cpu_supports("avx2")) return VectorLevel::kAvx2;
#endif
  return VectorLevel::kBaseline;
}

}  // namespace

VectorLevel BestVectorLevel() {
  static const VectorLevel best = FindBestVectorLevel();
  return best;
}

std::vector<VectorLevel> UsableVectorLevels() {
  std::vector<VectorLevel> usable;
  for (const VectorLevel level :
       {VectorLevel::kBaseline, VectorLevel::kAvx2, VectorLevel::kAvx512}) {
    if (level <= BestVectorLevel()) usable.push_back(level);
  }
  return usable;
}

}  // namespace sluice::formats::text
