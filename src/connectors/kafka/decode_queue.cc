#include "connectors/kafka/decode_queue.h"

#include <algorithm>
#include <thread>

namespace sluice::connectors::kafka {
namespace {

/// Enough to keep every core at work while the task emits; each holds at most about 1 MiB of
/// messages.
int Capacity() {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return std::clamp(2 * cores, 4, 64);
}

}  // namespace

struct DecodeQueue::Item {
  Job job;
  int64_t counted_bytes = 0;  // Taken from the budget while messages are held.
  int64_t message_count = 0;
  int64_t message_bytes = 0;
  Status status;
  runtime::SourceBatch batch;
  DecodedMessages counts;
  std::atomic<bool> done{false};
};

/// What one worker at a time uses.
struct DecodeQueue::Worker {
  std::unique_ptr<RecordDecoder> decoder;
  Messages messages;  // Keeps its room from batch to batch.
};

/// What workers use: lives until the last of them is through.
struct DecodeQueue::Shared {
  std::shared_ptr<const ScanSetup> setup;
  arrow::MemoryPool* pool = nullptr;
  MemoryBudget* budget = nullptr;
  std::function<void()> wake;

  std::mutex mutex;
  std::condition_variable idle;
  int running = 0;
  std::vector<std::unique_ptr<Worker>> free_workers;

  Result<std::unique_ptr<Worker>> TakeWorker() {
    {
      const std::lock_guard lock(mutex);
      if (!free_workers.empty()) {
        std::unique_ptr<Worker> worker = std::move(free_workers.back());
        free_workers.pop_back();
        return worker;
      }
    }
    auto worker = std::make_unique<Worker>();
    SLUICE_ASSIGN_OR_RETURN(worker->decoder, RecordDecoder::Make(setup->table, setup->columns,
                                                                 setup->session_zone, pool));
    return worker;
  }

  Result<DecodedMessages> DecodeWith(Worker& worker, Item& item) const {
    Messages& messages = worker.messages;
    SLUICE_RETURN_NOT_OK(
        item.job.messages.ReadInto(worker.decoder->wanted_parts(), pool, &messages));
    item.message_count = static_cast<int64_t>(messages.count());
    item.message_bytes = messages.byte_size;
    return worker.decoder->Decode(item.job.id, messages);
  }

  Status Decode(Item& item) {
    SLUICE_ASSIGN_OR_RETURN(std::unique_ptr<Worker> worker, TakeWorker());
    Result<DecodedMessages> decoded = DecodeWith(*worker, item);
    worker->messages.Clear();
    {
      const std::lock_guard lock(mutex);
      free_workers.push_back(std::move(worker));
    }
    if (!decoded.ok()) return decoded.status();
    Batch rows = std::move(decoded->rows);
    item.counts = std::move(*decoded);
    item.job.messages.Clear();  // Before the transform: raw and final rows need not coexist.
    SLUICE_ASSIGN_OR_RETURN(item.batch, setup->options.transform(std::move(rows)));
    return {};
  }

  void Run(const std::shared_ptr<Item>& item) {
    item->status = Decode(*item);
    item->job.messages.Clear();
    if (budget != nullptr) budget->Return(item->counted_bytes);
    item->done.store(true, std::memory_order_release);
    wake();
    const std::lock_guard lock(mutex);
    --running;
    idle.notify_all();
  }
};

DecodeQueue::DecodeQueue(std::shared_ptr<const ScanSetup> setup, runtime::TaskContext* context)
    : capacity_(Capacity()), context_(context), shared_(std::make_shared<Shared>()) {
  shared_->setup = std::move(setup);
  shared_->pool =
      context->memory_pool != nullptr ? context->memory_pool : arrow::default_memory_pool();
  shared_->budget = context->budget;
  shared_->wake = context->wake ? context->wake : [] {};
}

DecodeQueue::~DecodeQueue() {
  std::unique_lock lock(shared_->mutex);
  shared_->idle.wait(lock, [&] { return shared_->running == 0; });
}

void DecodeQueue::Submit(Job job) {
  auto item = std::make_shared<Item>();
  item->counted_bytes = job.messages.uncounted_bytes();
  item->job = std::move(job);
  items_.push_back(item);
  if (item->job.messages.empty()) {
    item->done.store(true, std::memory_order_release);
    return;
  }
  if (shared_->budget != nullptr) shared_->budget->Take(item->counted_bytes);
  {
    const std::lock_guard lock(shared_->mutex);
    ++shared_->running;
  }
  const auto work = [shared = shared_, item] { shared->Run(item); };
  if (context_->compute_pool != nullptr) {
    context_->compute_pool->Submit(work);
  } else {
    work();
  }
}

bool DecodeQueue::NextIsDone() const {
  return !items_.empty() && items_.front()->done.load(std::memory_order_acquire);
}

Result<std::optional<DecodeQueue::Finished>> DecodeQueue::TakeNext() {
  if (!NextIsDone()) return std::optional<Finished>();
  const std::shared_ptr<Item> item = std::move(items_.front());
  items_.pop_front();
  if (!item->status.ok()) return item->status;
  return std::optional<Finished>(Finished{.split = item->job.split,
                                          .end_offset = item->job.end_offset,
                                          .last = item->job.last,
                                          .message_count = item->message_count,
                                          .message_bytes = item->message_bytes,
                                          .batch = std::move(item->batch),
                                          .counts = std::move(item->counts)});
}

}  // namespace sluice::connectors::kafka
