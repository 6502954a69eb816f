#include "connectors/kafka/fetch/fetch_client.h"
#include "connectors/kafka/fetcher.h"
#include "types/batch.h"

namespace sluice::connectors::kafka {
namespace {

/// Record batches as they came, read by whoever decodes them.
class BatchChunk final : public MessageChunk {
 public:
  BatchChunk(std::shared_ptr<const fetch::FetchBuffer> buffer, std::string name,
             fetch::OffsetRange range, bool check_crc)
      : buffer_(std::move(buffer)), name_(std::move(name)), range_(range), check_crc_(check_crc) {}

  void Add(const fetch::RawBatch& batch) {
    batches_.push_back(batch);
    row_count_ += batch.record_count;
    byte_size_ += static_cast<int64_t>(batch.bytes.size());
  }
  bool Large() const { return row_count_ >= kTargetBatchRows || byte_size_ >= kTargetBatchBytes; }
  bool empty() const { return batches_.empty(); }
  int64_t next_offset() const { return batches_.back().last_offset + 1; }

  int64_t row_count() const override { return row_count_; }
  int64_t byte_size() const override { return byte_size_; }
  int64_t uncounted_bytes() const override { return 0; }  // FetchMemory counts them.

  Status AppendTo(const MessageParts& parts, arrow::MemoryPool* pool, Messages* out) override {
    for (const fetch::RawBatch& batch : batches_) {
      Status status = fetch::ReadRecords(batch, range_, parts, check_crc_, pool, out);
      if (!status.ok()) return std::move(status).WithContext("Cannot read " + name_);
    }
    return {};
  }

 private:
  const std::shared_ptr<const fetch::FetchBuffer> buffer_;
  const std::string name_;
  const fetch::OffsetRange range_;
  const bool check_crc_;
  std::vector<fetch::RawBatch> batches_;
  int64_t row_count_ = 0;
  int64_t byte_size_ = 0;
};

class NativeFetcher final : public Fetcher {
 public:
  NativeFetcher(bool check_crc, std::unique_ptr<fetch::FetchClient> client)
      : check_crc_(check_crc), client_(std::move(client)) {}

  Status Start(int index, const KafkaSplit& split) override {
    splits_[index] = {split.id.ToText(), split.stop};
    client_->Start({.tag = index,
                    .topic = split.id.topic,
                    .partition = split.id.partition,
                    .offset = split.next == RD_KAFKA_OFFSET_BEGINNING
                                  ? fetch::FetchClient::kFromBeginning
                                  : split.next,
                    .stop = split.stop});
    return {};
  }

  Result<bool> Take(std::vector<FetchedPiece>* pieces) override {
    SLUICE_ASSIGN_OR_RETURN(const std::optional<fetch::FetchedChunk> chunk, client_->Take());
    if (!chunk) return false;
    Cut(*chunk, pieces);
    return true;
  }

  std::string trouble() const override { return client_->trouble(); }

 private:
  struct SplitInfo {
    std::string name;
    int64_t stop = 0;
  };

  /// A chunk may be as large as a fetch; a piece is what one worker decodes.
  void Cut(const fetch::FetchedChunk& chunk, std::vector<FetchedPiece>* pieces) const {
    const SplitInfo& split = splits_.at(chunk.tag);
    const auto fresh = [&] {
      return std::make_unique<BatchChunk>(chunk.buffer, split.name,
                                          fetch::OffsetRange{chunk.from, split.stop}, check_crc_);
    };
    std::unique_ptr<BatchChunk> piece = fresh();
    for (const fetch::RawBatch& batch : chunk.batches) {
      if (batch.base_offset >= split.stop) break;
      piece->Add(batch);
      if (!piece->Large()) continue;
      const int64_t next_offset = std::min(piece->next_offset(), split.stop);
      pieces->push_back({chunk.tag, std::exchange(piece, fresh()), next_offset});
    }
    const int64_t next_offset = std::min(chunk.next_offset, split.stop);
    if (piece->empty()) {
      pieces->push_back({chunk.tag, nullptr, next_offset});
    } else {
      pieces->push_back({chunk.tag, std::move(piece), next_offset});
    }
  }

  const bool check_crc_;
  std::map<int, SplitInfo> splits_;
  std::unique_ptr<fetch::FetchClient> client_;
};

/// Answers under way and not yet decoded. A broker thread asks again while a chunk waits, so a few
/// answers of a mebibyte are enough to keep all cores at work.
int64_t MemoryLimit(const FetcherContext& context) {
  constexpr int64_t kMebi = 1 << 20;
  constexpr int64_t kMost = 64 * kMebi;
  if (context.budget == nullptr) return kMost;
  return std::clamp(context.budget->limit_bytes() / 8 / context.reader_count, 4 * kMebi, kMost);
}

}  // namespace

Result<std::unique_ptr<Fetcher>> MakeNativeFetcher(FetcherContext context,
                                                   fetch::FetchSettings settings) {
  // A bounded read that ends with control records learns so from an empty answer: no need to wait
  // long for it.
  if (context.setup->table.is_bounded()) settings.max_wait_ms = std::min(settings.max_wait_ms, 20);
  settings.client_id += "-" + std::to_string(context.subtask);
  const bool check_crc = settings.check_crcs;
  auto memory = std::make_shared<fetch::FetchMemory>(MemoryLimit(context), context.budget);
  SLUICE_ASSIGN_OR_RETURN(
      std::unique_ptr<fetch::FetchClient> client,
      fetch::FetchClient::Make(std::move(settings), std::move(memory), std::move(context.wake)));
  return std::make_unique<NativeFetcher>(check_crc, std::move(client));
}

}  // namespace sluice::connectors::kafka
