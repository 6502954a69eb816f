// What one seed runs: the table, the shape of the job, and what goes wrong in each of its lives.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/options.h"
#include "common/random.h"
#include "fs/faulty/faulty_file_systems.h"
#include "runtime/job.h"
#include "runtime/seeded_executor.h"
#include "sim_source.h"

namespace sluice::sim {

enum class Ending { kKill, kPowerLoss, kStop, kNone };

/// One start of the process, from the state of the last to its end.
struct Life {
  uint64_t seed = 0;
  Ending ending = Ending::kNone;
  int64_t ends_at_step = 0;
  /// Ends when this crash point is reached for the n-th time instead; empty: by step.
  std::string crash_point;
  int64_t crash_visit = 1;
  fs::FaultRates faults;
  /// Some operator fails after so many batches, once or again; 0: never.
  int64_t fail_every_batches = 0;
  int failures = 0;
  runtime::SeededExecutorOptions executor;
  int readers = 1;
  int parallelism = 1;
  runtime::Exchange exchange = runtime::Exchange::kForward;
};

/// Checkpoints, restarts and channels of a job.
void DrawSettings(Random& random, runtime::JobSettings* settings);
/// Up to four lives with trouble and one without.
std::vector<Life> DrawLives(Random& random, runtime::JobSettings* settings);
std::string ToString(const Life& life);
/// An operator that passes rows on and fails when `life` says so.
runtime::OperatorSpec SaboteurOf(const Life& life);

struct Scenario {
  SourceShape source;
  enum class Form { kCsv, kJson, kParquet };
  Form form = Form::kCsv;
  bool partitioned = false;
  bool event_time_commit = false;
  OptionMap table_options;
  runtime::JobSettings settings;
  std::vector<Life> lives;  // The last one is left in peace.

  /// Everything follows from the seed.
  static Scenario Draw(uint64_t seed);
  std::string ToString() const;
};

inline constexpr const char* kTableRoot = "/data/t";
inline constexpr const char* kStateFolder = "/state/job";

/// The job of one life: source, an operator that may fail, the real file sink.
Result<runtime::JobGraph> MakeGraph(const Scenario& scenario, const Life& life,
                                    fs::FileSystems* file_systems, const Clock* clock);

}  // namespace sluice::sim
