#include "connectors/filesystem/sink/io_scope.h"

namespace sluice::connectors::filesystem {

IoScope::IoScope(IoPool* pool, std::function<void()> wake) : pool_(pool), wake_(std::move(wake)) {}

IoScope::~IoScope() {
  std::map<uint64_t, Item> dropped;
  std::unique_lock lock(shared_->mutex);
  shared_->ended = true;
  dropped.swap(shared_->waiting);
  shared_->idle.wait(lock, [this] { return shared_->running == 0; });
  const auto finished = std::move(shared_->finished);
  lock.unlock();  // What the functions hold is destroyed outside the lock.
}

void IoScope::Submit(std::function<void()> work, std::function<Status()> done) {
  uint64_t id = 0;
  {
    const std::lock_guard lock(shared_->mutex);
    id = shared_->next_id++;
    shared_->waiting.emplace(id, Item{std::move(work), std::move(done)});
  }
  ++in_flight_;
  pool_->Submit([shared = shared_, id, wake = wake_] {
    Run(*shared, id);
    if (wake) wake();
  });
}

void IoScope::Run(Shared& shared, uint64_t id) {
  Item item;
  {
    const std::lock_guard lock(shared.mutex);
    if (shared.ended) return;
    const auto it = shared.waiting.find(id);
    item = std::move(it->second);
    shared.waiting.erase(it);
    ++shared.running;
  }
  item.work();
  item.work = nullptr;  // Before the scope may end: it holds files and budget.
  const std::lock_guard lock(shared.mutex);
  shared.finished.push_back(std::move(item.done));
  item.done = nullptr;
  --shared.running;
  shared.idle.notify_all();
}

Status IoScope::Collect() {
  Status first;
  while (true) {
    std::function<Status()> done;
    {
      const std::lock_guard lock(shared_->mutex);
      if (shared_->finished.empty()) return first;
      done = std::move(shared_->finished.front());
      shared_->finished.pop_front();
    }
    --in_flight_;
    Status status = done();
    if (first.ok()) first = std::move(status);
  }
}

}  // namespace sluice::connectors::filesystem
