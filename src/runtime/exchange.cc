#include "runtime/exchange.h"

#include <algorithm>

#include "expr/key_split.h"

namespace sluice::runtime {
namespace {

class SingleWriter final : public ExchangeWriter {
 public:
  using ExchangeWriter::ExchangeWriter;
  Status Write(Batch batch) override {
    channels_.front()->Push(std::move(batch));
    return {};
  }
  bool HasRoom() const override { return channels_.front()->HasRoom(); }
};

class RebalanceWriter final : public ExchangeWriter {
 public:
  using ExchangeWriter::ExchangeWriter;

  Status Write(Batch batch) override {
    // Starts behind the last one used, so that channels with equal room take turns.
    size_t best = next_;
    int64_t best_room = -1;
    for (size_t i = 0; i < channels_.size(); ++i) {
      const size_t candidate = (next_ + i) % channels_.size();
      if (channels_[candidate]->data_unwanted()) continue;
      const int64_t room = std::max<int64_t>(channels_[candidate]->room_bytes(), 0);
      if (room > best_room) {
        best = candidate;
        best_room = room;
      }
    }
    next_ = (best + 1) % channels_.size();
    channels_[best]->Push(std::move(batch));
    return {};
  }

  bool HasRoom() const override {
    return std::any_of(channels_.begin(), channels_.end(), [](const auto& channel) {
      return channel->HasRoom() && !channel->data_unwanted();
    });
  }

 private:
  size_t next_ = 0;
};

class HashWriter final : public ExchangeWriter {
 public:
  HashWriter(std::vector<std::shared_ptr<Channel>> channels, std::vector<int> key_columns,
             arrow::MemoryPool* pool)
      : ExchangeWriter(std::move(channels)), key_columns_(std::move(key_columns)), pool_(pool) {}

  Status Write(Batch batch) override {
    const int channel_count = static_cast<int>(channels_.size());
    SLUICE_ASSIGN_OR_RETURN(const std::vector<int32_t> channel_of_row,
                            expr::RouteByKey(*batch.rows(), key_columns_, channel_count));
    SLUICE_ASSIGN_OR_RETURN(std::vector<Batch> parts,
                            expr::SplitByChannel(batch, channel_of_row, channel_count, pool_));
    for (size_t i = 0; i < parts.size(); ++i) channels_[i]->Push(std::move(parts[i]));
    return {};
  }
  bool HasRoom() const override { return AllHaveRoom(); }

 private:
  const std::vector<int> key_columns_;
  arrow::MemoryPool* const pool_;
};

class BroadcastWriter final : public ExchangeWriter {
 public:
  using ExchangeWriter::ExchangeWriter;
  Status Write(Batch batch) override {
    for (const auto& channel : channels_) channel->Push(batch);
    return {};
  }
  bool HasRoom() const override { return AllHaveRoom(); }
};

}  // namespace

void ExchangeWriter::WriteControl(const StreamElement& element) {
  for (const auto& channel : channels_) channel->Push(element);
}

bool ExchangeWriter::data_unwanted() const {
  return std::all_of(channels_.begin(), channels_.end(),
                     [](const auto& channel) { return channel->data_unwanted(); });
}

void ExchangeWriter::Close() {
  for (const auto& channel : channels_) channel->Close();
}

bool ExchangeWriter::AllHaveRoom() const {
  return std::all_of(channels_.begin(), channels_.end(), [](const auto& channel) {
    return channel->HasRoom() || channel->data_unwanted();
  });
}

std::unique_ptr<ExchangeWriter> MakeExchangeWriter(Exchange exchange, std::vector<int> key_columns,
                                                   std::vector<std::shared_ptr<Channel>> channels,
                                                   arrow::MemoryPool* pool) {
  if (channels.size() == 1) return std::make_unique<SingleWriter>(std::move(channels));
  switch (exchange) {
    case Exchange::kHash:
      return std::make_unique<HashWriter>(std::move(channels), std::move(key_columns), pool);
    case Exchange::kBroadcast:
      return std::make_unique<BroadcastWriter>(std::move(channels));
    case Exchange::kForward:
    case Exchange::kGather:
    case Exchange::kRebalance:
      break;
  }
  return std::make_unique<RebalanceWriter>(std::move(channels));
}

}  // namespace sluice::runtime
