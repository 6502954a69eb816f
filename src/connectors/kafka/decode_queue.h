// Decodes batches of messages on the compute pool, several at once, and hands the results out in
// the order of the batches: one partition keeps all cores busy and its rows keep their order.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/io_pool.h"
#include "connectors/kafka/fetch/fetch_settings.h"
#include "connectors/kafka/fetch/messages.h"
#include "connectors/kafka/record_decoder.h"
#include "runtime/operator.h"
#include "runtime/source.h"

namespace sluice::connectors::kafka {

/// What every reader of a table needs to know; immutable.
struct ScanSetup {
  KafkaTable table;
  ClientConfig config;
  std::optional<fetch::FetchSettings> native;  // Nothing: librdkafka fetches.
  std::string native_refusal;                  // Why, when nobody asked for librdkafka.
  ScanColumns columns;
  TimeZone session_zone;
  runtime::SourceRuntimeOptions options;
};

/// Messages of one partition, owned, as they are decoded together.
class MessageBatch {
 public:
  void Add(std::unique_ptr<MessageChunk> chunk) {
    row_count_ += chunk->row_count();
    byte_size_ += chunk->byte_size();
    uncounted_bytes_ += chunk->uncounted_bytes();
    chunks_.push_back(std::move(chunk));
  }
  bool empty() const { return chunks_.empty(); }
  int64_t row_count() const { return row_count_; }
  int64_t byte_size() const { return byte_size_; }
  int64_t uncounted_bytes() const { return uncounted_bytes_; }
  Status ReadInto(const MessageParts& parts, arrow::MemoryPool* pool, Messages* out) const {
    for (const auto& chunk : chunks_) SLUICE_RETURN_NOT_OK(chunk->AppendTo(parts, pool, out));
    return {};
  }
  void Clear() { chunks_.clear(); }

 private:
  std::vector<std::unique_ptr<MessageChunk>> chunks_;
  int64_t row_count_ = 0;
  int64_t byte_size_ = 0;
  int64_t uncounted_bytes_ = 0;
};

class DecodeQueue {
 public:
  /// A stretch of one partition. Without messages it only moves the position (past control records)
  /// or ends the split.
  struct Job {
    int split = 0;  // The reader's number of it.
    PartitionId id;
    MessageBatch messages;
    int64_t end_offset = 0;  // Position behind the stretch.
    bool last = false;       // The split is read to its end.
  };
  struct Finished {
    int split = 0;
    int64_t end_offset = 0;
    bool last = false;
    int64_t message_count = 0;
    int64_t message_bytes = 0;
    runtime::SourceBatch batch;
    DecodedMessages counts;  // Without rows.
  };

  /// `context` must outlive the queue.
  DecodeQueue(std::shared_ptr<const ScanSetup> setup, runtime::TaskContext* context);
  /// Waits for the batches that workers hold.
  ~DecodeQueue();

  bool Full() const { return static_cast<int>(items_.size()) >= capacity_; }
  bool empty() const { return items_.empty(); }
  void Submit(Job job);
  /// The oldest batch when it is done; nullopt otherwise. The task is woken as batches are done.
  Result<std::optional<Finished>> TakeNext();
  /// True when TakeNext would give something.
  bool NextIsDone() const;

 private:
  struct Item;
  struct Worker;
  struct Shared;

  const int capacity_;
  runtime::TaskContext* const context_;
  std::shared_ptr<Shared> shared_;
  std::deque<std::shared_ptr<Item>> items_;
};

}  // namespace sluice::connectors::kafka
