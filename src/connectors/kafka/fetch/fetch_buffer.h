// Bytes of answers, counted while they live.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>

#include "common/memory_budget.h"

namespace sluice::connectors::kafka::fetch {

/// How much of what was fetched is still held by somebody; the fetch pauses above its limit.
/// `budget` may be null, and must outlive all buffers. Thread-safe.
class FetchMemory {
 public:
  FetchMemory(int64_t limit_bytes, MemoryBudget* budget)
      : limit_bytes_(limit_bytes), budget_(budget) {}

  void Take(int64_t bytes) {
    if (budget_ != nullptr) budget_->Take(bytes);
    const std::lock_guard lock(mutex);
    used_bytes_ += bytes;
  }
  void Return(int64_t bytes) {
    if (budget_ != nullptr) budget_->Return(bytes);
    const std::lock_guard lock(mutex);
    used_bytes_ -= bytes;
    changed.notify_all();
  }
  /// Only under `mutex`.
  bool full() const { return used_bytes_ >= limit_bytes_; }
  int64_t limit_bytes() const { return limit_bytes_; }

  std::mutex mutex;
  std::condition_variable changed;

 private:
  const int64_t limit_bytes_;
  MemoryBudget* const budget_;
  int64_t used_bytes_ = 0;
};

class FetchBuffer {
 public:
  FetchBuffer(std::shared_ptr<FetchMemory> memory, size_t size)
      : memory_(std::move(memory)),
        size_(size),
        bytes_(std::make_unique_for_overwrite<char[]>(size)) {
    memory_->Take(static_cast<int64_t>(size_));
  }
  ~FetchBuffer() { memory_->Return(static_cast<int64_t>(size_)); }
  FetchBuffer(const FetchBuffer&) = delete;
  FetchBuffer& operator=(const FetchBuffer&) = delete;

  char* data() { return bytes_.get(); }
  std::string_view bytes() const { return {bytes_.get(), size_}; }

 private:
  const std::shared_ptr<FetchMemory> memory_;
  const size_t size_;
  const std::unique_ptr<char[]> bytes_;
};

}  // namespace sluice::connectors::kafka::fetch
