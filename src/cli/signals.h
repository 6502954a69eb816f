// SIGINT and SIGTERM: the first stops jobs with a last checkpoint, the second ends the process at
// once.
#pragma once

#include <functional>

namespace sluice::cli {

/// Blocks both signals in the calling thread (and those it starts later) and waits for them on a
/// thread of its own. Call once, before any other thread.
void StartSignalThread();

/// What the first signal does; replaces what was set before. Called on the signal thread; empty:
/// the process ends.
void OnStopSignal(std::function<void()> action);

/// True once a stop signal has come.
bool StopRequested();

}  // namespace sluice::cli
