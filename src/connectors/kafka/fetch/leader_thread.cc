#include <algorithm>
#include <set>

#include "connectors/kafka/fetch/fetch_state.h"

namespace sluice::connectors::kafka::fetch {
namespace {

/// One answer serves all who asked: leaders move in bursts.
class LeaderThread {
 public:
  explicit LeaderThread(FetchState* state)
      : state_(*state),
        backoff_(state->settings().retry_backoff_ms, state->settings().reconnect_backoff_max_ms) {}

  void Run() {
    while (WaitForQuestion()) {
      const Status status = Ask();
      if (state_.stopping()) return;
      if (status.ok()) continue;
      Note(status);
      std::unique_lock lock(state_.memory->mutex);
      state_.leaders_wanted = true;
      const int64_t retry_us = NowUs() + backoff_.NextUs();
      while (!state_.stopping() && NowUs() < retry_us) state_.WaitUntil(lock, retry_us);
    }
  }

 private:
  /// False when the fetch ends.
  bool WaitForQuestion() {
    std::unique_lock lock(state_.memory->mutex);
    while (!state_.stopping()) {
      const bool any = std::any_of(state_.partitions.begin(), state_.partitions.end(),
                                   [](const PartitionState& p) { return !p.done; });
      const int64_t now_us = NowUs();
      if (any && now_us >= not_before_us_ && (state_.leaders_wanted || now_us >= refresh_us_))
        return true;
      int64_t at_us = any ? refresh_us_ : INT64_MAX;
      if (any && state_.leaders_wanted) at_us = not_before_us_;
      state_.WaitUntil(lock, at_us);
    }
    return false;
  }

  Status Ask() {
    std::vector<std::string> topics;
    {
      const std::lock_guard lock(state_.memory->mutex);
      state_.leaders_wanted = false;
      std::set<std::string> names;
      for (const PartitionState& partition : state_.partitions) {
        if (!partition.done) names.insert(partition.what.topic);
      }
      topics.assign(names.begin(), names.end());
    }
    // Questions are rare: a connection kept for them would be cut by the broker meanwhile.
    SLUICE_ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection, ConnectToAny());
    SLUICE_ASSIGN_OR_RETURN(const int16_t version, connection->VersionOf(ApiKey::kMetadata));
    SLUICE_ASSIGN_OR_RETURN(
        const Answer answer,
        connection->Call(ApiKey::kMetadata, version, EncodeMetadata(version, topics),
                         state_.settings().request_timeout_ms));
    SLUICE_ASSIGN_OR_RETURN(const MetadataAnswer metadata, DecodeMetadata(version, answer.body));
    Apply(metadata);
    return {};
  }

  /// Those given first, then those that brokers told of, each in its turn.
  Result<std::unique_ptr<Connection>> ConnectToAny() {
    std::vector<BrokerAddress> addresses = state_.settings().bootstrap;
    {
      const std::lock_guard lock(state_.memory->mutex);
      for (const auto& [id, broker] : state_.brokers) addresses.push_back(broker->address);
    }
    if (addresses.empty())
      return Status::InvalidArgument("Option 'properties.bootstrap.servers' names no broker.");
    Status status;
    for (size_t i = 0; i < addresses.size(); ++i) {
      const BrokerAddress& address = addresses[next_address_++ % addresses.size()];
      auto connection = Connection::Open(*state_.context, address);
      status = connection.status();
      if (status.ok()) {
        const std::lock_guard lock(state_.memory->mutex);
        state_.troubles.erase(kName);
        return connection;
      }
      if (state_.stopping() || !status.retriable()) break;
    }
    return status;
  }

  void Apply(const MetadataAnswer& metadata) {
    const std::lock_guard lock(state_.memory->mutex);
    for (const MetadataAnswer::Broker& broker : metadata.brokers) {
      std::unique_ptr<BrokerState>& known = state_.brokers[broker.id];
      const bool is_new = !known;
      if (is_new) known = std::make_unique<BrokerState>();
      known->id = broker.id;
      known->address = {broker.host, broker.port};
    }
    std::map<std::pair<std::string, int32_t>, int32_t> leaders;
    for (const MetadataAnswer::Partition& partition : metadata.partitions)
      leaders[{partition.topic, partition.partition}] = partition.leader;
    bool missing = false;
    for (PartitionState& partition : state_.partitions) {
      if (partition.done) continue;
      const auto leader = leaders.find({partition.what.topic, partition.what.partition});
      const bool known = leader != leaders.end() && state_.brokers.contains(leader->second);
      partition.leader = known ? leader->second : kNoLeader;
      if (known) {
        StartBroker(*state_.brokers[partition.leader]);
        continue;
      }
      missing = true;
      const auto error = metadata.topic_errors.find(partition.what.topic);
      const std::string why =
          error == metadata.topic_errors.end() ? "it has no leader" : ErrorName(error->second);
      if (error != metadata.topic_errors.end() &&
          error->second == ErrorCode::kTopicAuthorizationFailed) {
        state_.Fail(Status::InvalidArgument("Cannot read " + partition.name() + ": " + why +
                                            ". Check the access rules of the cluster."));
        partition.done = true;
        continue;
      }
      state_.log.Warn("Cannot read " + partition.name() + " now: " + why + ".");
    }
    const int64_t now_us = NowUs();
    refresh_us_ = now_us + state_.settings().metadata_max_age_ms * 1000;
    if (missing) {
      state_.leaders_wanted = true;
    } else {
      backoff_.Reset();
    }
    not_before_us_ =
        now_us + (missing ? backoff_.NextUs() : state_.settings().retry_backoff_ms * 1000);
    state_.memory->changed.notify_all();
  }

  /// Brokers that lead nothing of ours get no thread.
  void StartBroker(BrokerState& broker) {
    if (broker.thread.joinable() || state_.stopping()) return;
    broker.thread = std::thread(&RunBrokerThread, &state_, &broker);
  }

  void Note(const Status& status) {
    {
      const std::lock_guard lock(state_.memory->mutex);
      if (status.retriable() || status.code() == StatusCode::kDataError) {
        state_.troubles[kName] = status.message();
      } else {
        state_.Fail(status);
      }
    }
    state_.log.Warn("Kafka: " + status.message());
    state_.wake();
  }

  static constexpr const char* kName = "metadata";

  FetchState& state_;
  Backoff backoff_;
  size_t next_address_ = 0;
  int64_t refresh_us_ = 0;
  int64_t not_before_us_ = 0;
};

}  // namespace

void RunLeaderThread(FetchState* state) { LeaderThread(state).Run(); }

}  // namespace sluice::connectors::kafka::fetch
