// What the threads of a FetchClient share. Used by fetch_client.cc, leader_thread.cc and
// broker_thread.cc only.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "common/log.h"
#include "common/random.h"
#include "connectors/kafka/fetch/fetch_client.h"

namespace sluice::connectors::kafka::fetch {

constexpr int32_t kNoLeader = -1;

inline int64_t NowUs() { return Clock::System().MonotonicMicros(); }

struct PartitionState {
  FetchClient::Partition what;
  int32_t leader = kNoLeader;
  int64_t retry_us = 0;  // Not before.
  bool busy = false;     // In a request under way, whoever leads it by now.
  bool done = false;     // Read to its stop, or failed.

  std::string name() const { return what.topic + "-" + std::to_string(what.partition); }
};

struct BrokerState {
  int32_t id = 0;
  BrokerAddress address;
  std::thread thread;
};

/// All members behind `memory->mutex`, which also wakes everybody who waits, but for what is set
/// before the threads start.
struct FetchState {
  explicit FetchState(std::shared_ptr<FetchMemory> the_memory) : memory(std::move(the_memory)) {}

  const std::shared_ptr<FetchMemory> memory;
  Interrupt interrupt;
  std::unique_ptr<const ConnectionContext> context;
  std::function<void()> wake;
  LimitedLog log;

  // Never moved once there: threads hold pointers.
  std::deque<PartitionState> partitions;
  std::map<int32_t, std::unique_ptr<BrokerState>> brokers;
  std::deque<FetchedChunk> chunks;
  std::optional<Status> failure;
  std::map<std::string, std::string> troubles;  // By address.
  bool leaders_wanted = false;
  std::thread leader_thread;

  const FetchSettings& settings() const { return context->settings; }
  bool stopping() const { return interrupt.raised(); }

  /// The partition failed for good. Only with the mutex held; call `wake` afterwards.
  void Fail(Status status) {
    if (!failure) failure = std::move(status);
  }
  /// Waits until `at_us`, or until something changed. Only with `lock` held.
  void WaitUntil(std::unique_lock<std::mutex>& lock, int64_t at_us) {
    if (at_us == INT64_MAX) {
      memory->changed.wait(lock);
      return;
    }
    const int64_t left_us = at_us - NowUs();
    if (left_us > 0) memory->changed.wait_for(lock, std::chrono::microseconds(left_us));
  }
};

/// Waiting times that double up to a limit, with a fifth of chance, so that many clients of a
/// broker that comes back do not come at once.
class Backoff {
 public:
  Backoff(int64_t first_ms, int64_t limit_ms)
      : first_ms_(std::max<int64_t>(first_ms, 1)),
        limit_ms_(limit_ms),
        random_(Random::SystemSeed()) {}

  void Reset() { next_ms_ = 0; }
  int64_t NextUs() {
    next_ms_ = next_ms_ == 0 ? first_ms_ : std::min(next_ms_ * 2, std::max(limit_ms_, first_ms_));
    return static_cast<int64_t>(static_cast<double>(next_ms_) * 1000 *
                                (0.8 + 0.4 * random_.NextDouble()));
  }

 private:
  const int64_t first_ms_;
  const int64_t limit_ms_;
  int64_t next_ms_ = 0;
  Random random_;
};

/// Asks for leaders when somebody wants to know and when what is known has grown old; starts the
/// threads of brokers. Runs until the interrupt.
void RunLeaderThread(FetchState* state);

/// Fetches what the broker leads. Runs until the interrupt.
void RunBrokerThread(FetchState* state, BrokerState* broker);

}  // namespace sluice::connectors::kafka::fetch
