#include "runtime/seeded_executor.h"

#include <algorithm>
#include <limits>

namespace sluice::runtime {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

}  // namespace

struct SeededExecutor::Core : std::enable_shared_from_this<Core> {
  struct Entry final : Waker, std::enable_shared_from_this<Entry> {
    void Wake() override { rung = true; }
    void WakeAt(int64_t at_ms) override { timer_ms = std::min(timer_ms, at_ms); }

    std::shared_ptr<Actor> actor;
    bool rung = false;
    int64_t timer_ms = kNever;
  };
  struct Job {
    int64_t due_ms;
    std::function<void()> work;
  };
  struct Pool final : IoPool {
    void Submit(std::function<void()> work) override { core->Submit(std::move(work), compute); }
    Core* core = nullptr;
    bool compute = false;
  };

  Core(uint64_t seed, VirtualClock* clock_in, SeededExecutorOptions options_in)
      : random(seed), clock(clock_in), options(options_in) {
    io.core = this;
    compute.core = this;
    compute.compute = true;
  }

  void Submit(std::function<void()> work, bool at_once) {
    int64_t delay_ms = 0;
    if (!at_once) {
      delay_ms = options.slow_io_one_in > 0 && random.OneIn(options.slow_io_one_in)
                     ? options.slow_io_ms
                     : random.Between(0, options.io_delay_ms_max);
    }
    jobs.push_back({clock->NowMillis() + delay_ms, std::move(work)});
  }

  // Time of the next thing that waits for the clock; kNever when there is none.
  int64_t NextTime() const {
    int64_t next = kNever;
    for (const auto& entry : entries) next = std::min(next, entry->timer_ms);
    for (const Job& job : jobs) next = std::min(next, job.due_ms);
    return next;
  }

  bool RunOne() {
    ++step_count;
    int64_t now = clock->NowMillis();
    choices.clear();
    Collect(now);
    if (choices.empty()) {
      const int64_t next = NextTime();
      if (next == kNever) return false;
      if (next > now) clock->AdvanceMillis(next - now);
      Collect(clock->NowMillis());
    } else if (random.OneIn(16)) {
      clock->AdvanceMillis(random.Between(0, 3));  // Work takes time.
    }
    const size_t choice = choices[random.Below(choices.size())];
    if (choice < entries.size()) {
      StepActor(entries[choice]);
    } else {
      const auto job = jobs.begin() + static_cast<std::ptrdiff_t>(choice - entries.size());
      const std::function<void()> work = std::move(job->work);
      jobs.erase(job);
      work();
    }
    return true;
  }

  // What can run now: indices of entries, then of jobs.
  void Collect(int64_t now) {
    for (size_t i = 0; i < entries.size(); ++i) {
      Entry& entry = *entries[i];
      if (entry.timer_ms <= now) {
        entry.timer_ms = kNever;
        entry.rung = true;
      }
      if (entry.rung) choices.push_back(i);
    }
    for (size_t i = 0; i < jobs.size(); ++i) {
      if (jobs[i].due_ms <= now) choices.push_back(entries.size() + i);
    }
  }

  void StepActor(const std::shared_ptr<Entry>& entry_ref) {
    const std::shared_ptr<Entry> entry = entry_ref;  // The step may add entries.
    entry->rung = false;
    const std::shared_ptr<Actor> actor = entry->actor;
    const StepResult result = actor->Step();
    if (result == StepResult::kProgress) entry->rung = true;
    if (result == StepResult::kDone) {
      entry->actor.reset();  // Actors hold their own wakers: cut the circle.
      std::erase(entries, entry);
    }
  }

  Random random;
  VirtualClock* const clock;
  const SeededExecutorOptions options;
  Pool io;
  Pool compute;
  std::vector<std::shared_ptr<Entry>> entries;
  std::vector<Job> jobs;
  std::vector<size_t> choices;
  int64_t step_count = 0;
};

SeededExecutor::SeededExecutor(uint64_t seed, VirtualClock* clock, SeededExecutorOptions options)
    : core_(std::make_shared<Core>(seed, clock, options)) {}

SeededExecutor::~SeededExecutor() {
  std::vector<Core::Job> jobs;
  jobs.swap(core_->jobs);
  std::vector<std::shared_ptr<Actor>> actors;
  for (const auto& entry : core_->entries) {
    actors.push_back(std::move(entry->actor));  // Actors hold their own wakers: cut the circle.
  }
  core_->entries.clear();
}

std::shared_ptr<Waker> SeededExecutor::Add(std::shared_ptr<Actor> actor) {
  auto entry = std::make_shared<Core::Entry>();
  entry->actor = std::move(actor);
  core_->entries.push_back(entry);
  return entry;
}

IoPool& SeededExecutor::compute_pool() { return core_->compute; }
IoPool& SeededExecutor::io_pool() { return core_->io; }
bool SeededExecutor::RunOne() { return core_->RunOne(); }

bool SeededExecutor::RunUntil(const std::function<bool()>& done, int64_t limit) {
  for (int64_t i = 0; i < limit; ++i) {
    if (done()) return true;
    if (!RunOne()) return done();
  }
  return done();
}

int64_t SeededExecutor::step_count() const { return core_->step_count; }

}  // namespace sluice::runtime
