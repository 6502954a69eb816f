// Seeded simulation of whole jobs: `tests_sim SEED` runs one seed and tells what happens,
// `tests_sim --seeds N [--from SEED]` many. With `--statements` in front: INSERTs in SQL.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "common/log.h"
#include "simulation.h"

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // A run that is cut off has told what it found.
  uint64_t first = 1;
  uint64_t count = 500;
  bool verbose = false;
  auto run = &sluice::sim::RunSeed;
  std::string mode;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const char* value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (argument == "--statements") {
      run = &sluice::sim::RunStatementSeed;
      mode = "--statements ";
    } else if (argument == "--seeds" && value != nullptr) {
      count = std::strtoull(argv[++i], nullptr, 10);
    } else if (argument == "--from" && value != nullptr) {
      first = std::strtoull(argv[++i], nullptr, 10);
    } else if (!argument.empty() && argument[0] >= '0' && argument[0] <= '9') {
      first = std::strtoull(argv[i], nullptr, 10);
      count = 1;
      verbose = true;
    } else {
      std::fprintf(stderr, "Usage: sim [--statements] [SEED | --seeds N [--from SEED]]\n");
      return 2;
    }
  }
  if (!verbose) sluice::SetLogLevel(sluice::LogLevel::kError);
  sluice::sim::Outcome total;
  uint64_t failed = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const sluice::sim::Outcome outcome = run(seed, verbose);
    total.steps += outcome.steps;
    total.crashes += outcome.crashes;
    total.restarts += outcome.restarts;
    total.checkpoints += outcome.checkpoints;
    if (outcome.problem.empty()) continue;
    ++failed;
    std::printf("seed %llu: %s\n  replay: ./dev sim %s%llu\n",
                static_cast<unsigned long long>(seed), outcome.problem.c_str(), mode.c_str(),
                static_cast<unsigned long long>(seed));
  }
  std::printf(
      "%llu seeds, %llu failed; %lld steps, %lld checkpoints, %lld restarts, %lld crashes\n",
      static_cast<unsigned long long>(count), static_cast<unsigned long long>(failed),
      static_cast<long long>(total.steps), static_cast<long long>(total.checkpoints),
      static_cast<long long>(total.restarts), static_cast<long long>(total.crashes));
  return failed == 0 ? 0 : 1;
}
