// Messages of one partition in columns: what a decoder reads, whoever fetched them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include <arrow/memory_pool.h>

#include "common/result.h"

namespace sluice::connectors::kafka {

enum class TimestampType : int8_t { kNone, kCreateTime, kLogAppendTime };

struct MessageHeader {
  std::string_view name;
  std::optional<std::string_view> value;
};

/// What metadata columns show of a message.
struct MessageDetails {
  int64_t timestamp_ms = -1;
  TimestampType timestamp_type = TimestampType::kNone;
  int32_t leader_epoch = -1;  // -1: unknown.
  uint32_t first_header = 0;
  uint32_t header_count = 0;
};

/// Which columns are filled; values and offsets always are.
struct MessageParts {
  bool keys = false;
  bool details = false;
};

/// One entry a message in each column that was asked for. Bytes belong to the chunks that filled
/// it and to `kept`. A null key or value has data() == nullptr.
struct Messages {
  std::vector<std::string_view> values;
  std::vector<std::string_view> keys;
  std::vector<int64_t> offsets;
  std::vector<MessageDetails> details;
  std::vector<MessageHeader> headers;
  std::vector<std::shared_ptr<const void>> kept;  // What was unpacked.
  int64_t byte_size = 0;                          // Keys and values.

  size_t count() const { return offsets.size(); }
  /// Keeps the room.
  void Clear() {
    values.clear();
    keys.clear();
    offsets.clear();
    details.clear();
    headers.clear();
    kept.clear();
    byte_size = 0;
  }
};

/// A stretch of one partition as it was fetched; owns its bytes.
class MessageChunk {
 public:
  virtual ~MessageChunk() = default;
  /// Bounds that are known before anything is unpacked.
  virtual int64_t row_count() const = 0;
  virtual int64_t byte_size() const = 0;
  /// Those of them that no memory budget has counted yet.
  virtual int64_t uncounted_bytes() const { return byte_size(); }
  /// Appends its messages to `out`, which may not outlive the chunk. On any thread, once. Fails
  /// with kDataError when the bytes are damaged.
  virtual Status AppendTo(const MessageParts& parts, arrow::MemoryPool* pool, Messages* out) = 0;
};

}  // namespace sluice::connectors::kafka
