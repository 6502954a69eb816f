#include "connectors/kafka/fetch/fetch_client.h"

#include "connectors/kafka/fetch/fetch_state.h"

namespace sluice::connectors::kafka::fetch {

FetchClient::FetchClient(std::shared_ptr<FetchMemory> memory)
    : state_(std::make_unique<FetchState>(std::move(memory))) {}

Result<std::unique_ptr<FetchClient>> FetchClient::Make(FetchSettings settings,
                                                       std::shared_ptr<FetchMemory> memory,
                                                       std::function<void()> wake) {
  std::unique_ptr<FetchClient> client(new FetchClient(memory));
  FetchState& state = *client->state_;
  SLUICE_ASSIGN_OR_RETURN(state.context,
                          ConnectionContext::Make(std::move(settings), memory, &state.interrupt));
  state.wake = std::move(wake);
  state.leader_thread = std::thread(&RunLeaderThread, &state);
  return client;
}

FetchClient::~FetchClient() {
  {
    const std::lock_guard lock(state_->memory->mutex);
    state_->interrupt.Raise();
    state_->memory->changed.notify_all();
  }
  // The leader thread starts those of brokers: none is started after its end.
  if (state_->leader_thread.joinable()) state_->leader_thread.join();
  for (const auto& [id, broker] : state_->brokers) broker->thread.join();
}

void FetchClient::Start(Partition partition) {
  const std::lock_guard lock(state_->memory->mutex);
  state_->partitions.push_back({.what = std::move(partition)});
  state_->leaders_wanted = true;
  state_->memory->changed.notify_all();
}

Result<std::optional<FetchedChunk>> FetchClient::Take() {
  std::optional<FetchedChunk> chunk;
  const std::lock_guard lock(state_->memory->mutex);
  if (!state_->chunks.empty()) {
    chunk = std::move(state_->chunks.front());
    state_->chunks.pop_front();
  } else if (state_->failure) {
    return *state_->failure;
  }
  return chunk;
}

std::string FetchClient::trouble() const {
  const std::lock_guard lock(state_->memory->mutex);
  return state_->troubles.empty() ? std::string() : state_->troubles.begin()->second;
}

}  // namespace sluice::connectors::kafka::fetch
