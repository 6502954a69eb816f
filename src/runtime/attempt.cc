#include "runtime/attempt.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "common/random.h"
#include "common/text.h"
#include "runtime/graph_rewrite.h"

namespace sluice::runtime {
namespace {

// Channels of one task share this much of the job's channel bytes, and no channel gets less: a hash
// exchange has many of them.
constexpr int64_t kLeastChannelBytes = 256 << 10;

// Calls `then` when it was called `count` times.
std::function<void()> AfterCalls(int count, std::function<void()> then) {
  return [left = std::make_shared<std::atomic<int>>(count), then = std::move(then)] {
    if (left->fetch_sub(1) == 1) then();
  };
}

}  // namespace

Attempt::Attempt(Parts parts)
    : parts_(std::move(parts)),
      restored_id_(parts_.restored ? parts_.restored->id : 0),
      only_publishes_(parts_.restored != nullptr && parts_.restored->final),
      io_pool_(parts_.world.io_pool, parts_.on_quiet = AfterCalls(2, std::move(parts_.on_quiet))),
      compute_pool_(&parts_.world.executor->compute_pool(), parts_.on_quiet) {}

Attempt::~Attempt() {
  for (const auto& metrics : task_metrics_) metrics->End();
}

Status Attempt::Open() {
  SLUICE_RETURN_NOT_OK(CheckClaims());
  const JobGraph& graph = *parts_.graph;
  std::vector<int> reader_counts(graph.vertices.size());
  source_of_vertex_.resize(graph.vertices.size());
  for (size_t v = 0; v < graph.vertices.size(); ++v) {
    if (!graph.vertices[v].make_source) continue;
    if (only_publishes()) {
      reader_counts[v] = graph.vertices[v].parallelism;
    } else {
      SLUICE_RETURN_NOT_OK(OpenSource(static_cast<int>(v), &reader_counts));
    }
  }
  const JobGraph split = SplitSources(graph, reader_counts);
  return MakeTasks(split, source_of_vertex_);
}

Status Attempt::CheckClaims() const {
  if (parts_.restored == nullptr || parts_.settings->checkpoints.allow_unclaimed_state) return {};
  std::set<std::string> known;
  for (const Vertex& vertex : parts_.graph->vertices) {
    known.insert(vertex.source_id);
    for (const OperatorSpec& spec : vertex.chain) known.insert(spec.id);
  }
  std::vector<std::string> unclaimed;
  for (const auto& [id, subtasks] : parts_.restored->operators) {
    if (!known.contains(id)) unclaimed.push_back(id);
  }
  if (unclaimed.empty()) return {};
  return Status::InvalidArgument(
      "Checkpoint " + std::to_string(parts_.restored->id) +
      " holds state that no part of this statement takes: " + Join(unclaimed, ", ") +
      ". Nothing was started. Bring the removed tables back, use "
      "--ignore-unclaimed ('execution.state-recovery.ignore-unclaimed-state' = 'true') to drop "
      "their state, or start "
      "over with --fresh.");
}

Status Attempt::OpenSource(int vertex_index, std::vector<int>* reader_counts) {
  const auto v = static_cast<size_t>(vertex_index);
  const Vertex& vertex = parts_.graph->vertices[v];
  SLUICE_ASSIGN_OR_RETURN(std::shared_ptr<Source> source, vertex.make_source());
  SourceContext context;
  context.job_id = parts_.job_id;
  context.operator_id = vertex.source_id;
  context.parallelism = vertex.parallelism;
  context.clock = parts_.world.clock;
  context.io_pool = &io_pool_;
  context.metrics = parts_.world.metrics;
  context.ending = parts_.ending;
  context.durable_checkpoints = !parts_.settings->checkpoints.durable_directory.empty();
  std::optional<RestoredSourceState> restored;
  if (parts_.restored) {
    const auto found = parts_.restored->operators.find(vertex.source_id);
    if (found != parts_.restored->operators.end()) {
      restored.emplace();
      restored->checkpoint_id = parts_.restored->id;
      for (const auto& [subtask, fields] : found->second) {
        StateReader reader(vertex.source_id, fields);
        if (subtask == kCoordinatorSubtask) {
          restored->coordinator = std::move(reader);
        } else {
          restored->readers.push_back(std::move(reader));
        }
      }
    }
  }
  SLUICE_RETURN_NOT_OK(source->Open(context, restored ? &*restored : nullptr));
  const int readers = std::min(source->reader_count(), vertex.parallelism);
  (*reader_counts)[v] = readers;
  source_of_vertex_[v] = source;
  sources_.push_back({vertex.source_id, std::move(source), readers});
  return {};
}

TaskContext Attempt::MakeContext(const std::string& operator_id, int subtask, int parallelism,
                                 Metrics* metrics) {
  TaskContext context;
  context.job_id = parts_.job_id;
  context.attempt_id = parts_.id;
  context.begun_before = parts_.begun_before;
  context.fence = parts_.world.fence;
  context.operator_id = operator_id;
  context.subtask = subtask;
  context.parallelism = parallelism;
  context.clock = parts_.world.clock;
  context.io_pool = &io_pool_;
  context.compute_pool = &compute_pool_;
  context.memory_pool = parts_.world.memory_pool;
  context.budget = parts_.world.budget;
  context.metrics = metrics;
  context.request_checkpoint = parts_.request_checkpoint;
  const uint64_t place = std::hash<std::string>{}(operator_id) + static_cast<uint64_t>(subtask);
  context.random_seed = Random(parts_.random_seed ^ place).Next();
  return context;
}

Result<std::vector<ChainLink>> Attempt::MakeChain(const Vertex& vertex, int subtask,
                                                  Metrics* metrics) {
  std::vector<ChainLink> chain;
  for (const OperatorSpec& spec : vertex.chain) {
    SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<Operator> op, spec.make(subtask));
    chain.push_back({spec.id, spec.name, std::move(op),
                     MakeContext(spec.id, subtask, vertex.parallelism, metrics)});
  }
  return chain;
}

