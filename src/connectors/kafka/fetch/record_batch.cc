#include "connectors/kafka/fetch/record_batch.h"

#include <algorithm>

#include "connectors/kafka/fetch/wire.h"
#include "runtime/checkpoint/crc32c.h"

namespace sluice::connectors::kafka::fetch {
namespace {

constexpr size_t kLengthEnd = 12;  // base offset and length: what the length does not count.
constexpr size_t kMagicAt = 16;    // The same place in all formats.
constexpr size_t kCrcEnd = 21;     // The checksum covers what follows it.
/// length, attributes, timestamp, offset, key, value and headers: a byte each at least.
constexpr size_t kLeastRecordBytes = 7;

Status Damaged(const RawBatch& batch, std::string_view why) {
  return Status::DataError("The record batch at offset " + std::to_string(batch.base_offset) +
                           " is damaged: " + std::string(why) + ".");
}

Result<RawBatch> ReadHeader(std::string_view bytes) {
  RawBatch batch{.bytes = bytes};
  WireReader reader(bytes);
  batch.base_offset = reader.I64();
  reader.I32();  // Length.
  batch.leader_epoch = reader.I32();
  reader.I8();  // Magic.
  batch.crc = reader.U32();
  batch.attributes = reader.I16();
  const int32_t last_delta = reader.I32();
  batch.base_timestamp_ms = reader.I64();
  batch.max_timestamp_ms = reader.I64();
  batch.producer_id = reader.I64();
  reader.I16();  // Producer epoch.
  reader.I32();  // First sequence number.
  batch.record_count = reader.I32();
  if (batch.base_offset < 0 || last_delta < 0 || batch.base_offset > INT64_MAX - 1 - last_delta)
    return Damaged(batch, "its offsets cannot be");
  if (batch.record_count < 0 || batch.record_count > last_delta + int64_t{1})
    return Damaged(batch, "its count of records cannot be");
  batch.last_offset = batch.base_offset + last_delta;
  return batch;
}

/// Reads one record, which fills `reader` exactly.
class RecordReader {
 public:
  RecordReader(const RawBatch& batch, const OffsetRange& range, const MessageParts& parts,
               Messages* out)
      : batch_(batch), range_(range), parts_(parts), out_(out) {}

  Status Read(std::string_view bytes) {
    WireReader reader(bytes);
    reader.I8();  // Attributes: unused.
    const int64_t timestamp_delta = reader.Varint();
    const int64_t offset_delta = reader.Varint();
    const std::string_view key = reader.Nullable(reader.Varint());
    const std::string_view value = reader.Nullable(reader.Varint());
    const int64_t header_count = reader.Varint();
    if (!reader.ok()) return Damaged(batch_, "a record ends early");
    if (offset_delta <= last_delta_ || offset_delta > batch_.last_offset - batch_.base_offset)
      return Damaged(batch_, "its records are out of order");
    last_delta_ = offset_delta;
    const int64_t offset = batch_.base_offset + offset_delta;
    if (offset < range_.from || offset >= range_.stop) return {};
    if (parts_.details) {
      SLUICE_RETURN_NOT_OK(ReadDetails(timestamp_delta, header_count, reader));
    } else if (header_count < 0 || static_cast<uint64_t>(header_count) > reader.left() / 2) {
      return Damaged(batch_, "a record's headers cannot be");
    }
    out_->offsets.push_back(offset);
    out_->values.push_back(value);
    if (parts_.keys) out_->keys.push_back(key);
    out_->byte_size += static_cast<int64_t>(key.size() + value.size());
    return {};
  }

