// Work that one operator has on the I/O pool.
//
// Life cycle: work that has not begun when the scope ends is dropped; what runs is waited for. So
// after its operator is gone nothing touches files or the memory budget on its behalf, and a new
// attempt meets no hand of the old one. Thread: Submit and Collect are called by the task only.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "common/io_pool.h"
#include "common/result.h"

namespace sluice::connectors::filesystem {

class IoScope {
 public:
  IoScope(IoPool* pool, std::function<void()> wake);
  ~IoScope();
  IoScope(const IoScope&) = delete;
  IoScope& operator=(const IoScope&) = delete;

  /// Runs `work` on the pool and wakes the task; a later Collect calls `done` on the task's thread.
  /// They share what they need through a shared_ptr.
  void Submit(std::function<void()> work, std::function<Status()> done);
  /// Calls `done` of what has finished. All of them are called; the first failure is returned.
  Status Collect();
  /// Submitted and not yet collected.
  int64_t in_flight() const { return in_flight_; }

 private:
  struct Item {
    std::function<void()> work;
    std::function<Status()> done;
  };
  struct Shared {
    std::mutex mutex;
    std::condition_variable idle;
    bool ended = false;
    int running = 0;
    uint64_t next_id = 0;
    std::map<uint64_t, Item> waiting;
    std::deque<std::function<Status()>> finished;
  };
  static void Run(Shared& shared, uint64_t id);

  IoPool* const pool_;
  const std::function<void()> wake_;
  const std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();
  int64_t in_flight_ = 0;
};

}  // namespace sluice::connectors::filesystem
