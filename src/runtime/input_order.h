// What an operator with several inputs that differ adds to Operator.
#pragma once

#include "runtime/operator.h"

namespace sluice::runtime {

/// Beside Operator, for the first operator of a chain with edges of several input indices.
class InputOrder {
 public:
  virtual ~InputOrder() = default;
  /// The input whose rows are to come first, -1 when all may. Rows of the others stay in their
  /// channels, unless a barrier has to pass: the operator must be able to hold them.
  virtual int WantedInput() const = 0;
  /// Input `input_index` has ended; FinishInput follows when all have.
  virtual Status FinishOneInput(int input_index, Output& out) = 0;
};

}  // namespace sluice::runtime
