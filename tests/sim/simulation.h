// Runs one seed: life after life over one disk that fails and forgets, and the oracle in between.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::sim {

struct Outcome {
  std::string problem;  // Empty: exactly once.
  std::string scenario;
  int64_t steps = 0;
  int64_t crashes = 0;
  int64_t restarts = 0;
  int64_t checkpoints = 0;
};

/// `verbose` prints each life to stderr.
/// The file sink with a source of its own: scenario.h.
Outcome RunSeed(uint64_t seed, bool verbose);
/// An INSERT in SQL over tables on the disk: statement.h.
Outcome RunStatementSeed(uint64_t seed, bool verbose);

}  // namespace sluice::sim
