// Rings when a TreeWatch has news, and outlives both ends: the watch's thread may ring while the
// source goes away.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>

namespace sluice::connectors::filesystem {

/// Thread-safe.
class NewsBell {
 public:
  explicit NewsBell(std::function<void()> wake) : wake_(std::move(wake)) {}
  void Ring() {
    rung_ = true;
    Wake();
  }
  void Wake() {
    const std::lock_guard lock(mutex_);
    if (wake_) wake_();
  }
  bool rung() const { return rung_; }
  void Silence() { rung_ = false; }
  /// Wakes nobody from here on.
  void Detach() {
    const std::lock_guard lock(mutex_);
    wake_ = nullptr;
  }

 private:
  std::atomic<bool> rung_{false};
  std::mutex mutex_;
  std::function<void()> wake_;
};

}  // namespace sluice::connectors::filesystem
