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
#include "connectors/kafka/record_decoder.h"
#include "runtime/operator.h"
#include "runtime/source.h"

namespace sluice::connectors::kafka {

/// What every reader of a table needs to know; immutable.
struct ScanSetup {
  KafkaTable table;
  ClientConfig config;
  ScanColumns columns;
  TimeZone session_zone;
  runtime::SourceRuntimeOptions options;
};

/// Messages of one partition, owned. Must be gone before the client.
class MessageBatch {
 public:
  MessageBatch() = default;
  ~MessageBatch() { Clear(); }
  MessageBatch(MessageBatch&& other) noexcept { *this = std::move(other); }
  MessageBatch& operator=(MessageBatch&& other) noexcept {
    Clear();
    messages_.swap(other.messages_);
    byte_size_ = std::exchange(other.byte_size_, 0);
    return *this;
  }

  void Add(rd_kafka_message_t* message) {
    messages_.push_back(message);
    byte_size_ += static_cast<int64_t>(message->len + message->key_len);
  }
  bool empty() const { return messages_.empty(); }
  int64_t row_count() const { return static_cast<int64_t>(messages_.size()); }
  int64_t byte_size() const { return byte_size_; }
  std::span<rd_kafka_message_t* const> messages() const { return messages_; }
  void Clear() {
    for (rd_kafka_message_t* message : messages_) rd_kafka_message_destroy(message);
    messages_.clear();
    byte_size_ = 0;
  }

 private:
  std::vector<rd_kafka_message_t*> messages_;
  int64_t byte_size_ = 0;
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

  /// `client` is kept until the last message is gone. `context` must outlive the queue.
  DecodeQueue(std::shared_ptr<const ScanSetup> setup, std::shared_ptr<KafkaClient> client,
              runtime::TaskContext* context);
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
  struct Shared;

  const int capacity_;
  runtime::TaskContext* const context_;
  std::shared_ptr<Shared> shared_;
  std::deque<std::shared_ptr<Item>> items_;
};

}  // namespace sluice::connectors::kafka
