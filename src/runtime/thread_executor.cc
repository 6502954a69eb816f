#include "runtime/thread_executor.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <queue>

#include "runtime/clock_watch.h"

namespace sluice::runtime {
namespace {

constexpr int64_t kNoTimer = std::numeric_limits<int64_t>::max();
// A worker looks at the clock at least this often while timers are pending: the wall clock may be
// set.
constexpr int64_t kLongestSleepMillis = 1'000;

}  // namespace

struct ThreadExecutor::Core : std::enable_shared_from_this<Core> {
  struct Entry;
  struct Timer {
    int64_t at_ms;
    std::weak_ptr<Entry> entry;
    bool operator>(const Timer& other) const { return at_ms > other.at_ms; }
  };
  enum class State { kIdle, kReady, kRunning, kRunningAndRung, kDone };

  struct Entry final : Waker, std::enable_shared_from_this<Entry> {
    void Wake() override {
      if (const std::shared_ptr<Core> owner = core.lock()) owner->Ring(shared_from_this());
    }
    void WakeAt(int64_t at_ms) override {
      if (const std::shared_ptr<Core> owner = core.lock())
        owner->SetTimer(shared_from_this(), at_ms);
    }

    std::weak_ptr<Core> core;
    std::shared_ptr<Actor> actor;  // Guarded by Core::mutex, like all that follows.
    State state = State::kIdle;
    int64_t timer_ms = kNoTimer;
  };

  struct ComputePool final : IoPool {
    void Submit(std::function<void()> work) override {
      const std::lock_guard lock(core->mutex);
      core->compute.push_back(std::move(work));
      core->CallWorker();
    }
    Core* core = nullptr;
  };

  Core(int worker_count, const Clock* clock_in)
      : worker_limit(std::max(worker_count, 1)), clock(clock_in) {
    pool.core = this;
  }

  void Ring(const std::shared_ptr<Entry>& entry) {
    const std::lock_guard lock(mutex);
    RingLocked(entry);
  }

  void RingLocked(const std::shared_ptr<Entry>& entry) {
    if (entry->state == State::kIdle) {
      entry->state = State::kReady;
      ready.push_back(entry);
      CallWorker();
    } else if (entry->state == State::kRunning) {
      entry->state = State::kRunningAndRung;
    }
  }

  void SetTimer(const std::shared_ptr<Entry>& entry, int64_t at_ms) {
    const std::lock_guard lock(mutex);
    if (entry->state == State::kDone || at_ms >= entry->timer_ms) return;
    entry->timer_ms = at_ms;
    const bool first = timers.empty() || at_ms < timers.top().at_ms;
    timers.push({at_ms, entry});
    if (first) bell.notify_one();  // A sleeper must not sleep past it.
  }

  // Wakes a sleeping worker, or starts one more when all are busy.
  void CallWorker() {
    if (sleepers > 0) {
      bell.notify_one();
      return;
    }
    const int worker_count = static_cast<int>(threads.size()) + 1;
    if (running && !quitting && worker_count < worker_limit && busy == worker_count) {
      threads.emplace_back([self = shared_from_this()] { self->Work(); });
    }
  }

  void FireTimers(int64_t now) {
    // Everybody looks at the clock again: what was to come soon may be days away.
    if (clock_watch.SetBackBy(now) > 0) now = kNoTimer;
    while (!timers.empty() && timers.top().at_ms <= now) {
      const std::shared_ptr<Entry> entry = timers.top().entry.lock();
      const int64_t at_ms = timers.top().at_ms;
      timers.pop();
      if (entry == nullptr || entry->timer_ms != at_ms) continue;  // An earlier one took its place.
      entry->timer_ms = kNoTimer;
      RingLocked(entry);
    }
  }

  void Sleep(std::unique_lock<std::mutex>& lock) {
    ++sleepers;
    if (timers.empty()) {
      bell.wait(lock);
    } else {
      const int64_t wait_ms = timers.top().at_ms - clock->NowMillis();
      bell.wait_for(
          lock, std::chrono::milliseconds(std::clamp<int64_t>(wait_ms, 1, kLongestSleepMillis)));
    }
    --sleepers;
  }

  void Work() {
    std::unique_lock lock(mutex);
    while (!quitting) {
      if (!timers.empty()) FireTimers(clock->NowMillis());
      if (!compute.empty()) {
        std::function<void()> work = std::move(compute.front());
        compute.pop_front();
        ++busy;
        lock.unlock();
        work();
        work = nullptr;
        lock.lock();
        --busy;
      } else if (!ready.empty()) {
        StepOne(lock);
      } else {
        Sleep(lock);
      }
    }
  }

  void StepOne(std::unique_lock<std::mutex>& lock) {
    const std::shared_ptr<Entry> entry = std::move(ready.front());
    ready.pop_front();
    entry->state = State::kRunning;
    std::shared_ptr<Actor> actor = entry->actor;
    ++busy;
    lock.unlock();
    const StepResult result = actor->Step();
    lock.lock();
    --busy;
    if (result == StepResult::kDone) {
      entry->state = State::kDone;
      entry->actor.reset();
      std::erase(entries, entry);
      lock.unlock();
      actor.reset();  // Its destructor may take long or ring bells.
      lock.lock();
    } else if (result == StepResult::kProgress || entry->state == State::kRunningAndRung) {
      entry->state = State::kReady;
      ready.push_back(entry);
    } else {
      entry->state = State::kIdle;
    }
  }

  const int worker_limit;
  const Clock* const clock;
  ClockWatch clock_watch;  // Guarded by mutex.
  ComputePool pool;
  std::mutex mutex;
  std::condition_variable bell;
  std::deque<std::shared_ptr<Entry>> ready;
  std::deque<std::function<void()>> compute;
  std::vector<std::shared_ptr<Entry>> entries;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers;
  std::vector<std::thread> threads;
  int sleepers = 0;
  int busy = 0;  // Workers that run something right now.
  bool running = false;
  bool quitting = false;
};

ThreadExecutor::ThreadExecutor(int worker_count, const Clock* clock)
    : core_(std::make_shared<Core>(worker_count, clock)) {}

ThreadExecutor::~ThreadExecutor() {
  Quit();
  for (std::thread& thread : core_->threads) thread.join();
  std::vector<std::shared_ptr<Actor>> actors;
  std::deque<std::function<void()>> compute;
  {
    const std::lock_guard lock(core_->mutex);
    for (const auto& entry : core_->entries) {
      entry->state = Core::State::kDone;
      actors.push_back(std::move(entry->actor));  // Actors hold their own wakers: cut the circle.
    }
    core_->entries.clear();
    core_->ready.clear();
    compute.swap(core_->compute);
  }
}

std::shared_ptr<Waker> ThreadExecutor::Add(std::shared_ptr<Actor> actor) {
  auto entry = std::make_shared<Core::Entry>();
  entry->core = core_;
  entry->actor = std::move(actor);
  const std::lock_guard lock(core_->mutex);
  core_->entries.push_back(entry);
  return entry;
}

IoPool& ThreadExecutor::compute_pool() { return core_->pool; }

void ThreadExecutor::Run() {
  {
    const std::lock_guard lock(core_->mutex);
    core_->running = true;
  }
  core_->Work();
}

void ThreadExecutor::Quit() {
  {
    const std::lock_guard lock(core_->mutex);
    core_->quitting = true;
  }
  core_->bell.notify_all();
}

}  // namespace sluice::runtime
