// One attempt of a job: its sources, tasks and channels, from opening to the last task's end.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/memory_budget.h"
#include "runtime/checkpoint/coordinator.h"
#include "runtime/job.h"
#include "runtime/scoped_io_pool.h"
#include "runtime/task.h"

namespace sluice::runtime {

/// What all attempts of a job share. Everything outlives the job's master.
struct JobWorld {
  const Clock* clock = nullptr;
  Executor* executor = nullptr;
  IoPool* io_pool = nullptr;
  arrow::MemoryPool* memory_pool = nullptr;
  MemoryBudget* budget = nullptr;
  Metrics* metrics = nullptr;
  const Fence* fence = nullptr;  // May be null.
};

class Attempt {
 public:
  struct Parts {
    const JobGraph* graph = nullptr;  // Fused; outlives the attempt.
    const JobSettings* settings = nullptr;
    JobWorld world;
    std::string id;
    std::string job_id;
    bool begun_before = false;
    uint64_t random_seed = 0;
    std::shared_ptr<const CheckpointData> restored;  // Null on a fresh start.
    TaskEvents* events = nullptr;
    const std::atomic<bool>* ending = nullptr;  // SourceContext::ending.
    std::function<void()> request_checkpoint;   // See TaskContext.
    std::function<void()> on_quiet;             // All I/O and compute work is over, after Cancel.
  };
  explicit Attempt(Parts parts);
  /// Its counts become the job's.
  ~Attempt();

  /// Opens the sources and makes the tasks. Blocking. Skips the sources when the restored
  /// checkpoint is the final one.
  Status Open();
  /// Hands the tasks to the executor.
  void Start();
  /// Ends all tasks and drops I/O that has not begun.
  void Cancel();

  /// What becomes of each operator's state in the restored checkpoint, one line each; empty on a
  /// fresh start.
  std::vector<std::string> StateMapping() const;

  /// The sources count as ended after what they have emitted.
  void EndSources();
  void TriggerCheckpoint(const Barrier& barrier);
  void NotifyComplete(CheckpointId id, bool last);

  int task_count() const { return static_cast<int>(tasks_.size()); }
  const std::vector<SourceHandle>& sources() const { return sources_; }
  CheckpointId restored_id() const { return restored_id_; }
  bool only_publishes() const { return only_publishes_; }

 private:
  Status CheckClaims() const;
  Status OpenSource(int vertex_index, std::vector<int>* reader_counts);
  Status MakeTasks(const JobGraph& graph, const std::vector<std::shared_ptr<Source>>& sources);
  Result<std::vector<ChainLink>> MakeChain(const Vertex& vertex, int subtask, Metrics* metrics);
  TaskContext MakeContext(const std::string& operator_id, int subtask, int parallelism,
                          Metrics* metrics);
  void Connect(const JobGraph& graph, std::vector<std::vector<TaskParts>>* tasks);

  Parts parts_;  // `restored` until the start.
  const CheckpointId restored_id_;
  const bool only_publishes_;
  ScopedIoPool io_pool_;
  ScopedIoPool compute_pool_;
  std::vector<SourceHandle> sources_;
  std::vector<std::shared_ptr<Source>> source_of_vertex_;
  std::vector<std::shared_ptr<Metrics>> task_metrics_;
  std::vector<std::shared_ptr<Task>> tasks_;
};

}  // namespace sluice::runtime
