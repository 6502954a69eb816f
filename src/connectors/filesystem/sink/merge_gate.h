// How many merges run at once: by the cores they may take and by the memory they hold. What waits
// for a disk or for its turn holds neither.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

namespace sluice::connectors::filesystem {

/// Thread-safe.
class MergeGate {
 public:
  MergeGate(int parallelism, int64_t limit_bytes)
      : parallelism_(std::max(parallelism, 1)), limit_bytes_(limit_bytes) {}

  /// A merge that is under way, until it is destroyed.
  class Place {
   public:
    Place() = default;
    Place(MergeGate* gate, int64_t bytes) : gate_(gate), bytes_(bytes) {}
    Place(Place&& other) noexcept
        : gate_(std::exchange(other.gate_, nullptr)), bytes_(other.bytes_) {}
    Place& operator=(Place&& other) noexcept {
      std::swap(gate_, other.gate_);
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~Place() { Leave(); }
    void Leave() {
      if (gate_ != nullptr) std::exchange(gate_, nullptr)->Left(bytes_);
    }

   private:
    MergeGate* gate_ = nullptr;
    int64_t bytes_ = 0;
  };

  /// Waits for room. One merge always runs, whatever it holds. To be left before it is entered
  /// again.
  Place Enter(int64_t bytes) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      return running_ == 0 || (running_ < parallelism_ && bytes <= limit_bytes_ - held_bytes_);
    });
    ++running_;
    held_bytes_ += bytes;
    return {this, bytes};
  }

 private:
  void Left(int64_t bytes) {
    {
      const std::lock_guard lock(mutex_);
      --running_;
      held_bytes_ -= bytes;
    }
    changed_.notify_all();
  }

  const int parallelism_;
  const int64_t limit_bytes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int running_ = 0;
  int64_t held_bytes_ = 0;
};

}  // namespace sluice::connectors::filesystem
