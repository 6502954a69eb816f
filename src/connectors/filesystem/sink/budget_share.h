// What one holder has taken from the job's memory budget, given back when it goes.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/memory_budget.h"

namespace sluice::connectors::filesystem {

/// What all buckets of one writer hold together; closing files give back from the I/O pool.
using HeldBytes = std::atomic<int64_t>;

class BudgetShare {
 public:
  /// Both must outlive the share; `budget` may be null.
  BudgetShare(MemoryBudget* budget, HeldBytes* held) : budget_(budget), held_(held) {}
  ~BudgetShare() { Set(0); }
  BudgetShare(const BudgetShare&) = delete;
  BudgetShare& operator=(const BudgetShare&) = delete;

  void Set(int64_t bytes) {
    if (budget_ != nullptr && bytes > bytes_) budget_->Take(bytes - bytes_);
    if (budget_ != nullptr && bytes < bytes_) budget_->Return(bytes_ - bytes);
    held_->fetch_add(bytes - bytes_, std::memory_order_relaxed);
    bytes_ = bytes;
  }
  int64_t bytes() const { return bytes_; }

 private:
  MemoryBudget* const budget_;
  HeldBytes* const held_;
  int64_t bytes_ = 0;
};

}  // namespace sluice::connectors::filesystem
