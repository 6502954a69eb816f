#include "runtime/scoped_io_pool.h"

#include <mutex>

namespace sluice::runtime {

struct ScopedIoPool::State {
  std::mutex mutex;
  int64_t pending = 0;
  bool cancelled = false;
  std::function<void()> on_quiet;

  void Leave() {
    std::function<void()> call;
    {
      const std::lock_guard lock(mutex);
      if (--pending == 0 && cancelled) call = std::move(on_quiet);
    }
    if (call) call();
  }
};

ScopedIoPool::ScopedIoPool(IoPool* pool, std::function<void()> on_quiet)
    : pool_(pool), state_(std::make_shared<State>()) {
  state_->on_quiet = std::move(on_quiet);
}

ScopedIoPool::~ScopedIoPool() = default;

void ScopedIoPool::Submit(std::function<void()> work) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->cancelled) return;
    ++state_->pending;
  }
  pool_->Submit([state = state_, work = std::move(work)]() mutable {
    bool run = false;
    {
      const std::lock_guard lock(state->mutex);
      run = !state->cancelled;
    }
    if (run) work();
    work = nullptr;  // What it holds dies before the attempt counts as over.
    state->Leave();
  });
}

void ScopedIoPool::Cancel() {
  std::function<void()> call;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->cancelled) return;
    state_->cancelled = true;
    if (state_->pending == 0) call = std::move(state_->on_quiet);
  }
  if (call) call();
}

}  // namespace sluice::runtime
