#include "runtime/simulated_job.h"

#include "runtime/graph_rewrite.h"
#include "runtime/job_master.h"

namespace sluice::runtime {

SimulatedJob::SimulatedJob(VirtualClock* clock, const Options& options)
    : budget_(options.memory_limit_bytes), executor_(options.seed, clock, options.executor) {}

SimulatedJob::~SimulatedJob() = default;

Result<std::unique_ptr<SimulatedJob>> SimulatedJob::Make(JobGraph graph, JobSettings settings,
                                                         VirtualClock* clock, Options options) {
  SLUICE_RETURN_NOT_OK(CheckGraph(graph));
  std::unique_ptr<SimulatedJob> job(new SimulatedJob(clock, options));
  settings.random_seed = options.seed;
  JobMaster::Parts parts;
  parts.graph = FuseForwardEdges(std::move(graph));
  parts.settings = std::move(settings);
  parts.world = {.clock = clock,
                 .executor = &job->executor_,
                 .io_pool = &job->executor_.io_pool(),
                 .memory_pool = arrow::default_memory_pool(),
                 .budget = &job->budget_,
                 .metrics = &job->metrics_};
  parts.store = options.store ? std::move(options.store) : MakeMemoryCheckpointStore();
  parts.disk = options.disk;
  parts.listener = options.listener;
  parts.on_end = [raw = job.get()](Status status) { raw->result_ = std::move(status); };
  job->master_ = std::make_shared<JobMaster>(std::move(parts));
  const std::shared_ptr<Waker> waker = job->executor_.Add(job->master_);
  job->master_->SetWaker(waker);
  waker->Wake();
  return job;
}

bool SimulatedJob::RunOne() { return !result_ && executor_.RunOne(); }

Status SimulatedJob::Run(int64_t step_limit) {
  for (int64_t i = 0; i < step_limit && RunOne(); ++i) {
  }
  if (result_) return *result_;
  return Status::Internal("The simulated job has not ended after " + std::to_string(step_count()) +
                          " steps.");
}

void SimulatedJob::Stop() { master_->Stop(); }
void SimulatedJob::Cancel() { master_->Cancel(); }
bool SimulatedJob::stopped() const { return master_->stopped(); }

}  // namespace sluice::runtime
