// Ends waiting for a socket from another thread.
#pragma once

#include <atomic>

namespace sluice::connectors::kafka::fetch {

/// Raised once, for good. Thread-safe.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  void Raise();
  bool raised() const { return raised_.load(std::memory_order_acquire); }
  /// Readable once raised.
  int fd() const { return fd_; }

 private:
  std::atomic<bool> raised_{false};
  int fd_ = -1;
};

}  // namespace sluice::connectors::kafka::fetch
