#include "common/crash_point.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>

#include "common/check.h"
#include "common/text.h"

namespace sluice {
namespace {

struct Target {
  std::string name;
  int64_t visit = 1;
};

Target TargetFromEnvironment(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return {};
  const std::string_view whole(text);
  const size_t colon = whole.find(':');
  Target target{std::string(whole.substr(0, colon)), 1};
  if (colon != std::string_view::npos)
    target.visit = ParseInt64(whole.substr(colon + 1)).value_or(1);
  return target;
}

std::atomic<CrashHook> g_hook{nullptr};
std::atomic<void*> g_hook_context{nullptr};

}  // namespace

const std::vector<std::string>& AllCrashPoints() {
  static const std::vector<std::string> names = {
#define SLUICE_DECLARE_CRASH_POINT(name) name,
#include "common/crash_points.def"
#undef SLUICE_DECLARE_CRASH_POINT
  };
  return names;
}

void SetCrashHook(CrashHook hook, void* context) {
  g_hook_context = context;
  g_hook = hook;
}

void ReachCrashPoint(std::string_view name) {
  if (const CrashHook hook = g_hook.load()) {
    hook(name, g_hook_context.load());
    return;
  }
  static const Target target = TargetFromEnvironment("SLUICE_CRASH_POINT");
  static const Target stop = TargetFromEnvironment("SLUICE_STOP_POINT");
  if (target.name.empty() && stop.name.empty()) return;
  static std::atomic<int64_t> visits{0};
  static std::atomic<int64_t> stop_visits{0};
  const std::vector<std::string>& all = AllCrashPoints();
  SLUICE_CHECK(std::find(all.begin(), all.end(), name) != all.end(),
               "undeclared crash point " + std::string(name));
  if (name == stop.name && stop_visits.fetch_add(1) + 1 == stop.visit) ::raise(SIGSTOP);
  if (name == target.name && visits.fetch_add(1) + 1 == target.visit) ::raise(SIGKILL);
}

}  // namespace sluice
