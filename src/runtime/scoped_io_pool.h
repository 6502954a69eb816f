// The I/O of one attempt of a job: a restart waits until all of it is over, so that no late write
// meets the next attempt.
#pragma once

#include <functional>
#include <memory>

#include "common/io_pool.h"

namespace sluice::runtime {

/// Passes work on to `pool`, counts it, and after Cancel drops what has not begun. Thread-safe.
class ScopedIoPool final : public IoPool {
 public:
  /// `pool` must outlive the work, `on_quiet` is called after Cancel when the last piece is over
  /// (at once if there is none).
  ScopedIoPool(IoPool* pool, std::function<void()> on_quiet);
  ~ScopedIoPool() override;

  void Submit(std::function<void()> work) override;
  void Cancel();

 private:
  struct State;
  IoPool* const pool_;
  std::shared_ptr<State> state_;
};

}  // namespace sluice::runtime
