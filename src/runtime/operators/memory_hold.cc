#include "runtime/operators/memory_hold.h"

#include "common/text.h"

namespace sluice::runtime {

MemoryHold::~MemoryHold() {
  if (budget_ != nullptr) budget_->Return(held_bytes_);
}

void MemoryHold::Open(MemoryBudget* budget, std::string what) {
  budget_ = budget;
  what_ = std::move(what);
}

Status MemoryHold::Set(int64_t bytes) {
  if (budget_ == nullptr) return {};
  budget_->Take(bytes - held_bytes_);
  held_bytes_ = bytes;
  if (bytes <= budget_->limit_bytes()) return {};
  return Status(StatusCode::kUnavailable,
                what_ + " needs more than the job's memory: it holds " + WithThousands(bytes) +
                    " bytes, the limit is " + WithThousands(budget_->limit_bytes()) +
                    ". Raise 'sluice.memory.limit' or let fewer rows through first.")
      .Retriable(false);
}

}  // namespace sluice::runtime