 private:
  Status ReadDetails(int64_t timestamp_delta, int64_t count, WireReader& reader) {
    MessageDetails details;
    const bool append_time = batch_.log_append_time();
    details.timestamp_type =
        append_time ? TimestampType::kLogAppendTime : TimestampType::kCreateTime;
    // Wraps around as Java's numbers do: the sum is the producer's affair.
    details.timestamp_ms =
        append_time ? batch_.max_timestamp_ms
                    : static_cast<int64_t>(static_cast<uint64_t>(batch_.base_timestamp_ms) +
                                           static_cast<uint64_t>(timestamp_delta));
    if (details.timestamp_ms == -1) details.timestamp_type = TimestampType::kNone;
    details.leader_epoch = batch_.leader_epoch;
    if (count < 0 || static_cast<uint64_t>(count) > reader.left() / 2)
      return Damaged(batch_, "a record's headers cannot be");
    details.first_header = static_cast<uint32_t>(out_->headers.size());
    details.header_count = static_cast<uint32_t>(count);
    for (int64_t i = 0; i < count; ++i) {
      MessageHeader header{.name = reader.Bytes(reader.Varint())};
      const std::string_view value = reader.Nullable(reader.Varint());
      if (value.data() != nullptr) header.value = value;
      out_->headers.push_back(header);
    }
    if (!reader.ok() || reader.left() != 0) return Damaged(batch_, "a record's headers cannot be");
    out_->details.push_back(details);
    return {};
  }

  const RawBatch& batch_;
  const OffsetRange& range_;
  const MessageParts& parts_;
  Messages* const out_;
  int64_t last_delta_ = -1;
};

}  // namespace

Status SplitBatches(std::string_view records, std::vector<RawBatch>* batches) {
  while (records.size() > kMagicAt) {
    const auto magic = static_cast<int8_t>(records[kMagicAt]);
    if (magic == 0 || magic == 1) {
      return Status::Unsupported(
          "The log holds messages of format " + std::to_string(magic) +
          ", written before Kafka 0.11, which the native fetch does not read. Set "
          "'scan.fetch.implementation' = 'librdkafka'.");
    }
    if (magic != 2) {
      return Status::DataError("The log holds a record batch of the unknown format " +
                               std::to_string(magic) + ".");
    }
    WireReader reader(records);
    reader.I64();
    const int32_t length = reader.I32();
    if (length < static_cast<int32_t>(kBatchHeaderBytes - kLengthEnd))
      return Status::DataError("A record batch has the length " + std::to_string(length) + ".");
    const size_t size = kLengthEnd + static_cast<size_t>(length);
    if (size > records.size()) break;
    SLUICE_ASSIGN_OR_RETURN(RawBatch batch, ReadHeader(records.substr(0, size)));
    batches->push_back(batch);
    records.remove_prefix(size);
  }
  return {};
}

Status ReadRecords(const RawBatch& batch, const OffsetRange& range, const MessageParts& parts,
                   bool check_crc, arrow::MemoryPool* pool, Messages* out) {
  if (check_crc && runtime::Crc32c(batch.bytes.substr(kCrcEnd)) != batch.crc)
    return Damaged(batch, "its checksum does not fit");
  std::string_view body = batch.bytes.substr(kBatchHeaderBytes);
  if (batch.compression() != Compression::kNone) {
    SLUICE_ASSIGN_OR_RETURN(const std::shared_ptr<arrow::Buffer> unpacked,
                            Unpack(batch.compression(), body, pool));
    body = std::string_view(*unpacked);
    out->kept.push_back(unpacked);
  }
  const auto count = static_cast<size_t>(batch.record_count);
  if (count > body.size() / kLeastRecordBytes)
    return Damaged(batch, "its count of records cannot be");
  WireReader reader(body);
  RecordReader record(batch, range, parts, out);
  for (size_t i = 0; i < count; ++i) {
    const std::string_view bytes = reader.Bytes(reader.Varint());
    if (!reader.ok()) return Damaged(batch, "it ends early");
    SLUICE_RETURN_NOT_OK(record.Read(bytes));
  }
  if (reader.left() != 0) return Damaged(batch, "it holds more than its records");
  return {};
}

Result<ControlKind> ReadControl(const RawBatch& batch) {
  Messages messages;
  SLUICE_RETURN_NOT_OK(
      ReadRecords(batch, {}, {.keys = true}, true, arrow::default_memory_pool(), &messages));
  if (messages.keys.empty()) return ControlKind::kOther;  // Its record was compacted away.
  WireReader key(messages.keys.front());
  key.I16();  // Version: later ones only add to it.
  const int16_t type = key.I16();
  if (!key.ok()) return Damaged(batch, "its control record is cut");
  return type == 0 ? ControlKind::kAbort : type == 1 ? ControlKind::kCommit : ControlKind::kOther;
}

}  // namespace sluice::connectors::kafka::fetch
