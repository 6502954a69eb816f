// Threads of libraries that did not end when they were told to, and were left to themselves.
#pragma once

namespace sluice {

/// Thread-safe.
class ThreadsLeftBehind {
 public:
  static void Add();
  /// They have ended after all.
  static void Remove();
  /// The process must then end by _exit: they may use what a normal end destroys.
  static bool Any();
};

}  // namespace sluice
