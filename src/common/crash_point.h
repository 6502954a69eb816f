// Named places where a crash test kills the process. They stand on cold paths only (persist,
// rename, publish, commit) and are in every build, so that the binary that is tested is the one
// that is shipped (docs/decisions/0009).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Dies by SIGKILL when the environment variable SLUICE_CRASH_POINT is "name" or "name:n" and this
/// is the n-th time (from 1) that the point is reached; stands still by SIGSTOP where
/// SLUICE_STOP_POINT says so in the same words. In a simulation the installed hook is asked
/// instead.
void ReachCrashPoint(std::string_view name);

/// Replaces the reaction (simulation). The hook may throw nothing; it returns normally to let the
/// process go on.
using CrashHook = void (*)(std::string_view name, void* context);
void SetCrashHook(CrashHook hook, void* context);

/// All names, declared in crash_points.def; `sluice --list-crash-points` prints them for the crash
/// test.
const std::vector<std::string>& AllCrashPoints();

}  // namespace sluice

#define SLUICE_CRASH_POINT(name) ::sluice::ReachCrashPoint(name)
