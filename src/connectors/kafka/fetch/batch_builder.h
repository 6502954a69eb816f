// For tests and the fuzz target: record batches made by hand.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <arrow/util/compression.h>

#include "common/check.h"
#include "connectors/kafka/fetch/record_batch.h"
#include "connectors/kafka/fetch/wire.h"
#include "runtime/checkpoint/crc32c.h"

namespace sluice::connectors::kafka::fetch {

struct TestRecord {
  int64_t offset_delta = 0;
  std::optional<std::string> key;
  std::optional<std::string> value;
  int64_t timestamp_delta = 0;
  std::vector<std::pair<std::string, std::optional<std::string>>> headers = {};
};

struct TestBatch {
  int64_t base_offset = 0;
  std::vector<TestRecord> records;
  Compression compression = Compression::kNone;
  int16_t flags = 0;  // Attributes beside the compression.
  int64_t producer_id = -1;
  int32_t leader_epoch = 5;
  int64_t base_timestamp_ms = 1000;
  int64_t max_timestamp_ms = 2000;
  int32_t last_offset_delta = -1;  // -1: that of the last record.
  bool java_snappy = false;
};

inline std::string PackForTest(Compression compression, bool java_snappy,
                               const std::string& plain) {
  const arrow::Compression::type types[] = {
      arrow::Compression::UNCOMPRESSED, arrow::Compression::GZIP, arrow::Compression::SNAPPY,
      arrow::Compression::LZ4_FRAME, arrow::Compression::ZSTD};
  if (compression == Compression::kNone) return plain;
  const auto codec = arrow::util::Codec::Create(types[static_cast<int>(compression)]).ValueOrDie();
  const auto* const bytes = reinterpret_cast<const uint8_t*>(plain.data());
  const auto size = static_cast<int64_t>(plain.size());
  std::string packed(static_cast<size_t>(codec->MaxCompressedLen(size, bytes)), '\0');
  const int64_t written = codec
                              ->Compress(size, bytes, static_cast<int64_t>(packed.size()),
                                         reinterpret_cast<uint8_t*>(packed.data()))
                              .ValueOrDie();
  packed.resize(static_cast<size_t>(written));
  if (!java_snappy) return packed;
  WireWriter framed;
  framed.Raw(std::string_view("\x82SNAPPY\0", 8));
  framed.I32(1);
  framed.I32(1);
  framed.LongBytes(packed);
  return std::move(framed).Take();
}

inline void AppendNullable(const std::optional<std::string>& text, WireWriter* writer) {
  writer->Varint(text ? static_cast<int64_t>(text->size()) : -1);
  if (text) writer->Raw(*text);
}

inline std::string BuildBatch(const TestBatch& batch) {
  WireWriter body;
  for (const TestRecord& record : batch.records) {
    WireWriter writer;
    writer.I8(0);
    writer.Varint(record.timestamp_delta);
    writer.Varint(record.offset_delta);
    AppendNullable(record.key, &writer);
    AppendNullable(record.value, &writer);
    writer.Varint(static_cast<int64_t>(record.headers.size()));
    for (const auto& [name, value] : record.headers) {
      AppendNullable(name, &writer);
      AppendNullable(value, &writer);
    }
    body.Varint(static_cast<int64_t>(writer.bytes().size()));
    body.Raw(writer.bytes());
  }
  int64_t last_delta = batch.last_offset_delta;
  if (last_delta < 0) last_delta = batch.records.empty() ? 0 : batch.records.back().offset_delta;
  WireWriter summed;  // What the checksum covers.
  summed.I16(static_cast<int16_t>(batch.flags | static_cast<int16_t>(batch.compression)));
  summed.I32(static_cast<int32_t>(last_delta));
  summed.I64(batch.base_timestamp_ms);
  summed.I64(batch.max_timestamp_ms);
  summed.I64(batch.producer_id);
  summed.I16(0);
  summed.I32(0);
  summed.I32(static_cast<int32_t>(batch.records.size()));
  summed.Raw(PackForTest(batch.compression, batch.java_snappy, body.bytes()));
  WireWriter whole;
  whole.I64(batch.base_offset);
  whole.I32(static_cast<int32_t>(summed.bytes().size() + 9));
  whole.I32(batch.leader_epoch);
  whole.I8(2);
  whole.I32(static_cast<int32_t>(runtime::Crc32c(summed.bytes())));
  whole.Raw(summed.bytes());
  return std::move(whole).Take();
}

constexpr int16_t kTransactionalFlag = 16;
constexpr int16_t kControlFlag = 32;

/// The batch that ends a transaction.
inline std::string BuildControlBatch(int64_t offset, int64_t producer_id, bool commit) {
  WireWriter key;
  key.I16(0);
  key.I16(commit ? 1 : 0);
  return BuildBatch({.base_offset = offset,
                     .records = {{.key = key.bytes(), .value = std::string("\0\0\0\0\0\0", 6)}},
                     .flags = kTransactionalFlag | kControlFlag,
                     .producer_id = producer_id});
}

}  // namespace sluice::connectors::kafka::fetch
