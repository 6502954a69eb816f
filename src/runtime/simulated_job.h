// A whole job on the calling thread, in an order drawn from a seed: what MakeJob is to production,
// this is to tests.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "common/clock.h"
#include "common/memory_budget.h"
#include "runtime/checkpoint/checkpoint_store.h"
#include "runtime/job.h"
#include "runtime/seeded_executor.h"

namespace sluice::runtime {

class JobMaster;

/// Dropping it before its end is a crash: nothing of it runs any more.
class SimulatedJob {
 public:
  struct Options {
    uint64_t seed = 1;
    SeededExecutorOptions executor;
    int64_t memory_limit_bytes = 64 << 20;
    JobListener* listener = nullptr;
    /// Null: in memory.
    std::unique_ptr<CheckpointStore> store;
    fs::Disk* disk = nullptr;
  };
  /// `clock` must outlive the job. Fails as MakeJob does.
  static Result<std::unique_ptr<SimulatedJob>> Make(JobGraph graph, JobSettings settings,
                                                    VirtualClock* clock, Options options);
  ~SimulatedJob();

  /// Does one thing; false when the job has ended or nothing will ever happen again.
  bool RunOne();
  /// Runs to the end; kInternal when `step_limit` steps did not suffice or nothing is left to do
  /// before the end.
  Status Run(int64_t step_limit = 5'000'000);
  void Stop();
  void Cancel();
  bool stopped() const;
  /// Set when the job has ended.
  const std::optional<Status>& result() const { return result_; }
  Metrics& metrics() { return metrics_; }
  MemoryBudget& budget() { return budget_; }
  int64_t step_count() const { return executor_.step_count(); }

 private:
  SimulatedJob(VirtualClock* clock, const Options& options);

  Metrics metrics_;
  MemoryBudget budget_;
  std::optional<Status> result_;
  SeededExecutor executor_;
  std::shared_ptr<JobMaster> master_;
};

}  // namespace sluice::runtime
