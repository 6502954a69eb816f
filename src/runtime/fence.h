// Tells the parts of a running job whether a later start of the same job has taken its place.
#pragma once

#include "common/result.h"

namespace sluice::runtime {

/// Thread-safe.
class Fence {
 public:
  virtual ~Fence() = default;
  /// Fails with kAlreadyExists, which no restart cures, once this process has been superseded:
  /// nothing may be written or published any more. Quick: it looks at the disk at most every
  /// kFenceLookMs, and always when the process has stood still for longer than that. Asked before
  /// every batch that is written and before everything that becomes visible.
  virtual Status Check() const = 0;
};

/// A start that cannot be sure that the one before is dead waits twice as long before it touches
/// what that one may still write.
inline constexpr int kFenceLookMs = 1'000;

}  // namespace sluice::runtime
