// Randomness that can be replayed: every use takes a Random handed down, seeded once per job or per
// simulation.
#pragma once

#include <cstdint>
#include <string>

namespace sluice {

/// xoshiro256** (Blackman and Vigna): small, fast, good enough for data and schedules, not for
/// secrets.
class Random {
 public:
  explicit Random(uint64_t seed);

  uint64_t Next();
  /// Uniform in [0, bound); bound > 0.
  uint64_t Below(uint64_t bound);
  /// Uniform in [low, high], both included.
  int64_t Between(int64_t low, int64_t high);
  /// Uniform in [0, 1).
  double NextDouble();
  bool OneIn(uint64_t n) { return Below(n) == 0; }
  /// A random (version 4) UUID in lower-case text form.
  std::string Uuid();

  /// A seed from the operating system.
  static uint64_t SystemSeed();

 private:
  uint64_t state_[4];
};

}  // namespace sluice
