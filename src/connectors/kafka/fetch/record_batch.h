// Record batches of format 2 (KIP-98, "Message Format"): what the log of a partition consists of
// since Kafka 0.11.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "connectors/kafka/fetch/messages.h"
#include "connectors/kafka/fetch/unpack.h"

namespace sluice::connectors::kafka::fetch {

constexpr size_t kBatchHeaderBytes = 61;

/// A whole batch in bytes that somebody else owns; nothing behind the header is checked yet.
struct RawBatch {
  std::string_view bytes;
  int64_t base_offset = 0;
  int64_t last_offset = 0;
  int64_t base_timestamp_ms = 0;
  int64_t max_timestamp_ms = 0;
  int64_t producer_id = -1;
  uint32_t crc = 0;
  int32_t leader_epoch = -1;
  int32_t record_count = 0;
  int16_t attributes = 0;

  Compression compression() const { return static_cast<Compression>(attributes & 7); }
  bool log_append_time() const { return (attributes & 8) != 0; }
  bool transactional() const { return (attributes & 16) != 0; }
  bool control() const { return (attributes & 32) != 0; }
};

/// Cuts the `records` of a fetch answer into batches. A last one that does not fit whole is left
/// out: brokers cut answers at a number of bytes. Fails with kDataError for a header that cannot
/// be, with kUnsupported for the message sets of formats 0 and 1.
Status SplitBatches(std::string_view records, std::vector<RawBatch>* batches);

/// Which records of a batch are wanted: offsets [from, stop).
struct OffsetRange {
  int64_t from = 0;
  int64_t stop = INT64_MAX;
};

/// Appends the records of `batch` that lie in `range` to `out`; what had to be unpacked is kept by
/// `out`, the rest stays in the batch's bytes. The checksum is compared when `check_crc`. Fails
/// with kDataError; `out` may then hold a part.
Status ReadRecords(const RawBatch& batch, const OffsetRange& range, const MessageParts& parts,
                   bool check_crc, arrow::MemoryPool* pool, Messages* out);

enum class ControlKind { kAbort, kCommit, kOther };

/// What the one record of a control batch says.
Result<ControlKind> ReadControl(const RawBatch& batch);

}  // namespace sluice::connectors::kafka::fetch
