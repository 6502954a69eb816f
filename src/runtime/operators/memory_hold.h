// What an operator holds of the job's memory budget.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/operator.h"

namespace sluice::runtime {

/// Tells the budget how much its operator holds and gives it back at the end.
class MemoryHold {
 public:
  ~MemoryHold();
  MemoryHold() = default;
  MemoryHold(const MemoryHold&) = delete;
  MemoryHold& operator=(const MemoryHold&) = delete;

  /// `what` begins the message: "ORDER BY without LIMIT".
  void Open(MemoryBudget* budget, std::string what);
  /// Fails when this holder alone has more than the whole budget: nobody else could make room for
  /// it.
  Status Set(int64_t bytes);

 private:
  MemoryBudget* budget_ = nullptr;
  std::string what_;
  int64_t held_bytes_ = 0;
};

}  // namespace sluice::runtime
