#include "runtime/job.h"

#include <algorithm>
#include <thread>

#include "runtime/checkpoint/directory_lock.h"
#include "runtime/graph_rewrite.h"
#include "runtime/growing_blocks.h"
#include "runtime/job_master.h"
#include "runtime/thread_executor.h"

namespace sluice::runtime {
namespace {

class ThreadedJob final : public Job {
 public:
  ThreadedJob(JobGraph graph, JobSettings settings, const Clock* clock, JobListener* listener)
      : directory_(settings.checkpoints.durable_directory),
        memory_pool_(JobMemory()),
        budget_(settings.memory_limit_bytes > 0 ? settings.memory_limit_bytes
                                                : std::numeric_limits<int64_t>::max()),
        executor_(std::make_unique<ThreadExecutor>(settings.worker_threads, clock)),
        io_pool_(std::make_unique<ThreadIoPool>(
            std::max(8, 2 * static_cast<int>(std::thread::hardware_concurrency())))) {
    if (settings.random_seed == 0) settings.random_seed = Random::SystemSeed();
    JobMaster::Parts parts;
    parts.graph = std::move(graph);
    parts.world = {.clock = clock,
                   .executor = executor_.get(),
                   .io_pool = io_pool_.get(),
                   .memory_pool = &memory_pool_,
                   .budget = &budget_,
                   .metrics = &metrics_};
    parts.disk = &fs::RealDisk();
    parts.store = directory_.empty()
                      ? MakeMemoryCheckpointStore()
                      : MakeDiskCheckpointStore(directory_, parts.disk, /*guarded=*/true);
    parts.world.fence = parts.store->fence();
    parts.settings = std::move(settings);
    parts.listener = listener;
    parts.on_end = [this](Status status) {
      result_ = std::move(status);
      executor_->Quit();
    };
    master_ = std::make_shared<JobMaster>(std::move(parts));
    waker_ = executor_->Add(master_);
    master_->SetWaker(waker_);
  }

  ~ThreadedJob() override {
    // Threads first: they use everything else. I/O may ring into the executor, never the other way
    // round.
    io_pool_.reset();
    executor_.reset();
    master_.reset();
  }

  Status Run() override {
    std::unique_ptr<DirectoryLock> lock;
    if (!directory_.empty()) {
      SLUICE_ASSIGN_OR_RETURN(lock, DirectoryLock::Acquire(directory_));
    }
    waker_->Wake();
    executor_->Run();
    if (lock && result_.ok() && !resumable()) lock->ReleaseAndRemove();
    return result_;
  }

  void Stop() override { master_->Stop(); }
  void StopWithSavepoint(const std::string& directory, bool drain) override {
    master_->StopWithSavepoint(directory, drain);
  }
  Result<std::string> savepoint() const override { return master_->savepoint(); }
  void Cancel() override { master_->Cancel(); }
  bool resumable() const override { return !directory_.empty() && master_->stopped(); }
  Metrics& metrics() override { return metrics_; }

 private:
  const std::string directory_;
  arrow::ProxyMemoryPool memory_pool_;
  MemoryBudget budget_;
  Metrics metrics_;
  Status result_;
  std::unique_ptr<ThreadExecutor> executor_;
  std::unique_ptr<ThreadIoPool> io_pool_;
  std::shared_ptr<JobMaster> master_;
  std::shared_ptr<Waker> waker_;
};

}  // namespace

Result<std::unique_ptr<Job>> MakeJob(JobGraph graph, JobSettings settings, const Clock* clock,
                                     JobListener* listener) {
  SLUICE_RETURN_NOT_OK(CheckGraph(graph));
  return std::make_unique<ThreadedJob>(FuseForwardEdges(std::move(graph)), std::move(settings),
                                       clock, listener);
}

}  // namespace sluice::runtime