Status Attempt::MakeTasks(const JobGraph& graph,
                          const std::vector<std::shared_ptr<Source>>& sources) {
  std::vector<std::vector<TaskParts>> parts(graph.vertices.size());
  int task_index = 0;
  for (size_t v = 0; v < graph.vertices.size(); ++v) {
    const Vertex& vertex = graph.vertices[v];
    for (int subtask = 0; subtask < vertex.parallelism; ++subtask) {
      TaskParts task;
      task.task_index = task_index++;
      task.name = vertex.name + " (" + std::to_string(subtask + 1) + "/" +
                  std::to_string(vertex.parallelism) + ")";
      task.clock = parts_.world.clock;
      task.restored = parts_.restored;
      task.source_id = vertex.source_id;
      task.metrics = task_metrics_.emplace_back(std::make_shared<Metrics>(parts_.world.metrics));
      task.reader_context =
          MakeContext(vertex.source_id, subtask, vertex.parallelism, task.metrics.get());
      const bool reads = v < sources.size() && sources[v] != nullptr;
      // A source without splits has no reader: its task ends at once.
      if (reads && subtask < sources[v]->reader_count()) {
        SLUICE_ASSIGN_OR_RETURN(task.reader, sources[v]->MakeReader(subtask));
      }
      SLUICE_ASSIGN_OR_RETURN(task.chain, MakeChain(vertex, subtask, task.metrics.get()));
      parts[v].push_back(std::move(task));
    }
  }
  Connect(graph, &parts);
  for (std::vector<TaskParts>& vertex : parts) {
    for (TaskParts& task : vertex) {
      tasks_.push_back(std::make_shared<Task>(std::move(task), parts_.events));
    }
  }
  return {};
}

void Attempt::Connect(const JobGraph& graph, std::vector<std::vector<TaskParts>>* tasks) {
  for (const Edge& edge : graph.edges) {
    std::vector<TaskParts>& from = (*tasks)[static_cast<size_t>(edge.from)];
    std::vector<TaskParts>& to = (*tasks)[static_cast<size_t>(edge.to)];
    for (size_t sender = 0; sender < from.size(); ++sender) {
      std::vector<std::shared_ptr<Channel>> channels;
      size_t first = 0;
      size_t count = to.size();
      if (edge.exchange == Exchange::kForward) {
        first = sender;
        count = 1;
      } else if (edge.exchange == Exchange::kGather) {
        count = 1;
      }
      const int64_t capacity = std::max(
          parts_.settings->channel_bytes / static_cast<int64_t>(count), kLeastChannelBytes);
      for (size_t receiver = first; receiver < first + count; ++receiver) {
        channels.push_back(std::make_shared<Channel>(capacity));
        to[receiver].inputs.push_back({channels.back(), edge.input_index});
      }
      from[sender].outputs.push_back(MakeExchangeWriter(
          edge.exchange, edge.key_columns, std::move(channels), parts_.world.memory_pool));
    }
  }
}

void Attempt::Start() {
  std::vector<std::shared_ptr<Waker>> wakers;
  for (const auto& task : tasks_) wakers.push_back(parts_.world.executor->Add(task));
  // All bells are hung before the first task runs and rings one.
  for (size_t i = 0; i < tasks_.size(); ++i) tasks_[i]->SetWaker(wakers[i]);
  for (const auto& waker : wakers) waker->Wake();
  parts_.restored.reset();  // The tasks let go of it when each has taken what is his.
}

void Attempt::Cancel() {
  for (const auto& task : tasks_) task->Cancel();
  io_pool_.Cancel();
  compute_pool_.Cancel();
}

std::vector<std::string> Attempt::StateMapping() const {
  if (parts_.restored == nullptr) return {};
  std::map<std::string, int> parallelism_of;
  for (const Vertex& vertex : parts_.graph->vertices) {
    if (vertex.make_source) parallelism_of[vertex.source_id] = vertex.parallelism;
    for (const OperatorSpec& spec : vertex.chain) {
      if (!spec.id.empty()) parallelism_of[spec.id] = vertex.parallelism;
    }
  }
  std::vector<std::string> lines;
  for (const auto& [id, subtasks] : parts_.restored->operators) {
    const auto claimed = parallelism_of.find(id);
    const auto old_count = subtasks.size() - subtasks.count(kCoordinatorSubtask);
    lines.push_back(claimed == parallelism_of.end()
                        ? id + ": dropped, no part of this statement takes it"
                        : id + ": state of " + std::to_string(old_count) + " subtasks goes to " +
                              std::to_string(claimed->second));
  }
  for (const auto& [id, parallelism] : parallelism_of) {
    // Below a sink stand the stateless steps of its query too ("sink:t/calc").
    const bool keeps_state =
        id.starts_with("source:") ||
        (id.starts_with("sink:") && (id.ends_with(":writer") || id.ends_with(":committer")));
    if (keeps_state && !parts_.restored->operators.contains(id)) {
      lines.push_back(id + ": new, begins without state");
    }
  }
  return lines;
}

void Attempt::EndSources() {
  for (const auto& task : tasks_) {
    if (task->is_source()) task->EndSource();
  }
}

void Attempt::TriggerCheckpoint(const Barrier& barrier) {
  for (const auto& task : tasks_) {
    if (task->is_source()) task->TriggerCheckpoint(barrier);
  }
}

void Attempt::NotifyComplete(CheckpointId id, bool last) {
  for (const auto& task : tasks_) task->NotifyComplete(id, last);
}

}  // namespace sluice::runtime
