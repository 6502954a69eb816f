#include "cli/signals.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

#include "fs/http/patience.h"

namespace sluice::cli {
namespace {

// How long a store that does not answer may hold up the end.
constexpr int64_t kStorePatienceMs = 8'000;

// A terminal's Ctrl-C and a supervisor's kill of the whole group come as two signals at once: they
// are one wish.
constexpr auto kSameWish = std::chrono::milliseconds(500);

std::mutex g_mutex;
std::function<void()> g_action;
std::atomic<bool> g_requested{false};

void WaitForSignals(sigset_t signals) {
  int signal = 0;
  std::chrono::steady_clock::time_point first;
  while (::sigwait(&signals, &signal) == 0) {
    const auto now = std::chrono::steady_clock::now();
    if (g_requested.load() && now - first < kSameWish) continue;
    if (!g_requested.load()) first = now;
    std::function<void()> action;
    {
      const std::lock_guard lock(g_mutex);
      action = g_action;
    }
    if (g_requested.exchange(true) || !action) {
      static constexpr char kAtOnce[] = "[WARN] Ended at once, without a last checkpoint.\n";
      if (action) (void)!::write(STDERR_FILENO, kAtOnce, sizeof(kAtOnce) - 1);
      ::_exit(128 + signal);
    }
    fs::LimitPatience(kStorePatienceMs);
    action();
  }
}

}  // namespace

void StartSignalThread() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGINT);
  ::sigaddset(&signals, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);  // A closed pipe is seen as a failed write,
  ::signal(SIGXFSZ, SIG_IGN);  // and so is a file above the limit of its size (ulimit -f).
  std::thread(WaitForSignals, signals).detach();
}

void OnStopSignal(std::function<void()> action) {
  const std::lock_guard lock(g_mutex);
  g_action = std::move(action);
}

bool StopRequested() { return g_requested.load(); }

}  // namespace sluice::cli
