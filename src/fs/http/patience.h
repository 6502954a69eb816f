// How long requests to stores may still be tried: without end until the process is told to stop.
#pragma once

#include <cstdint>

namespace sluice::fs {

/// After `millis` from now no request is sent again, and one that is silent is given up: a process
/// that is told to end must not wait for a store that is away. The first call counts. Thread-safe.
void LimitPatience(int64_t millis);

/// True when that time has come.
bool PatienceIsOver();

}  // namespace sluice::fs
