// What a broker may answer, whole answers and record batches alone: whatever comes is read or
// refused, and what was read lies inside the bytes that came.
#include <cstdint>
#include <string>
#include <string_view>

#include "common/check.h"
#include "connectors/kafka/fetch/aborted_transactions.h"

namespace {

using namespace sluice;                            // NOLINT: one small file.
using namespace sluice::connectors::kafka;         // NOLINT
using namespace sluice::connectors::kafka::fetch;  // NOLINT

size_t g_touched = 0;  // Reads every byte that was handed out, for the sanitizers.
void Touch(std::string_view bytes) {
  for (const char byte : bytes) g_touched += static_cast<unsigned char>(byte);
}

void ReadAll(const std::vector<RawBatch>& batches) {
  for (const RawBatch& batch : batches) {
    Messages messages;
    // Checksums would keep most inputs from the reader behind them.
    const Status status =
        ReadRecords(batch, {.from = batch.base_offset + 1}, {.keys = true, .details = true}, false,
                    arrow::default_memory_pool(), &messages);
    if (!status.ok()) continue;
    SLUICE_CHECK(messages.values.size() == messages.count(), "values");
    SLUICE_CHECK(messages.details.size() == messages.count(), "details");
    for (const std::string_view value : messages.values) Touch(value);
    for (const std::string_view key : messages.keys) Touch(key);
    for (const MessageHeader& header : messages.headers) Touch(header.name);
    for (const int64_t offset : messages.offsets)
      SLUICE_CHECK(offset > batch.base_offset && offset <= batch.last_offset, "offset");
  }
}

void ReadRecordsOf(const FetchedPartition& partition) {
  std::vector<RawBatch> batches;
  if (!SplitBatches(partition.records, &batches).ok()) return;
  ReadAll(batches);
  (void)VisibleBatches(batches, partition.aborted, true);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto version = static_cast<int16_t>(data[0] & 15);
  switch (data[0] >> 4) {
    case 0:
      ReadRecordsOf({.aborted = {{1, 0}, {7, 3}}, .records = bytes});
      break;
    case 1: {
      const auto answer = DecodeFetch(version, bytes);
      if (!answer.ok()) break;
      for (const FetchedPartition& partition : answer->partitions) ReadRecordsOf(partition);
      break;
    }
    case 2:
      (void)DecodeMetadata(version, bytes);
      break;
    case 3:
      (void)DecodeListOffsets(version, bytes);
      break;
    case 4:
      (void)DecodeApiVersions(bytes);
      (void)DecodeSaslHandshake(bytes);
      (void)DecodeSaslAuthenticate(version, bytes);
      break;
    default:
      break;
  }
  return 0;
}
